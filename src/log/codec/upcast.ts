import type { EventType } from '../../domain/events.ts'

/** Converts the data of an event to the next schema version. */
export type Upcast = (data: unknown) => unknown

/**
 * Holds a conversion for each event type and each old version. Stored data is never rewritten, so an old event is
 * converted at each read.
 */
export const upcasts: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcast } } = {
  CellarPolicyChanged: {
    // Version 1 was written before retention existed: `null` means that readings are never purged.
    1: (data) => (hasPolicy(data) ? { policy: { ...data.policy, retentionMs: null } } : data),
  },
  KeyCreated: {
    // Version 1 was written before keys could be rotated: `null` means that the key replaced no other key.
    1: (data) => (isObject(data) ? { ...data, predecessorId: null } : data),
  },
  OperatorAdded: {
    // Version 1 did not store the link that the operator used, so both fields are `null`.
    1: (data) => (isObject(data) ? { ...data, linkHash: null, linkMadeBy: null } : data),
  },
  OperatorLinkIssued: {
    1: (data) => (isObject(data) ? { ...data, purpose: null } : data),
  },
  OperatorPasswordSet: {
    // In version 1 every password was set with a link. If `linkMadeBy` is `null`, the fold (`evolveOperator`) takes the
    // link's maker from the event `OperatorLinkIssued`.
    1: (data) => (isObject(data) ? { ...data, linkMadeBy: null } : data),
  },
  OperatorSignedIn: {
    // In version 1 an unused session did not end early, so `idleAt` becomes the time of expiry.
    1: (data) =>
      isObject(data) && 'expiresAt' in data
        ? { ...data, idleAt: data.expiresAt, deviceHash: null, seenRevision: null }
        : data,
  },
}

/** The newest version of the stored `Idempotency-Key` data. Data without a version number has version 1. */
export const idempotencyVersion = 2

export const idempotencyUpcasts: { readonly [fromVersion: number]: Upcast } = {
  // Version 1 stored the refusals of a batch's items in `rejected`. Version 2 stores them in `refusals`.
  1: (form) => {
    if (!hasVerdicts(form)) return form
    const { rejected: items, ...batch } = form.batch
    const refusals = items.length === 0 ? null : { kind: 'verdicts', items }
    return { ...form, batch: { ...batch, refusals } }
  },
}

const isObject = (data: unknown): data is object => typeof data === 'object' && data !== null

const hasVerdicts = (form: unknown): form is { readonly batch: { readonly rejected: readonly unknown[] } } =>
  typeof form === 'object' &&
  form !== null &&
  'batch' in form &&
  typeof form.batch === 'object' &&
  form.batch !== null &&
  'rejected' in form.batch &&
  Array.isArray(form.batch.rejected)

/** False for data without a policy, which the schema check refuses later. */
const hasPolicy = (data: unknown): data is { readonly policy: object } =>
  typeof data === 'object' &&
  data !== null &&
  'policy' in data &&
  typeof data.policy === 'object' &&
  data.policy !== null

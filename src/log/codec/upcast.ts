import type { EventType } from '../../domain/events.ts'

/** Converts data to the next schema version. */
export type Upcast = (data: unknown) => unknown

/** Upcasts by event type and by the version that they start from. Stored data is never rewritten. */
export const upcasts: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcast } } = {
  CellarPolicyChanged: {
    // Version 1 is from before retention existed.
    1: (data) => (hasPolicy(data) ? { policy: { ...data.policy, retentionMs: null } } : data),
  },
  KeyCreated: {
    // Version 1 is from before key rotations existed.
    1: (data) => (isObject(data) ? { ...data, predecessorId: null } : data),
  },
  OperatorAdded: {
    // Version 1 did not name the link that the operator used.
    1: (data) => (isObject(data) ? { ...data, linkHash: null, linkMadeBy: null } : data),
  },
  OperatorLinkIssued: {
    1: (data) => (isObject(data) ? { ...data, purpose: null } : data),
  },
  OperatorPasswordSet: {
    // In version 1 every password came from a link, whose own event names its maker.
    1: (data) => (isObject(data) ? { ...data, linkMadeBy: null } : data),
  },
  OperatorSignedIn: {
    // In version 1 a session did not expire earlier if it was unused.
    1: (data) =>
      isObject(data) && 'expiresAt' in data
        ? { ...data, idleAt: data.expiresAt, deviceHash: null, seenRevision: null }
        : data,
  },
}

/** The newest version of stored idempotency data. Data without a version has version 1. */
export const idempotencyVersion = 2

export const idempotencyUpcasts: { readonly [fromVersion: number]: Upcast } = {
  // Version 1 stored a verdict for each refused item of a batch, in `rejected`.
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

/** The schema check refuses data without a policy. */
const hasPolicy = (data: unknown): data is { readonly policy: object } =>
  typeof data === 'object' &&
  data !== null &&
  'policy' in data &&
  typeof data.policy === 'object' &&
  data.policy !== null

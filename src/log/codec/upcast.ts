import type { EventType } from '../../domain/events.ts'

/** Makes data of the next schema version out of data of one. */
export type Upcast = (data: unknown) => unknown

/**
 * For every event type, by the version it begins at. A chain of them leads each stored version to the newest, whenever the
 * event is read; what is stored stays as it was written.
 */
export const upcasts: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcast } } = {
  CellarPolicyChanged: {
    // Before there was retention, everything was kept.
    1: (data) => (hasPolicy(data) ? { policy: { ...data.policy, retentionMs: null } } : data),
  },
  KeyCreated: {
    // Before there were rotations, no key followed another.
    1: (data) => (isObject(data) ? { ...data, predecessorId: null } : data),
  },
  OperatorAdded: {
    // Before the links of a removed operator were told apart from first invitations.
    1: (data) => (isObject(data) ? { ...data, linkHash: null, linkMadeBy: null } : data),
  },
  OperatorLinkIssued: {
    1: (data) => (isObject(data) ? { ...data, purpose: null } : data),
  },
  OperatorPasswordSet: {
    // Before operators could change it themselves, every password came from a link. Who made it is in the link's own event.
    1: (data) => (isObject(data) ? { ...data, linkMadeBy: null } : data),
  },
  OperatorSignedIn: {
    // Before sessions ended unused, browsers were known and addresses kept.
    1: (data) =>
      isObject(data) && 'expiresAt' in data
        ? { ...data, idleAt: data.expiresAt, deviceHash: null, seenRevision: null }
        : data,
  },
}

/** The newest version of the stored form of `metadata.idempotency`. Forms without a version are of version 1. */
export const idempotencyVersion = 2

/** For that form, by the version it begins at. */
export const idempotencyUpcasts: { readonly [fromVersion: number]: Upcast } = {
  // The first version stored a verdict for each refused item, in `rejected`.
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

/** What has none fails at the schema, which says so. */
const hasPolicy = (data: unknown): data is { readonly policy: object } =>
  typeof data === 'object' &&
  data !== null &&
  'policy' in data &&
  typeof data.policy === 'object' &&
  data.policy !== null

import type { EventType } from '../../domain/events.ts'

/** To the next schema version. */
export type Upcast = (data: unknown) => unknown

/** By event type and by the version that each upcast begins at. Stored data is never rewritten. */
export const upcasts: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcast } } = {
  CellarPolicyChanged: {
    // Before retention existed.
    1: (data) => (hasPolicy(data) ? { policy: { ...data.policy, retentionMs: null } } : data),
  },
  KeyCreated: {
    // Before rotations existed.
    1: (data) => (isObject(data) ? { ...data, predecessorId: null } : data),
  },
  OperatorAdded: {
    // Before links of removed operators were distinguished.
    1: (data) => (isObject(data) ? { ...data, linkHash: null, linkMadeBy: null } : data),
  },
  OperatorLinkIssued: {
    1: (data) => (isObject(data) ? { ...data, purpose: null } : data),
  },
  OperatorPasswordSet: {
    // Before operators could change their passwords. The link's event names its maker.
    1: (data) => (isObject(data) ? { ...data, linkMadeBy: null } : data),
  },
  OperatorSignedIn: {
    // Before sessions could expire unused.
    1: (data) =>
      isObject(data) && 'expiresAt' in data
        ? { ...data, idleAt: data.expiresAt, deviceHash: null, seenRevision: null }
        : data,
  },
}

/** Forms without a version have version 1. */
export const idempotencyVersion = 2

export const idempotencyUpcasts: { readonly [fromVersion: number]: Upcast } = {
  // Version 1 stored a verdict for each refused item, in `rejected`.
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

/** Data without a policy fails at the schema. */
const hasPolicy = (data: unknown): data is { readonly policy: object } =>
  typeof data === 'object' &&
  data !== null &&
  'policy' in data &&
  typeof data.policy === 'object' &&
  data.policy !== null

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
    1: (data) => (typeof data === 'object' && data !== null ? { ...data, predecessorId: null } : data),
  },
}

/** What has none fails at the schema, which says so. */
const hasPolicy = (data: unknown): data is { readonly policy: object } =>
  typeof data === 'object' &&
  data !== null &&
  'policy' in data &&
  typeof data.policy === 'object' &&
  data.policy !== null

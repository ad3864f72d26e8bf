import type { EventType } from '../domain/events.ts'

/** Makes data of the next schema version out of data of one. */
export type Upcast = (data: unknown) => unknown

/**
 * For every event type, by the version it begins at. A chain of them leads each stored version to the newest, whenever the
 * event is read; what is stored stays as it was written. Empty as long as every type is at its first version.
 */
export const upcasts: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcast } } = {}

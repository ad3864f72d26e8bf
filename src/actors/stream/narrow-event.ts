import type { EventType, RecordedEvent } from '../../domain/events.ts'

export const narrowTo = <T extends EventType>(...types: readonly T[]) => {
  const known: ReadonlySet<string> = new Set(types)
  const isKnown = (event: RecordedEvent): event is Extract<RecordedEvent, { readonly type: T }> => known.has(event.type)
  return (event: RecordedEvent): Extract<RecordedEvent, { readonly type: T }> => {
    if (isKnown(event)) return event
    throw new Error(`Cannot fold ${event.type} at revision ${event.revision} of "${event.stream}": not of its category`)
  }
}

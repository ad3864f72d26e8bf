import type { StreamKind } from '../../domain/events/declare-event.ts'
import { isIn, type RecordedEvent, type TypesIn } from '../../domain/events.ts'

export const narrowTo = <S extends StreamKind>(kind: S, event: RecordedEvent): RecordedEvent<TypesIn<S>> => {
  if (isIn(kind, event)) return event
  throw new Error(`Cannot fold ${event.type} at revision ${event.revision} of "${event.stream}": not of its category`)
}

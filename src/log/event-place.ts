import type { RecordedEvent } from '../domain/events.ts'
import { actorText, keyOfEvent, kindOf, periodOf } from '../domain/search/event-filter.ts'
import { categoryOf } from '../domain/stream-names.ts'
import type { EventPlace } from './ask-index.ts'

/** What events do not say themselves. */
export type CellarNames = {
  /** A key never changes its cellar. `null` for an unknown key. */
  ofKey(keyId: string): string | null
  /** Takes the name of a cellar's stream. `null` for an unknown cellar. */
  ofStream(stream: string): string | null
}

/** Only for events that are no readings. `cellars` must know all events up to this one. */
export const placeOf = (event: RecordedEvent, cellars: CellarNames): EventPlace => {
  const { position, stream, revision, recordedAt, type, metadata } = event
  const key = keyOfEvent(event)
  const cellar = cellarOf(event, key, cellars)
  const actor = actorText(metadata.by)
  const kind = kindOf(event)
  return { position, stream, revision, recordedAt, ...periodOf(event), kind, type, actor, key, cellar }
}

const cellarOf = (event: RecordedEvent, key: string | null, cellars: CellarNames): string | null => {
  if (event.type === 'ReadingAccepted') return event.data.cellar
  if (event.type === 'KeyCreated' || event.type === 'CellarCreated' || event.type === 'ReadingsPurged') {
    return event.data.cellar
  }
  if (event.type === 'AttentionChanged' || event.type === 'AttentionRested') return event.data.cellar
  if (categoryOf(event.stream) === 'cellar') return cellars.ofStream(event.stream)
  return key === null ? null : cellars.ofKey(key)
}

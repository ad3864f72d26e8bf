import type { RecordedEvent } from '../../domain/events.ts'
import { readPageEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

export type PlaceInLog = Pick<RecordedEvent, 'position' | 'stream' | 'revision'>

/** In the order of `places`, without purged events. Neighbours in a stream are read together. */
export const eventsAt = async (
  log: Pick<EventLog, 'read'>,
  places: readonly PlaceInLog[],
): Promise<readonly RecordedEvent[]> => {
  const pages = await Promise.all(rangesOf(places).map((range) => readRange(log, range)))
  const byPosition = new Map(pages.flat().map((event) => [event.position, event]))
  return places.flatMap(({ position }) => byPosition.get(position) ?? [])
}

type Range = { readonly stream: string; readonly first: number; last: number }

const rangesOf = (places: readonly PlaceInLog[]): readonly Range[] => {
  const ranges: Range[] = []
  const open = new Map<string, Range>()
  for (const { stream, revision } of places.toSorted((a, b) => a.revision - b.revision)) {
    const range = open.get(stream)
    if (range !== undefined && revision <= range.last + 1 && revision - range.first < readPageEventsMax) {
      range.last = revision
      continue
    }
    const next = { stream, first: revision, last: revision }
    open.set(stream, next)
    ranges.push(next)
  }
  return ranges
}

const readRange = (log: Pick<EventLog, 'read'>, { stream, first, last }: Range): Promise<readonly RecordedEvent[]> =>
  log.read(stream, { from: first, limit: last - first + 1 })

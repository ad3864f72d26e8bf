import type { RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream, keyIdOf } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { FoldedPlace, HourCount } from '../../../src/log/ask-index.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import type { AskContents } from './memory-ask-index.ts'

/** Reads all that the log shows. */
export const allEvents = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  while (true) {
    const from = events.at(-1)?.position
    const page = await log.readAll({ limit: readPageEventsMax, ...(from === undefined ? {} : { from }) })
    events.push(...page)
    if (page.length < readPageEventsMax) return events
  }
}

/**
 * Computes what `ask.db` must say, in the simplest way: with one pass for each part. The events must be younger than a day, so
 * that no count is too old.
 */
export const askFromLog = (events: readonly RecordedEvent[]): AskContents => {
  const purges = events.filter(({ type }) => type === 'ReadingsPurged' || type === 'RecordsPurged')
  const kept = events.filter((event) => !isPurged(event, purges))
  const names = namesOf(events)
  const counts = kept.flatMap((event) => countsOf(event, names))
  const ofCellars = counts.filter((count) => !isForgotten(count, purges, 'cellar'))
  const ofKeys = counts.filter((count) => !isForgotten(count, purges, 'keyId'))
  return {
    places: inOrder(kept.filter(({ type }) => type !== 'ReadingAccepted').map((event) => placeOf(event, names))),
    minutes: inOrder(minutesOf(events)),
    minuteCounts: inOrder(
      sums(
        ofCellars.flatMap(({ cellar, atMs, code, count }) => {
          const minute = Math.floor(atMs / 60_000)
          return [null, ...(cellar === null ? [] : [cellar])].map((one) => ({ cellar: one, minute, code, count }))
        }),
      ),
    ),
    hourCounts: inOrder(
      sums(
        ofKeys.flatMap(({ cellar, key, atMs, code, count }) =>
          key === null || cellar === null ? [] : [{ cellar, key, hour: Math.floor(atMs / 3_600_000), code, count }],
        ),
      ).map((hour) => ({ ...hour, busiest: busiestOf(hour, ofKeys) })),
    ),
    seen: inOrder(seenOf(kept, purges)),
  }
}

type Names = { readonly ofKey: ReadonlyMap<string, string>; readonly ofStream: ReadonlyMap<string, string> }

type Count = {
  readonly key: string | null
  readonly cellar: string | null
  readonly atMs: number
  readonly code: string
  readonly count: number
}

const namesOf = (events: readonly RecordedEvent[]): Names => ({
  ofKey: new Map(
    events.flatMap(({ type, data }) => (type === 'KeyCreated' ? [[data.keyId, data.cellar] as const] : [])),
  ),
  ofStream: new Map(
    events.flatMap(({ type, data }) =>
      type === 'CellarCreated' ? [[cellarStream(data.cellar), data.cellar] as const] : [],
    ),
  ),
})

const isPurged = ({ stream, revision }: RecordedEvent, purges: readonly RecordedEvent[]): boolean =>
  purges.some(
    (event) =>
      (event.type === 'ReadingsPurged' &&
        stream === `readings-${event.data.keyId}` &&
        revision <= event.data.lastRevision) ||
      (event.type === 'RecordsPurged' && stream === event.stream && revision <= event.data.lastRevision),
  )

const keyOf = ({ type, stream, data }: RecordedEvent): string | null => {
  if (type === 'ReadingsPurged') return data.keyId
  return /^(key|readings|refusals)-(?!node$)/.test(stream) ? keyIdOf(stream) : null
}

const placeOf = (event: RecordedEvent, names: Names): FoldedPlace => {
  const { position, stream, revision, recordedAt, type, id, metadata } = event
  const key = keyOf(event)
  const cellar = names.ofStream.get(stream) ?? (key === null ? null : (names.ofKey.get(key) ?? null))
  const { by, requestId } = metadata
  const actor = by.kind === 'operator' ? by.email : by.kind === 'key' ? `clr_${by.keyId}` : by.kind
  const isBarrier = type === 'ReadingsSealed' || type === 'ReadingsFenced'
  const category = stream.slice(0, stream.indexOf('-'))
  const kind = isBarrier ? 'keys' : (kinds[category] ?? 'log')
  const isSummary = event.type === 'ReadingsRefused' || event.type === 'SignInsRefused'
  const period = isSummary ? { firstAt: event.data.from, lastAt: event.data.to } : {}
  return { position, stream, revision, recordedAt, ...period, kind, type, actor, key, cellar, id, requestId }
}

const kinds: Readonly<Record<string, FoldedPlace['kind']>> = {
  readings: 'readings',
  refusals: 'refusals',
  key: 'keys',
  cellar: 'cellars',
  operator: 'operators',
  signins: 'operators',
}

const countsOf = (event: RecordedEvent, names: Names): readonly Count[] => {
  const key = keyOf(event)
  const cellar = key === null ? null : (names.ofKey.get(key) ?? null)
  if (event.type === 'ReadingAccepted') return [{ key, cellar, atMs: event.recordedAt, code: 'accepted', count: 1 }]
  if (event.type !== 'ReadingsRefused') return []
  return event.data.counts.map(({ code, count }) => ({ key, cellar, atMs: event.data.to, code, count }))
}

/** A purge also deletes the counts of the last reading, which stays in the log, and the counts of the whole cellar. */
const isForgotten = ({ key, cellar, atMs, code }: Count, purges: readonly RecordedEvent[], by: 'cellar' | 'keyId') =>
  purges.some((event) => {
    if (event.type === 'ReadingsPurged')
      return (
        code === 'accepted' && event.data[by] === (by === 'cellar' ? cellar : key) && atMs < event.data.acceptedBefore
      )
    if (event.type !== 'RecordsPurged') return false
    return code !== 'accepted' && key !== null && keyOf(event) === key && atMs < event.data.recordedBefore
  })

/** One minute after the other. */
const busiestOf = (of: Omit<HourCount, 'busiest'>, counted: readonly Count[]): number => {
  let busiest = 0
  for (let minute = 60 * of.hour; minute < 60 * (of.hour + 1); minute += 1) {
    const inMinute = counted.filter(
      ({ key, code, atMs }) => key === of.key && code === 'accepted' && Math.floor(atMs / 60_000) === minute,
    )
    if (of.code === 'accepted') busiest = Math.max(busiest, inMinute.length)
  }
  return busiest
}

const minutesOf = (events: readonly RecordedEvent[]): AskContents['minutes'] => {
  let last = -1
  return events.flatMap(({ recordedAt, position }) => {
    const minute = Math.floor(recordedAt / 60_000)
    if (minute <= last) return []
    last = minute
    return [{ minute, position }]
  })
}

const seenOf = (kept: readonly RecordedEvent[], purges: readonly RecordedEvent[]): AskContents['seen'] => {
  const seen = new Map<string, AskContents['seen'][number]>()
  for (const event of kept) {
    if (event.type !== 'ReadingAccepted') continue
    const key = keyIdOf(event.stream)
    const isOld = purges.some(
      (purge) =>
        purge.type === 'ReadingsPurged' && purge.data.keyId === key && event.recordedAt < purge.data.acceptedBefore,
    )
    const { rack } = event.data
    if (!isOld) seen.set(JSON.stringify([key, rack]), { key, rack, minute: Math.floor(event.recordedAt / 60_000) })
  }
  return [...seen.values()]
}

const sums = <T extends { readonly count: number }>(counts: readonly T[]): readonly T[] => {
  const added = new Map<string, T>()
  for (const one of counts) {
    const name = JSON.stringify({ ...one, count: 0 })
    added.set(name, { ...one, count: one.count + (added.get(name)?.count ?? 0) })
  }
  return [...added.values()]
}

const inOrder = <T>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

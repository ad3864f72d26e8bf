import { describe, expect, test } from 'bun:test'
import type { EventKind } from '../../../src/domain/events/declare-event.ts'
import type { EventType } from '../../../src/domain/events.ts'
import { anyEvent, kindOf, type LogFilter } from '../../../src/domain/search/event-filter.ts'
import { askFoundAtOnceMax, refusalSummaryMsMax } from '../../../src/limits.ts'
import { type AskStatements, prepareAskStatements } from '../../../src/log/ask-index/queries/ask-statements.ts'
import { searchPlaces } from '../../../src/log/ask-index/queries/place-search.ts'
import type { EventPlace, FoldedPlace, FoundPlaces, PlacePage } from '../../../src/log/ask-index.ts'
import { AskTables } from '../../support/logs/ask-tables.ts'
import { startMs } from '../../support/logs/sample-events.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

type Direction = PlacePage['direction']

const directions: readonly Direction[] = ['forwards', 'backwards']
const placesInAll = 3_000

/** Types with the streams that they are in. Some types are in streams of several kinds, and some are rare. */
const typesAndStreams: readonly (readonly [type: EventType, category: string])[] = [
  ['KeyCreated', 'key'],
  ['KeyRelabelled', 'key'],
  ['KeyRelabelled', 'key'],
  ['KeyRelabelled', 'key'],
  ['KeyRevoked', 'key'],
  ['ReadingsFenced', 'readings'],
  ['CellarRenamed', 'cellar'],
  ['ReadingsPurged', 'cellar'],
  ['OperatorSignedIn', 'operator'],
  ['SignInSeen', 'signins'],
  ['RecordsPurged', 'signins'],
  ['RecordsPurged', 'refusals'],
  ['RecordsPurged', 'exports'],
  ['RevisionVacant', 'readings'],
  ['ReadingsRefused', 'refusals'],
  ['SignInsRefused', 'signins'],
]

/** Times are a few seconds out of order. Positions have gaps, as readings leave them. */
const randomPlaces = (next: () => number): readonly FoldedPlace[] => {
  const revisions = new Map<string, number>()
  let position = 3
  return Array.from({ length: placesInAll }, (_, index): FoldedPlace => {
    position += 1 + (next() % 3 === 0 ? next() % 40 : 0)
    const [type, category] = typesAndStreams[next() % typesAndStreams.length] ?? ['KeyCreated', 'key']
    const number = next() % 12
    const stream = `${category}-${number}`
    const revision = (revisions.get(stream) ?? -1) + 1 + (next() % 3)
    revisions.set(stream, revision)
    const recordedAt = startMs + index * 1_000 - (next() % 9_000)
    const lastAt = recordedAt - (next() % 10_000)
    const firstAt = lastAt - (next() % (refusalSummaryMsMax - 10_000))
    const isOfKey = ['key', 'readings', 'refusals'].includes(category)
    return {
      position,
      stream,
      revision,
      recordedAt,
      ...(type === 'ReadingsRefused' || type === 'SignInsRefused' ? { firstAt, lastAt } : {}),
      kind: kindOf({ stream, type }),
      type,
      actor: `actor-${Math.min(next() % 9, next() % 9)}`,
      key: isOfKey ? `key-id-${number}` : null,
      cellar: isOfKey || category === 'cellar' ? `cellar-${number % 4}` : null,
      id: `event ${index}`,
      requestId: `request ${Math.floor(index / 3)}`,
    }
  })
}

const tablesOf = (places: readonly FoldedPlace[]): AskTables => {
  const tables = new AskTables()
  let minuteOfLast = -1
  for (const place of places) {
    tables.addPlace(place)
    const minute = Math.floor(place.recordedAt / 60_000)
    if (minute > minuteOfLast) tables.addMinute({ minute, position: place.position })
    minuteOfLast = Math.max(minute, minuteOfLast)
  }
  return tables
}

const naive = (places: readonly FoldedPlace[], filter: LogFilter, direction: Direction): readonly EventPlace[] => {
  const { since, until, ...values } = filter
  const found = places.filter(
    (place) =>
      (since === null || (place.lastAt ?? place.recordedAt) >= since) &&
      (until === null || (place.firstAt ?? place.recordedAt) < until) &&
      (['stream', 'kind', 'type', 'actor', 'key', 'cellar'] as const).every(
        (name) => values[name] === null || values[name] === place[name],
      ),
  )
  const inOrder = direction === 'forwards' ? found : found.toReversed()
  return inOrder.map(({ id: _, requestId: __, ...place }) => place)
}

/** Values of one of the places, so that most filters find something, and now and then a value that no place has. */
const randomFilter = (next: () => number, places: readonly FoldedPlace[]): LogFilter => {
  const place = places[next() % places.length]
  const other = places[next() % places.length]
  if (place === undefined || other === undefined) throw new Error('There are no places')
  const maybe = <Value>(value: Value, oneIn: number): Value | null => (next() % oneIn === 0 ? value : null)
  const sinceMs = startMs + (next() % placesInAll) * 1_000
  return {
    stream: maybe(place.stream, 6),
    kind: maybe<EventKind>(next() % 5 === 0 ? other.kind : place.kind, 3),
    type: maybe(next() % 5 === 0 ? other.type : place.type, 3),
    actor: maybe(next() % 20 === 0 ? 'nobody' : place.actor, 3),
    key: maybe(place.key, 4),
    cellar: maybe(next() % 10 === 0 ? other.cellar : place.cellar, 3),
    since: maybe(sinceMs, 3),
    until: maybe(sinceMs + (next() % 900) * 1_000, 3),
  }
}

const found = (index: AskStatements, filter: LogFilter, page: PlacePage) => {
  const search = searchPlaces(index, filter, page)
  while (true) {
    const step = search.next()
    if (step.done) return step.value
  }
}

/** All pages of the filter. */
const inPages = (index: AskStatements, filter: LogFilter, direction: Direction, next: () => number) => {
  const places: EventPlace[] = []
  let from: number | null = null
  do {
    const page: FoundPlaces = found(index, filter, { direction, from, limit: 1 + (next() % 400) })
    places.push(...page.places)
    from = page.lookedTo
  } while (from !== null)
  return places
}

describe('find()', () => {
  const next = seededNumbers(20)
  const places = randomPlaces(next)
  const index = prepareAskStatements(tablesOf(places).database)

  test('finds the same places as a filter of a list, in both directions', () => {
    for (let round = 0; round < 600; round += 1) {
      const filter = randomFilter(next, places)
      const limit = 1 + (next() % 150)
      for (const direction of directions) {
        const all = naive(places, filter, direction)
        const from = next() % 3 === 0 ? next() % (placesInAll * 10) : null
        const isAfter = ({ position }: EventPlace): boolean =>
          from === null || (direction === 'forwards' ? position > from : position < from)
        const expected = all.filter(isAfter).slice(0, limit)
        const { places: got, lookedTo } = found(index, filter, { direction, from, limit })
        expect([filter, from, got]).toEqual([filter, from, expected])
        expect(lookedTo).toBe(expected.length === limit ? (expected.at(-1)?.position ?? null) : null)
      }
    }
  })

  test('reads few rows in each step, also when it begins', () => {
    const stepsOf = (filter: Partial<LogFilter>, limit: number): number => {
      const page = { direction: 'backwards', from: null, limit } as const
      const steps = searchPlaces(index, { ...anyEvent, ...filter }, page)
      let count = 1
      while (steps.next().done !== true) count += 1
      return count
    }
    // Each type that the actor has is a part of the index, and its first rows are read.
    expect(stepsOf({ actor: 'actor-0' }, 1)).toBeGreaterThan(1)
    expect(stepsOf({}, 10 * askFoundAtOnceMax)).toBeGreaterThanOrEqual(10)
  })

  test('finds each place once in pages', () => {
    for (let round = 0; round < 100; round += 1) {
      const filter = round === 0 ? anyEvent : randomFilter(next, places)
      for (const direction of directions) {
        const got = inPages(index, filter, direction, next)
        expect([filter, got]).toEqual([filter, [...naive(places, filter, direction)]])
      }
    }
  })
})

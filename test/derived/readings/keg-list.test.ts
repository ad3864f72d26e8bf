import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { kegList } from '../../../src/derived/readings/keg-list.ts'
import { kegsCountedMax, racksLike, racksOf } from '../../../src/derived/readings/rack-list.ts'
import { recentReadings } from '../../../src/derived/readings/recent-readings.ts'
import type { KegsWanted, ShownKeg } from '../../../src/derived/readings/shown-kegs.ts'
import { hasWords } from '../../../src/domain/search/keg-words.ts'
import { allKegs, answerOf, foundKegs, hasKeg } from '../../support/readings/asked-kegs.ts'
import { rounded } from '../../support/readings/expected-charts.ts'
import { byName, expectedKegs, expectedRacks } from '../../support/readings/expected-lists.ts'
import { drawnOf } from '../../support/readings/expected-readings.ts'
import { foldedReadings, historyStartMs, purgedLog, randomHistory } from '../../support/readings/readings-history.ts'
import { type Sent, sentHistory } from '../../support/readings/sent-history.ts'

const noonMs = Date.UTC(2026, 2, 1, 12)

describe('the kegs of a cellar', () => {
  const names: readonly (readonly [string, string])[] = [
    ['rack-10', 'b'],
    ['rack-2', 'Ä'],
    ['rack-2', 'keg-10'],
    ['rack-2', 'keg-9'],
  ]
  const database = foldedReadings(sentHistory(names.map(([rack, keg]) => ({ rack, keg, atMs: noonMs }))), noonMs)
  const found = (words: readonly string[], page = 1, perPage = 10) => {
    const { kegs, ...rest } = foundKegs(database, { words, page, perPage })
    return { ...rest, kegs: kegs.map(({ rack, keg }) => `${rack} ${keg}`) }
  }

  test('are sorted by rack, then by keg, with numbers by their value', () => {
    const kegs = ['rack-2 keg-9', 'rack-2 keg-10', 'rack-2 Ä', 'rack-10 b']
    expect(found([])).toEqual({ kegs, page: 1, pages: 1, found: 4, all: 4 })
  })

  test('are found by words in any case of any letter', () => {
    expect(found(['ä', '2'])).toEqual({ kegs: ['rack-2 Ä'], page: 1, pages: 1, found: 1, all: 4 })
    expect(found(['nothing'])).toEqual({ kegs: [], page: 1, pages: 1, found: 0, all: 4 })
  })

  test('have pages, and the last page stands for those after it', () => {
    expect(found([], 2, 3)).toEqual({ kegs: ['rack-10 b'], page: 2, pages: 2, found: 4, all: 4 })
    expect(found(['rack-2'], 9, 2)).toEqual({ kegs: ['rack-2 Ä'], page: 2, pages: 2, found: 3, all: 4 })
  })

  test('are none in a cellar without readings', () => {
    expect(foundKegs(database, { cellar: 'south' })).toEqual({ kegs: [], page: 1, pages: 1, found: 0, all: 0 })
    expect(recentReadings(database, 'south')).toEqual([])
    expect(hasKeg(database, { rack: 'rack-2', keg: 'b' })).toBe(false)
  })
})

test('a page far behind the first passes over the kegs before it in steps', () => {
  const names = Array.from({ length: 5_000 }, (_, number) => `${number + 10_000}`)
  const database = foldedReadings(sentHistory(names.map((keg) => ({ keg, atMs: noonMs }))), noonMs)
  const wanted = { ...allKegs, perPage: 4 }
  const stepsOf = (page: number) => [...kegList(database, { ...wanted, page })].length
  expect([stepsOf(1), stepsOf(500), stepsOf(501), stepsOf(9_999)]).toEqual([0, 0, 2, 2])
  const pageOf = (page: number, isReversed: boolean) =>
    foundKegs(database, { ...wanted, page, isReversed }).kegs.map(({ keg }) => keg)
  for (const page of [500, 501, 1_250]) {
    expect(pageOf(page, false)).toEqual(names.slice(4 * page - 4, 4 * page))
    expect(pageOf(page, true)).toEqual(names.toReversed().slice(4 * page - 4, 4 * page))
  }
})

test('a reading that is too far ahead is only among the last readings', () => {
  const [limit, ahead] = [600_000, 601_000].map((ms) => ({ atMs: noonMs + ms, acceptedMs: noonMs }))
  const has = (sent: readonly Sent[]) => hasKeg(foldedReadings(sentHistory(sent), noonMs), { rack: 'rack', keg: 'keg' })
  expect([has(limit ? [limit] : []), has(ahead ? [ahead] : [])]).toEqual([true, false])
  const further = foldedReadings(sentHistory(ahead ? [ahead] : []), noonMs)
  expect(recentReadings(further, 'north').map(({ position }) => position)).toEqual([1])
})

test('a keg says when its last request was accepted, and its usual pause', () => {
  const sent = [0, 60, 120, 300, 360].map((second) => ({ atMs: noonMs + second * 1_000 }))
  const [keg] = foundKegs(foldedReadings(sentHistory(sent), noonMs), {}).kegs
  expect([keg?.acceptedMs, keg?.pauseMs]).toEqual([noonMs + 360_000, 60_000])
})

describe('racks', () => {
  const racks = Array.from({ length: 1_200 }, (_, number) => ['rack-1', `rack-${number}`] as const).flat()
  const sent = racks.map((rack, index) => ({ rack, keg: `keg ${index % 3}`, atMs: noonMs }))
  const database = foldedReadings(sentHistory([...sent, { cellar: 'south', rack: 'Rack 7', atMs: noonMs }]), noonMs)

  test('are found by a pattern, each once, in the order of their names', () => {
    const steps = racksLike(database, { pattern: /^rack[- ]1?7$/i, limit: 9 })
    const found = ['rack-7', 'rack-17'].map((rack) => ({ cellar: 'north', rack }))
    expect([...steps].length).toBe(2)
    expect(answerOf(racksLike(database, { pattern: /^rack[- ]1?7$/i, limit: 9 }))).toEqual([
      ...found,
      { cellar: 'south', rack: 'Rack 7' },
    ])
    expect(answerOf(racksLike(database, { pattern: /7$/, limit: 2 }))).toEqual(found)
  })
})

test('racks of a page are counted up to a number of kegs', () => {
  const sent = Array.from({ length: kegsCountedMax }, (_, number) => ({ rack: 'full', keg: `${number}`, atMs: noonMs }))
  const more = [...sent.map((keg) => ({ ...keg, rack: 'more' })), { rack: 'more', atMs: noonMs }]
  const database = foldedReadings(sentHistory([...sent, ...more, { rack: 'last', atMs: noonMs }]), noonMs)
  const wanted = { cellar: 'north', words: [], nowMs: noonMs }
  const counted = (racks: readonly string[]) =>
    answerOf(racksOf(database, wanted, racks)).map(({ rack, kegs }) => [rack, kegs])
  expect(counted(['full'])).toEqual([['full', kegsCountedMax]])
  expect(counted(['more', 'last'])).toEqual([['last', 1]])
  expect(counted(['full', 'last'])).toEqual([['full', kegsCountedMax]])
  expect([...racksOf(database, wanted, ['more', 'more', 'full', 'more'])].length).toBeLessThan(8)
})

describe('each list equals a computation from all readings', () => {
  const nowMs = historyStartMs + 7.5 * 86_400_000
  const words = [[], ['2'], ['räck'], ['keg', '1'], ['nothing']]
  const history = randomHistory(31)
  const histories = [history, purgedLog(history)]

  for (const [index, items] of histories.entries()) {
    const database = foldedReadings(items, nowMs)
    const title = index === 0 ? 'in a model that grew' : 'in a model of the purged log'

    test(title, () => {
      for (const [cellar, { kept, accepted }] of Object.entries(drawnOf(history))) {
        for (const wordsOf of words) {
          const found = expectedKegs(kept, accepted, nowMs).filter((keg) => hasWords(keg, wordsOf))
          for (const rack of [undefined, 'rack-2', 'Räck ß']) {
            const expected = found.filter((keg) => rack === undefined || keg.rack === rack)
            for (const order of orders) {
              const wanted = {
                ...order,
                cellar,
                words: wordsOf,
                nowMs,
                perPage: 5,
                ...(rack !== undefined && { rack }),
              }
              const shown = allPages(database, wanted)
              expect(shown.map(listed).toSorted(byName)).toEqual(expected.toSorted(byName))
              expect(shown.map(({ rack, keg }) => [rack, keg]).length).toBe(new Set(shown.map(nameOf)).size)
              expect(ranksOf(shown.map(listed), order)).toEqual(ranksOf(ordered(expected, order), order))
            }
          }
          const racks = expectedRacks(found)
          const names = racks.map(({ rack }) => rack)
          expect(answerOf(racksOf(database, { cellar, words: wordsOf, nowMs }, names))).toEqual(racks)
        }
      }
    })
  }
})

type Order = Pick<KegsWanted, 'sort' | 'isReversed' | 'silentFirst'>
type Listed = ReturnType<typeof expectedKegs>[number]

const orders: readonly Order[] = (['name', 'age', 'value'] as const).flatMap((sort) =>
  [true, false].flatMap((isReversed) => [true, false].map((silentFirst) => ({ sort, isReversed, silentFirst }))),
)

const nameOf = ({ rack, keg }: { readonly rack: string; readonly keg: string }): string => `${rack} / ${keg}`

const listed = ({ latest, day, rack, keg, acceptedMs, pauseMs, isSilent }: ShownKeg): Listed => ({
  rack,
  keg,
  acceptedMs,
  pauseMs,
  isSilent,
  position: latest.position,
  value: latest.value,
  day: day.map((mean) => (mean === null ? null : rounded(mean))),
})

const ordered = (kegs: readonly Listed[], { sort, isReversed, silentFirst }: Order): readonly Listed[] => {
  const byRank = (a: Listed, b: Listed): number => {
    if (sort === 'name') return byName(a, b)
    return sort === 'age' ? b.acceptedMs - a.acceptedMs : a.value - b.value
  }
  return kegs.toSorted(
    (a, b) => (silentFirst ? Number(b.isSilent) - Number(a.isSilent) : 0) || (isReversed ? -1 : 1) * byRank(a, b),
  )
}

/** Kegs with the same rank may come in any order. */
const ranksOf = (kegs: readonly Listed[], { sort, silentFirst }: Order): readonly unknown[] =>
  kegs.map((keg) => {
    const rank = sort === 'name' ? nameOf(keg) : sort === 'age' ? keg.acceptedMs : keg.value
    return silentFirst ? [keg.isSilent, rank] : rank
  })

const allPages = (database: Database, wanted: Partial<KegsWanted>): readonly ShownKeg[] => {
  const first = foundKegs(database, wanted)
  const others = Array.from({ length: first.pages - 1 }, (_, page) =>
    foundKegs(database, { ...wanted, page: page + 2 }),
  )
  const shown = [first, ...others].flatMap(({ kegs }) => kegs)
  expect([first.found, first.kegs.length]).toEqual([shown.length, Math.min(shown.length, 5)])
  return shown
}

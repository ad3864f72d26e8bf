import { describe, expect, test } from 'bun:test'
import { racksLike } from '../../../src/derived/readings/rack-list.ts'
import { recentReadings } from '../../../src/derived/readings/recent-readings.ts'
import { answerOf, foundKegs, hasKeg } from '../../support/readings/asked-kegs.ts'
import { foldedReadings } from '../../support/readings/readings-history.ts'
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

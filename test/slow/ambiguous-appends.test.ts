import { expect, test } from 'bun:test'
import type { Load } from '../support/load.ts'
import { startLogServer } from '../support/log-server/server.ts'
import type { AppendFault } from '../support/log-server/server-faults.ts'
import type { LogState } from '../support/log-server/state.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { expectKept, startLoadedService } from './loaded-service.ts'

const ambiguousAppends = 500
const keys = 16

test('500 appends with lost answers store each reading once, and each 200 is stored', async () => {
  const server = await startLogServer()
  const service = await startLoadedService(server.url, keys)
  const { bytes } = seededEntropy(500)
  const chance = (): number => (bytes(1)[0] ?? 0) / 256
  const met = { written: 0, notWritten: 0 }
  const done = Promise.withResolvers<void>()
  server.faults.ofAppend = ({ stream }) => {
    if (!stream.startsWith('readings-') || chance() > 0.3) return null
    if (met.written + met.notWritten === ambiguousAppends) {
      done.resolve()
      return null
    }
    const isWritten = chance() < 0.5
    met[isWritten ? 'written' : 'notWritten'] += 1
    return { isWritten, ends: endOf(chance()) }
  }
  await done.promise
  await service.untilMoreAcknowledged(20)
  await service.stop()
  await server.stop()

  expectKept(server.state, service.loads)
  expectLossesSeen(server.state, service.loads)
  expect(met.written + met.notWritten).toBe(ambiguousAppends)
  expect(Math.min(met.written, met.notWritten)).toBeGreaterThan(ambiguousAppends / 3)
  const codes = new Set(service.loads.flatMap((load) => load.refused).map(({ code }) => code))
  expect([...codes].filter((code) => code !== 'STORE_UNAVAILABLE')).toEqual([])
}, 600_000)

/** Proves that `expectKept` can fail: it gets logs in which a reading is missing, moved or stored twice. */
const expectLossesSeen = ({ all }: LogState, loads: readonly Load[]): void => {
  const receipt = loads[0]?.acknowledged[0]?.receipt
  const answered = all.find(({ stream, revision }) => `${stream}@${revision}` === receipt)
  if (answered === undefined) throw new Error(`nothing lies at ${receipt}`)
  const others = all.filter((event) => event !== answered)
  const elsewhere = { ...answered, revision: answered.revision + all.length }
  for (const spoilt of [others, [...others, elsewhere], [...all, elsewhere]]) {
    expect(() => expectKept({ all: spoilt }, loads)).toThrow()
  }
}

/**
 * Most faults hit one append only. `cut` and `clean_end` are rarer, because they leave the outcome of all open appends
 * unknown.
 */
const endOf = (chance: number): AppendFault['ends'] => {
  if (chance < 0.55) return 'timeout'
  if (chance < 0.75) return 'silence'
  return chance < 0.88 ? 'cut' : 'clean_end'
}

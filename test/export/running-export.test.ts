import { afterEach, expect, test } from 'bun:test'
import type { Core } from '../../src/actors/core-interface.ts'
import type { Patience } from '../../src/actors/search/patient-reads.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { wholeLog } from '../../src/domain/search/event-filter.ts'
import { exportsStream } from '../../src/domain/stream-names.ts'
import { exportEndMsMax, RunningExport } from '../../src/export/running-export.ts'
import { exportRetryPauseMs } from '../../src/limits.ts'
import { Outage } from '../../src/log/event-log.ts'
import { passingLog, slowLog } from '../support/logs/passing-log.ts'
import { type Service, startService, testAsker } from '../support/test-service.ts'

const services: Service[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop()
})

type Begun = {
  readonly changed: (core: Core) => Partial<Core>
  readonly pause: (running: RunningExport) => Promise<unknown>
}

/** Begins an export of all events. Time passes only in pauses. */
const begin = async ({ changed, pause }: Begun) => {
  const service = await startService()
  services.push(service)
  let nowMs = 0
  const patience: Omit<Patience, 'isWanted'> = {
    passedMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms
      if (begun.ok) await pause(begun.value)
    },
  }
  const begun = await RunningExport.begin({
    core: { ...service.core, ...changed(service.core) },
    list: { list: 'events', filter: wholeLog },
    format: 'ndjson',
    asker: testAsker,
    address: null,
    patience,
  })
  if (!begun.ok) throw new Error('The export did not begin')
  return { service, running: begun.value }
}

test('an export that is cut off does not wait for the store any more', async () => {
  const away = new Outage('the store is away', 'not_written', 'unavailable')
  let pauses = 0
  const { running } = await begin({
    changed: ({ log }) => ({ questions: questionsOfLog({ ...passingLog(log), readAll: () => Promise.reject(away) }) }),
    pause: async (cut) => {
      pauses += 1
      if (pauses > 3) throw new Error('The export waits for ever')
      await cut.cutOff('the session ended')
    },
  })
  const failure = await running.next().catch((error: unknown) => error)
  expect(failure).toEqual(away)
  expect([pauses, running.cutOffWhy]).toEqual([1, 'the session ended'])
})

test('an export waits for a store that passes many events of other programs', async () => {
  const { running } = await begin({
    changed: ({ log }) => ({ questions: questionsOfLog(slowLog(log)) }),
    pause: () => Promise.reject(new Error('The export reads again')),
  })
  expect(await running.next()).toMatchObject({ rows: expect.any(Number) })
})

const triesMax = exportEndMsMax / exportRetryPauseMs + 1

test.each([
  ['later, if the store is back soon', triesMax - 1, 'cut_off'],
  ['not at all, if it stays away', triesMax, 'begun'],
])('the end of an export is recorded %s', async (_, refusals, phase) => {
  let left = refusals
  const { service, running } = await begin({
    changed: (core) => ({
      recordExport: async (data, asker) => {
        if (data.phase !== 'begun') left -= 1
        return data.phase === 'begun' || left < 0
          ? core.recordExport(data, asker)
          : { ok: false, refusal: { kind: 'store_unavailable' } }
      },
    }),
    pause: async () => {},
  })
  const recorded = await running.cutOff('the client left')
  expect(recorded.ok).toBe(phase === 'cut_off')
  const [last] = await service.log.read(exportsStream, { direction: 'backwards', limit: 1 })
  expect(last?.data).toMatchObject({ phase })
})

test('a bug while the end of an export is recorded does not end the process', async () => {
  const { running } = await begin({
    changed: (core) => ({
      recordExport: (data, asker) =>
        data.phase === 'begun' ? core.recordExport(data, asker) : Promise.reject(new Error('a bug')),
    }),
    pause: async () => {},
  })
  expect(await running.cutOff('the client left')).toEqual({ ok: false, refusal: { kind: 'not_confirmed' } })
})

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { openCore } from '../../../../src/actors/open-core.ts'
import { beginFromLog } from '../../../../src/actors/start/begin-from-log.ts'
import type { TimesTold } from '../../../../src/actors/time/clock-watch.ts'
import { dayMs } from '../../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { isRecordStream } from '../../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../../src/limits.ts'
import type { EventLog } from '../../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { derivedHere } from '../../../support/derived/derived-here.ts'
import { appendAll, appendTo, factsOf, purge, wholeOf } from '../../../support/logs/random-log.ts'
import { keySuspended } from '../../../support/logs/sample-events.ts'
import { randomHistory } from '../../../support/random-history.ts'
import { seededEntropy } from '../../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { startService, testAsker, testCellar } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { commitsHere } from '../commits-here.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => folder.remove())

let logs = 0
const open = (): EventLog => {
  logs += 1
  return openSqliteLog({ dataDir: join(folder.path, `log-${logs}`), commits: commitsHere(() => {}) })
}

const readAll = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events = await log.readAll({ limit: readPageEventsMax })
  expect(events.length).toBeLessThan(readPageEventsMax)
  return events
}

const expectWhole = async (log: EventLog): Promise<void> => {
  const told: string[] = []
  const { projections, after, newest } = await beginFromLog(log.readBeginning?.bind(log) ?? null, (why) =>
    told.push(why),
  )
  expect(told).toEqual([])
  const events = await readAll(log)
  expect(factsOf(projections, events)).toEqual(factsOf(wholeOf(events), events))
  const last = events.findLast(({ stream }) => !isRecordStream(stream))
  expect([after, newest?.position, newest?.recordedAt]).toEqual([
    events.at(-1)?.position ?? null,
    last?.position,
    last?.recordedAt,
  ])
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 })

describe('a start of the embedded log', () => {
  test('has the state of a read of the whole log, without its readings', async () => {
    const property = fc.asyncProperty(randomHistory(120), shares, fc.nat(120), async (history, purged, from) => {
      const log = open()
      await appendAll(log, history.slice(0, from))
      for (const [index, share] of purged.entries()) await purge(log, `k${index + 1}`, share)
      await appendAll(log, history.slice(from))
      await expectWhole(log)
      await appendTo(log, 'proofs-one', keySuspended('a record with a wrong time', 9e12))
      await expectWhole(log)
      await log.close()
    })
    await fc.assert(property, { numRuns: 40 })
  })

  test('begins an empty log from its beginning', async () => {
    const log = open()
    const begun = await beginFromLog(log.readBeginning?.bind(log) ?? null, expect.unreachable)
    expect(begun).toMatchObject({ after: null, newest: null })
    await log.close()
  })

  test('doubts a clock far ahead of the newest event that is no record', async () => {
    const log = open()
    const clock = manualClock()
    const first = await startService({ log, clock })
    await first.createKey()
    await first.core.cellars.changePolicy(testCellar, { retentionMs: 30 * dayMs }, testAsker)
    await first.stop()
    clock.advance(40 * dayMs)
    await appendTo(log, 'proofs-one', keySuspended('a record with a wrong time', clock.now()))
    const kinds: string[] = []
    const onTimes = ({ kind }: TimesTold): void => void kinds.push(kind)
    const core = await openCore({ log, clock, entropy: seededEntropy(3), onTimes })
    await core.sweep()
    expect(kinds).toEqual(['doubted'])
    await core.drain()
    await log.close()
  })

  test('tells the derived store how far the log goes, so that pages wait for that', async () => {
    const log = open()
    await ensureLogCreated(log, manualClock(), seededEntropy(1))
    const derived = derivedHere(log, { clock: manualClock() })
    const published: number[] = []
    derived.store.published = (position) => void published.push(position)
    const core = await openCore({ log, clock: manualClock(), entropy: seededEntropy(2), derived })
    expect(published[0]).toBe(1)
    await core.drain()
    derived.remove()
    await log.close()
  })
})

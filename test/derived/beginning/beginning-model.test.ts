import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beginFromLog } from '../../../src/actors/start/begin-from-log.ts'
import { checksumOf } from '../../../src/bytes/checksum.ts'
import { emptyTotal, totalWith } from '../../../src/derived/repeats/rows-total.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import { type DerivedHere, derivedHere } from '../../support/derived/derived-here.ts'
import { storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { appendAll, appendTo, factsOf, purge, wholeOf } from '../../support/logs/random-log.ts'
import { keySuspended, reading, recordsPurged } from '../../support/logs/sample-events.ts'
import { randomHistory } from '../../support/random-history.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { startService, testAsker, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'

setDefaultTimeout(600_000)

const clock = manualClock()
let parent: TemporaryFolder
let folders = 0
let dataDir: string
beforeAll(() => {
  parent = temporaryFolder()
})
afterAll(() => parent.remove())

const newFolder = (): void => {
  folders += 1
  dataDir = join(parent.path, `folder-${folders}`)
  mkdirSync(dataDir)
}
beforeEach(newFolder)

const derivedOf = (log: EventLog): DerivedHere =>
  derivedHere(log, { clock, folder: { path: dataDir, remove: () => {} } })

const end = async (derived: DerivedHere): Promise<void> => {
  await derived.store.stop()
  derived.close()
}

/** The follower folds the whole log, as in the life of one node. */
const live = async (log: EventLog): Promise<void> => {
  const derived = derivedOf(log)
  derived.store.start()
  const position = (await readAll(log)).at(-1)?.position ?? -1
  await until(() => {
    derived.store.published(position)
    return !derived.store.progress('beginning').isBehind
  })
  await derived.store.upTo('beginning')
  await end(derived)
}

const readAll = (log: EventLog): Promise<readonly RecordedEvent[]> => log.readAll({ limit: readPageEventsMax })

const begin = async (log: EventLog) => {
  const told: string[] = []
  const derived = derivedOf(log)
  const first = await beginFromLog(derived.readBeginning, (why) => told.push(why))
  derived.close()
  return { ...first, told }
}

const harm = (statement: string): void => {
  using database = new Database(join(dataDir, 'beginning.db'))
  expect(database.run(statement).changes).toBeGreaterThan(0)
}

type EventRow = { readonly position: number; readonly stream: string; readonly revision: number; readonly body: string }

/** Changes the events as a bug or another version could. All checksums are right. */
const rewrite = (change: (row: EventRow) => EventRow | null): void => {
  using database = new Database(join(dataDir, 'beginning.db'))
  const rows = database.query<EventRow, []>('SELECT position, stream, revision, body FROM events').all()
  database.run('DELETE FROM events')
  let total = emptyTotal
  for (const { position, stream, revision, body } of rows.flatMap((row) => change(row) ?? [])) {
    const checksum = checksumOf(`${position} ${stream} ${revision} ${body}`)
    database.run('INSERT INTO events VALUES (?, ?, ?, ?, ?)', [position, stream, revision, body, checksum])
    total = totalWith(total, checksum)
  }
  database.run('REPLACE INTO total VALUES (1, ?, ?)', [total.count, total.sum])
}

describe('beginning.db', () => {
  test('has the state of a read of the whole log', async () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 })
    const property = fc.asyncProperty(randomHistory(120), shares, fc.nat(120), async (history, purged, from) => {
      newFolder()
      const log = createMemoryLog()
      await appendAll(log, history.slice(0, from))
      await appendTo(log, 'proofs-one', keySuspended('a record with a wrong time', 9e12))
      await live(log)
      for (const [index, share] of purged.entries()) await purge(log, `k${index + 1}`, share)
      await appendAll(log, history.slice(from))
      await live(log)
      const events = await readAll(log)
      const { projections, after, told } = await begin(log)
      expect([told, after]).toEqual([[], events.at(-1)?.position ?? null])
      expect(factsOf(projections, events)).toEqual(factsOf(wholeOf(events), events))
    })
    await fc.assert(property, { numRuns: 15 })
  })

  test('has the state of a read of the whole log after purges on EventStoreDB', async () => {
    const log = await openAt(await storeUrl())
    const [history = []] = fc.sample(randomHistory(120), { numRuns: 1, seed: 7 })
    await appendAll(log, history)
    await live(log)
    const before = (await readAll(log)).length
    for (const keyId of ['k1', 'k2', 'k3']) await purge(log, keyId, 0.6)
    const events = await readAll(log)
    expect(events.length).toBeLessThan(before)
    await live(log)
    const { projections, after, told } = await begin(log)
    expect([told, after]).toEqual([[], events.at(-1)?.position ?? null])
    expect(factsOf(projections, events)).toEqual(factsOf(wholeOf(events), events))
    await log.close()
  })

  test('tells a start where to go on, and which key was revoked', async () => {
    const log = createMemoryLog()
    const first = await startService({ log, clock, derived: derivedOf(log) })
    const { key, keyId } = await first.createKey()
    expect((await first.post(validReading, key)).status).toBe(200)
    await first.core.keys.revoke(keyId, 'stolen', testAsker)
    await first.stop()
    await live(log)
    const read: (number | null)[] = []
    const watched: EventLog = {
      ...passingLog(log),
      subscribe: (options, subscriber) => {
        read.push(options.after)
        return log.subscribe(options, subscriber)
      },
    }
    const again = await startService({ log: watched, clock, derived: derivedOf(watched) })
    expect((await again.post(validReading, key)).status).toBe(401)
    expect(read[0]).toBe((await readAll(log)).at(-1)?.position ?? null)
    await again.stop()
  })

  const damages: readonly [title: string, how: string, why: string][] = [
    ['an event was changed', `UPDATE events SET body = replace(body, 'wrong', 'right')`, 'an event does not match'],
    ['an event was deleted', 'DELETE FROM events WHERE position = 2', 'it has lost rows'],
    ['the end of a stream was changed', 'UPDATE ends SET revision = 7', 'the end of a stream does not match'],
    ['the end of a stream was deleted', 'DELETE FROM ends', 'it has lost rows'],
    ['the total was deleted', 'DELETE FROM total', 'it has lost rows'],
    ['the head was changed', 'UPDATE head SET position = 1', 'its head does not match'],
  ]
  const logOfThree = async (): Promise<EventLog> => {
    const log = createMemoryLog()
    const stream = 'readings-one'
    await appendTo(log, stream, reading(stream))
    await appendTo(log, stream, { ...keySuspended(), type: 'ReadingsSealed', data: { reason: 'wrong' } })
    await appendTo(log, 'readings-two', reading('readings-two'))
    return log
  }

  test.each(damages)('makes a start read the whole log if %s, and is built again', async (_, how, why) => {
    const log = await logOfThree()
    await live(log)
    harm(how)
    expect(await begin(log)).toMatchObject({ after: null, told: [expect.stringContaining(why)] })
    await live(log)
    expect(await begin(log)).toMatchObject({ after: 3, told: [] })
  })

  test('is not used if the log does not have its last event', async () => {
    await live(await logOfThree())
    const other = createMemoryLog()
    await appendTo(other, 'readings-one', reading('readings-one'))
    expect((await begin(other)).told).toEqual([expect.stringContaining('the log does not have its last event')])
  })

  test('is not used if its last event was purged', async () => {
    const log = await logOfThree()
    await appendTo(log, 'readings-two', reading('readings-two'))
    await live(log)
    await appendTo(log, 'readings-two', reading('readings-two'))
    await log.truncate('readings-two', 2)
    expect((await begin(log)).told).toEqual([expect.stringContaining('its last event was purged')])
  })

  test('does not hide an outage of the log from a start', async () => {
    const log = await logOfThree()
    await live(log)
    const outage = new Outage('Away', 'not_written', 'unavailable')
    await expect(begin({ ...passingLog(log), read: () => Promise.reject(outage) })).rejects.toBe(outage)
  })

  const newerText = (body: string): string => body.replace('"schemaVersion":1', '"schemaVersion":99')
  const changes: readonly [title: string, change: (row: EventRow) => EventRow | null, why: string][] = [
    ['lacks an event', (row) => (row.revision === 0 ? null : row), 'the events of a stream are not consecutive'],
    ['has an event of a newer version', (row) => ({ ...row, body: newerText(row.body) }), 'Cannot decode event'],
  ]

  test.each(changes)('that %s makes a start read the whole log, and is built again', async (_, change, why) => {
    const log = createMemoryLog()
    await appendTo(log, 'cellarbook-log', recordsPurged(), recordsPurged())
    await live(log)
    rewrite(change)
    expect(await begin(log)).toMatchObject({ after: null, told: [expect.stringContaining(why)] })
    await live(log)
    expect(await begin(log)).toMatchObject({ after: 2, told: [] })
  })

  test('is not missed by the first start', async () => {
    expect(await begin(await logOfThree())).toMatchObject({ after: null, told: [] })
  })
})

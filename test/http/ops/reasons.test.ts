import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { noClockTroubles } from '../../../src/facts-of-service.ts'
import { attentionOf, type HealthParts, reasonsOf, stalledBeats, watchHealth } from '../../../src/health.ts'
import { heartbeatMs, overloadedLooksMin, troubleCalmLooks, troubleLookMs } from '../../../src/limits.ts'
import { AppendFigures } from '../../../src/log/append-figures.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { survivedFsyncLooks } from '../../../src/log/log-troubles.ts'
import { logQueueReadingsMax } from '../../../src/log/queue-room.ts'
import { diskLookMs } from '../../../src/log/sqlite/disk-space.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { diskReserveBytesDefault } from '../../../src/variables.ts'
import { commitsHere, failedFsync, outOfSpace } from '../../log/sqlite/commits-here.ts'
import { answerOf, expectRefusal } from '../../support/answers.ts'
import { FakeRepeatsIndex } from '../../support/fake-repeats-index.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, testAsker, validReading } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { signedIn, startWithOperators } from '../dashboard/visitor.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let schedule: DrivenSchedule
let log: EventLog
let service: Service
let key: string
let keyId: string
/** Each entry runs at one coming commit, and can make it fail. The first entry is for the next commit. */
let faults: ((database: Database) => void)[]
let diskFault: Error | null
let lines: [level: string, what: string, reason: unknown][]
let index: FakeRepeatsIndex

beforeEach(async () => {
  folder = temporaryFolder()
  schedule = drivenSchedule()
  faults = []
  diskFault = null
  lines = []
  log = openSqliteLog({
    dataDir: folder.path,
    commits: commitsHere((database) => faults.shift()?.(database)),
    diskReserveBytes: diskReserveBytesDefault,
    freeBytes: async () => {
      if (diskFault !== null) throw diskFault
      return 10 * diskReserveBytesDefault
    },
    later: schedule.after,
  })
  index = new FakeRepeatsIndex(log)
  service = await startWithOperators({ log, schedule, idempotency: index })
  await index.commit()
  ;({ key, keyId } = await service.createKey())
  const line = (level: string) => (what: string, facts?: { readonly reason?: unknown }) => {
    lines.push([level, what, facts?.reason])
  }
  const sink = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  watchHealth(service.reasons, sink, schedule)
})
afterEach(async () => {
  // A drain writes the refusals that wait, and looks in pauses whether it is done.
  await schedule.until(service.stop())
  await log.close()
  folder.remove()
})

const readyStatus = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status
const kinds = (): readonly string[] => service.reasons().map(({ kind }) => kind)
const post = async (headers: Readonly<Record<string, string>> = {}) =>
  answerOf(await service.post(validReading, key, headers))
const alter = (statement: string): void => {
  const other = new Database(join(folder.path, 'log.db'))
  other.run(statement)
  other.close()
}

describe('a reason to refuse readings', () => {
  test('writes a line when it begins and when it ends', async () => {
    faults = [outOfSpace]
    expectRefusal(await post(), 503, 'STORAGE_FULL')
    await schedule.advance(4 * heartbeatMs)
    expect(lines).toEqual([['error', 'The disk is almost full. Not ready.', 'full']])
    expect((await post()).status).toBe(200)
    await schedule.advance(4 * heartbeatMs)
    expect(lines.slice(1)).toEqual([['info', 'It is over: The disk is almost full.', 'full']])
  })

  test('can be a commit without space, but changes go on', async () => {
    faults = [outOfSpace]
    expectRefusal(await post(), 503, 'STORAGE_FULL')
    expectRefusal(await post(), 503, 'STORAGE_FULL')
    expect(await service.core.keys.suspend(keyId, '', testAsker)).toMatchObject({ ok: true })
    expect(await service.core.keys.resume(keyId, '', testAsker)).toMatchObject({ ok: true })
    expect([kinds(), await readyStatus()]).toEqual([['full'], 503])
    await schedule.advance(diskLookMs)
    expect((await post()).status).toBe(200)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
  })

  test('can be failing reads, and ends without further failures', async () => {
    expect((await post()).status).toBe(200)
    alter('ALTER TABLE streams RENAME TO gone')
    await log.read('readings-other', { limit: 1 }).catch(() => {})
    expect([kinds(), await readyStatus()]).toEqual([['unreadable'], 503])
    // The file still cannot be read, so the reason must stay.
    await schedule.advance(3 * troubleCalmLooks * troubleLookMs)
    expect(kinds()).toEqual(['unreadable'])
    alter('ALTER TABLE gone RENAME TO streams')
    await schedule.advance((troubleCalmLooks + 1) * troubleLookMs)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
    expect(lines.map(([level]) => level)).toEqual(['error', 'info'])
  })

  test('can be failing writes, until one succeeds', async () => {
    const other = new Database(join(folder.path, 'log.db'))
    other.run('BEGIN IMMEDIATE')
    expectRefusal(await post(), 503, 'STORE_UNAVAILABLE')
    expect([kinds(), await readyStatus()]).toEqual([['unwritable'], 503])
    other.run('ROLLBACK')
    other.close()
    expect((await post()).status).toBe(200)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
  })

  test('can be a queue that is full for some time', async () => {
    for (let looks = 1; looks <= overloadedLooksMin; looks += 1) {
      expect([looks, kinds()]).toEqual([looks, []])
      await overfill()
      await schedule.advance(troubleLookMs)
    }
    expect([kinds(), await readyStatus()]).toEqual([['overloaded'], 503])
    await schedule.advance(overloadedLooksMin * troubleLookMs)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
  })
})

describe('a warning', () => {
  test('of a survived fsync failure leaves the service ready', async () => {
    const admin = await signedIn(service, 'admin')
    faults = [failedFsync]
    expect((await post()).status).toBe(200)
    await schedule.advance(heartbeatMs)
    expect(lines).toEqual([['warn', 'A write to the disk failed once, and then succeeded.', 'survived_fsync']])
    expect(await readyStatus()).toBe(200)
    expect((await admin.get('/cellars')).body).toContain('Cause: disk I/O error.')
    await schedule.advance((survivedFsyncLooks + 1) * troubleLookMs)
    expect(kinds()).toEqual([])
  })

  test('of a disk without an answer stops no readings', async () => {
    diskFault = new Error('ENOSYS')
    await schedule.advance(diskLookMs)
    expect([kinds(), await readyStatus(), (await post()).status]).toEqual([['space_unknown'], 200, 200])
  })

  test('of a locked index refuses nothing', async () => {
    index.trouble = 'database is locked'
    expect((await post({ 'Idempotency-Key': 'one' })).status).toBe(200)
    expect([kinds(), await readyStatus()]).toEqual([['index_unwritable'], 200])
    expect((await post({ 'Idempotency-Key': 'one' })).header('Idempotent-Replayed')).toBe('true')
    index.trouble = null
    expect(kinds()).toEqual([])
  })
})

describe('an idempotency index that fails', () => {
  test('makes the service not ready, but stores other readings', async () => {
    index.lose()
    index.trouble = 'the page is torn'
    expectRefusal(await post({ 'Idempotency-Key': 'one' }), 503, 'STORE_UNAVAILABLE')
    expect([kinds(), await readyStatus(), (await post()).status]).toEqual([['index_unusable'], 503, 200])
    await schedule.advance(heartbeatMs)
    expect(lines).toEqual([['error', 'The index of idempotency keys cannot be used. Not ready.', 'index_unusable']])
    index.trouble = null
    expect(kinds()).toEqual(['index_folding'])
    await index.commit()
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
    expect((await post({ 'Idempotency-Key': 'one' })).status).toBe(200)
  })
})

/** Sends 17 appends. The queue has room for 16 of them, so at least one is refused. */
const overfill = async (): Promise<void> => {
  const stream = `readings-${crypto.randomUUID()}`
  const event = reading(stream)
  const many = Array.from({ length: logQueueReadingsMax / 16 }, () => event)
  const appends = Array.from({ length: 17 }, (_, part) => log.append(`${stream}${part}`, 'none', many))
  const results = await Promise.allSettled(appends)
  expect(results.map(({ status }) => status)).toContain('rejected')
}

test('attentionOf() excuses devices while readings are refused, or arrive late from others', () => {
  const isRefusing = (parts: Partial<HealthParts>, clocks = noClockTroubles()): boolean => {
    const health = { health: () => ({ ok: true }) as const }
    const reasons = () => reasonsOf({ log: health, indexTrouble: () => null, bodyTroubles: () => [], ...parts })
    return attentionOf(
      { reasons, clocks, nodeLines: () => null },
      {},
      { nodeName: 'node-1', dataDir: folder.path },
    ).isRefusing()
  }
  expect(isRefusing({})).toBeFalse()
  expect(isRefusing({ indexTrouble: () => ({ kind: 'folding', why: '' }) })).toBeTrue()
  expect(isRefusing({ indexTrouble: () => ({ kind: 'unwritable', why: '' }) })).toBeFalse()
  expect(isRefusing({ bodyTroubles: () => [{ kind: 'batches', why: '' }] })).toBeFalse()
  expect(isRefusing({ descriptors: () => '' })).toBeFalse()
  expect(isRefusing({}, new Map([['late', true]]))).toBeTrue()
})

test('attentionOf() excuses devices while appends wait without an answer', () => {
  const figures = { waiting: { events: 1, bytes: 1 }, appends: new AppendFigures(), disk: null, store: null }
  const health = { reasons: () => [], clocks: noClockTroubles(), nodeLines: () => null }
  const { isRefusing } = attentionOf(health, { figures: () => figures }, { nodeName: 'node-1', dataDir: folder.path })
  const beats = (count: number): readonly boolean[] => Array.from({ length: count }, () => isRefusing())
  expect(beats(stalledBeats)).toEqual([...Array.from({ length: stalledBeats - 1 }, () => false), true])
  figures.appends.sent(1, 0, 0)(0)
  expect(beats(stalledBeats)).not.toContain(true)
  figures.waiting.events = 0
  expect(beats(2 * stalledBeats)).not.toContain(true)
})

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { troubleCalmLooks } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { diskAnswerMsMax, diskLookMs } from '../../src/log/sqlite/disk-space.ts'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { diskReserveBytesDefault } from '../../src/variables.ts'
import { paths } from '../../views/paths.ts'
import { answerOf, expectRefusal, expectUnauthorized } from '../support/answers.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { type Service, testCellar, validReading } from '../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../support/time/driven-schedule.ts'
import { signedIn, startWithOperators } from './dashboard/visitor.ts'

setDefaultTimeout(600_000)

const plenty = 10 * diskReserveBytesDefault

let folder: TemporaryFolder
let log: EventLog
let service: Service
let schedule: DrivenSchedule
let freeBytes: number | Promise<number>
let key: string
let keyId: string

beforeEach(async () => {
  folder = temporaryFolder()
  schedule = drivenSchedule()
  freeBytes = plenty
  log = openSqliteLog({
    dataDir: folder.path,
    diskReserveBytes: diskReserveBytesDefault,
    freeBytes: async () => freeBytes,
    later: schedule.after,
  })
  service = await startWithOperators({ log })
  ;({ key, keyId } = await service.createKey())
})
afterEach(async () => {
  await service.stop()
  await log.close()
  folder.remove()
})

const spaceIsBack = async (): Promise<void> => {
  await spaceBecomes(plenty)
  await schedule.advance((troubleCalmLooks - 1) * diskLookMs)
}

const spaceBecomes = async (bytes: number): Promise<void> => {
  freeBytes = bytes
  await schedule.advance(diskLookMs)
}

const post = async (headers: Readonly<Record<string, string>> = {}) =>
  answerOf(await service.post(validReading, key, headers))

const readyStatus = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status

describe('while the disk is almost full', () => {
  test('readings and batches get STORAGE_FULL, and are not stored', async () => {
    await spaceBecomes(diskReserveBytesDefault - 1)
    for (const answer of [await post(), await answerOf(await service.postBatch([validReading], key))]) {
      expectRefusal(answer, 503, 'STORAGE_FULL')
      expect(answer.header('Retry-After')).toBe('1')
    }
    expect(await log.read(`readings-${keyId}`, { limit: 1 })).toEqual([])
  })

  test('checks of readings and batches get the same answer', async () => {
    await spaceBecomes(diskReserveBytesDefault - 1)
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
    for (const [of, body] of [
      ['', validReading],
      ['/batch', { readings: [validReading] }],
    ] as const) {
      const send = async (path: string) =>
        answerOf(await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
      const [checked, stored] = [await send(`/api/v1/ingest${of}/check`), await send(`/api/v1/ingest${of}`)]
      expectRefusal(checked, 503, 'STORAGE_FULL')
      expect([checked.body, checked.header('Retry-After')]).toEqual([stored.body, stored.header('Retry-After')])
    }
  })

  test('only a repeat gets its answer', async () => {
    const first = await post({ 'Idempotency-Key': 'one' })
    await spaceBecomes(0)
    const repeat = await post({ 'Idempotency-Key': 'one' })
    expect([repeat.status, repeat.body]).toEqual([200, first.body])
    expect(repeat.header('Idempotent-Replayed')).toBe('true')
    expectRefusal(await post({ 'Idempotency-Key': 'two' }), 503, 'STORAGE_FULL')
  })

  test('sign-in, settings and changes of keys still work', async () => {
    expect((await post()).status).toBe(200)
    await spaceBecomes(0)
    const admin = await signedIn(service, 'admin')
    expect((await admin.post(paths.suspendKey(keyId), { reason: 'x' })).status).toBe(303)
    expect((await admin.post(paths.resumeKey(keyId), { reason: 'x' })).status).toBe(303)
    expect((await admin.post(paths.rename(testCellar), { title: 'Other' })).status).toBe(303)
    expect((await admin.post(paths.revokeKey(keyId), { reason: 'lost' })).status).toBe(303)
    expectUnauthorized(await post(), 'Invalid API key')
  })

  test('/readyz says no, and pages say why', async () => {
    const auditor = await signedIn(service, 'auditor')
    await spaceBecomes(0)
    expect(await readyStatus()).toBe(503)
    expect((await auditor.get('/cellars')).body).toContain('The disk is almost full.')
    expect((await auditor.get(paths.key(keyId))).body).toContain('DISK_RESERVE is 256 MiB')
    expect(await (await fetch(`${service.url}/sign-in`)).text()).not.toContain('almost full')
    await spaceIsBack()
    expect(await readyStatus()).toBe(200)
    expect((await auditor.get('/cellars')).body).not.toContain('almost full')
  })
})

test('readings go on when there is space again', async () => {
  await spaceBecomes(diskReserveBytesDefault - 1)
  expectRefusal(await post(), 503, 'STORAGE_FULL')
  await spaceIsBack()
  expect((await post()).status).toBe(200)
})

test('a temporary file causes one reason and one recovery', async () => {
  for (let times = 0; times < 5; times += 1) {
    await spaceBecomes(diskReserveBytesDefault - 1)
    await spaceBecomes(plenty)
    expect([await readyStatus(), (await post()).status]).toEqual([503, 503])
  }
  await spaceIsBack()
  expect([await readyStatus(), (await post()).status]).toEqual([200, 200])
})

test('a silent disk is a warning, and readings go on', async () => {
  freeBytes = new Promise(() => {})
  await schedule.advance(diskLookMs + diskAnswerMsMax)
  expect(service.reasons().map(({ kind }) => kind)).toEqual(['space_unknown'])
  expect([await readyStatus(), (await post()).status]).toEqual([200, 200])
})

import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { EventData } from '../../../src/domain/events.ts'
import { type ReadingRefusal, refused } from '../../../src/domain/refusal.ts'
import { nodeRefusalsStream, refusalsStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { diskReserveBytesDefault } from '../../../src/variables.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, type ServiceOptions, startService, validReading } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const [tenSeconds, minute, tenMinutes] = [10_000, 60_000, 600_000]

let service: Service
let schedule: DrivenSchedule
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const start = async (options: ServiceOptions = {}): Promise<void> => {
  schedule = drivenSchedule()
  service = await startService({ schedule, ...options })
  ends.push(async () => {
    let isStopped = false
    const stopped = service.stop().then(() => {
      isStopped = true
    })
    while (!isStopped) await schedule.advance(heartbeatMs)
    await stopped
  })
}

const pass = async (ms: number): Promise<void> => {
  for (let passedMs = 0; passedMs < ms; passedMs += heartbeatMs) {
    service.clock.advance(heartbeatMs)
    await schedule.advance(heartbeatMs)
  }
}

/** Reads until the log has them, because the commit thread has a pace of its own. */
const summaries = async (stream: string, count: number): Promise<readonly EventData<'ReadingsRefused'>[]> => {
  while (true) {
    const events = await service.log.read(stream, { limit: 100 })
    const found = events.flatMap((event) => (event.type === 'ReadingsRefused' ? [event.data] : []))
    if (found.length >= count) return found
    await schedule.quiet()
  }
}
const ofKey = async (keyId: string, count = 1) => summaries(refusalsStream(keyId), count)
const countsOf = (all: readonly EventData<'ReadingsRefused'>[]) =>
  all.map(({ counts }) => Object.fromEntries(counts.map(({ code, count }) => [code, count])))

const longAgo = '2026-01-01T00:00:00Z'
const allowOneDay = () =>
  service.core.cellars.changePolicy(
    validReading.cellar,
    { readingAgeMsMax: 24 * 3_600_000 },
    { by: { kind: 'cli' }, requestId: 'test' },
  )

describe('refusals of a key', () => {
  test('reach the log after 10 s, a minute and 10 minutes', async () => {
    await start()
    const { key, keyId } = await service.createKey()
    const requestIds: (string | null)[] = []
    for (const [index, ms] of [tenSeconds, minute, tenMinutes].entries()) {
      const answer = await service.post({ ...validReading, value: 'high' }, key)
      requestIds.push(answer.headers.get('x-request-id'))
      await pass(ms - heartbeatMs)
      expect(await ofKey(keyId, index)).toHaveLength(index)
      await pass(heartbeatMs)
      const all = await ofKey(keyId, index + 1)
      expect(all).toHaveLength(index + 1)
      expect(all.at(-1)?.samples).toMatchObject([
        { requestId: requestIds[index], code: 'INVALID_TYPE', field: 'value' },
      ])
    }
  })

  test('count whatever state the key has', async () => {
    await start()
    const [revoked, suspended] = [await service.createKey(), await service.createKey()]
    const expired = await service.createKey({ expiresAt: service.clock.now() + 1 })
    const asker = { by: { kind: 'cli' }, requestId: 'test' } as const
    await service.core.keys.revoke(revoked.keyId, '', asker)
    await service.core.keys.suspend(suspended.keyId, '', asker)
    service.clock.advance(1)
    for (const { key } of [revoked, suspended, expired]) await service.post(validReading, key)
    await pass(tenSeconds)
    expect(countsOf(await ofKey(revoked.keyId))).toEqual([{ KEY_REVOKED: 1 }])
    expect(countsOf(await ofKey(suspended.keyId))).toEqual([{ KEY_SUSPENDED: 1 }])
    expect(countsOf(await ofKey(expired.keyId))).toEqual([{ KEY_EXPIRED: 1 }])
  })

  test('count each refused reading of a batch, and no repeat', async () => {
    await start()
    const { key, keyId } = await service.createKey()
    const wrong = { ...validReading, value: 'high' }
    const partly = [validReading, wrong, wrong, { ...validReading, rack: ' ' }]
    const idempotent = { 'Idempotency-Key': 'batch-1' }
    for (const replayed of [null, 'true']) {
      const answer = await service.postBatch(partly, key, idempotent)
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([207, replayed])
    }
    expect((await service.postBatch([wrong, wrong], key)).status).toBe(400)
    await pass(tenSeconds)
    expect(countsOf(await ofKey(keyId))).toEqual([{ INVALID_TYPE: 4, INVALID_NAME: 1, BATCH_REJECTED: 1 }])
  })

  test('name rack and keg where the reading was parsed', async () => {
    const limit = { readings: 1, windowMs: 1_000 }
    const full: ReadingRefusal = { kind: 'rate_limited', limit, retryAfterMs: 1, window: 'readings' }
    // The window is full only when the parsed reading reaches the actor.
    await start({ wrapCore: (core) => ({ ...core, keys: { ...core.keys, accept: async () => refused(full) } }) })
    const { key, keyId } = await service.createKey()
    await allowOneDay()
    await service.post({ ...validReading, timestamp: longAgo }, key)
    await service.post({ ...validReading, cellar: 'other' }, key)
    await service.post({ ...validReading, rack: 'late' }, key)
    await service.post('{', key)
    await pass(tenSeconds)
    const [summary] = await ofKey(keyId)
    const { rack, keg } = validReading
    expect(summary?.samples).toMatchObject([
      { code: 'TIMESTAMP_TOO_OLD', field: 'timestamp', rule: null, rack, keg },
      { code: 'CELLAR_MISMATCH', field: 'cellar', rule: null, rack, keg },
      { code: 'RATE_LIMITED', field: null, rule: 'readings', rack: 'late', keg },
      { code: 'MALFORMED_JSON', field: null, rule: 'ends_early', rack: null, keg: null },
    ])
  })

  test('hold no body, no text of a key and no invalid name', async () => {
    await start()
    const { key, keyId } = await service.createKey()
    const secret = 'SECRET'
    const bodies = [
      `{"rack":"${secret}`,
      { ...validReading, rack: `${secret}\n`, keg: secret },
      { ...validReading, cellar: secret, keg: ` ${secret}` },
      { ...validReading, value: secret },
      { ...validReading, timestamp: secret },
      { [secret]: secret },
    ]
    for (const body of bodies) {
      await service.post(body, key, { 'Idempotency-Key': `${secret}é`.slice(0, 6), 'X-Request-Id': secret })
      await service.post(body, `${key}${secret}`)
      await service.postBatch([validReading, body], key)
    }
    await service.postTo(`/${secret}`, secret, key)
    await pass(tenSeconds)
    const text = JSON.stringify([await ofKey(keyId), await summaries(nodeRefusalsStream, 1)])
    expect(text).toContain('INVALID_NAME')
    expect(text).not.toContain(secret)
    expect(text).not.toContain('clr_')
  })

  test('are left out of the answer and of the readings', async () => {
    await start()
    const { key, keyId } = await service.createKey()
    await service.post(validReading, key)
    await service.post({ ...validReading, value: 'high' }, key)
    await pass(tenSeconds)
    await ofKey(keyId)
    expect(service.core.projections.readings.usage(keyId)?.accepted).toBe(1)
    expect((await service.log.read(`readings-${keyId}`, { limit: 10 })).map(({ type }) => type)).toEqual([
      'ReadingAccepted',
    ])
  })
})

describe('refusals without a known key', () => {
  test('are one summary of the node, however many come', async () => {
    await start()
    const posts = (count: number, key: string | null) =>
      Promise.all(Array.from({ length: count }, async () => (await service.post(validReading, key)).arrayBuffer()))
    for (let round = 0; round < 10; round += 1) await posts(50, 'clr_00000000_wrong')
    await posts(7, null)
    await pass(tenSeconds)
    const all = await summaries(nodeRefusalsStream, 1)
    expect(countsOf(all)).toEqual([{ KEY_UNKNOWN: 500, KEY_MISSING: 7 }])
    expect(all[0]?.samples).toEqual([])
    const [last] = await service.log.readAll({ direction: 'backwards', limit: 1 })
    expect(last).toMatchObject({ stream: nodeRefusalsStream, revision: 0, metadata: { by: { kind: 'system' } } })
  })
})

describe('while the disk is nearly full', () => {
  const plenty = 10 * diskReserveBytesDefault
  let freeBytes = plenty

  const onSmallDisk = (): EventLog => {
    const folder = temporaryFolder()
    freeBytes = plenty
    schedule = drivenSchedule()
    const log = openSqliteLog({
      dataDir: folder.path,
      diskReserveBytes: diskReserveBytesDefault,
      freeBytes: async () => freeBytes,
      later: (ms, run) => schedule.after(ms, run),
    })
    ends.push(
      () => folder.remove(),
      () => log.close(),
    )
    return log
  }

  test('refusals wait, and those because of the disk count for the node', async () => {
    await start({ log: onSmallDisk() })
    const { key, keyId } = await service.createKey()
    freeBytes = diskReserveBytesDefault - 1
    await pass(2_000)
    expect((await service.post(validReading, key)).status).toBe(503)
    expect((await service.postTo('/nothing', '', key)).status).toBe(404)
    await pass(tenMinutes)
    expect(await service.log.read(refusalsStream(keyId), { limit: 1 })).toEqual([])
    freeBytes = plenty
    await pass(tenSeconds)
    expect(countsOf(await ofKey(keyId))).toEqual([{ NOT_FOUND: 1 }])
    expect(countsOf(await summaries(nodeRefusalsStream, 1))).toEqual([{ STORAGE_FULL: 1 }])
  })
})

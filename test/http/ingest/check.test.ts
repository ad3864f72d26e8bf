/** docs/contract.md, "Check without storing". */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import {
  type Answer,
  acceptedReadings,
  answerOf,
  asIfStored,
  expectAccepted,
  expectUnauthorized,
} from '../../support/answers.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../support/logs/faulty-log.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators } from '../dashboard/visitor.ts'

let log: FaultyLog
let service: Service
let key: string
let keyId: string
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startWithOperators({ log })
  ;({ key, keyId } = await service.createKey())
})
afterEach(async () => {
  log.comeBack()
  await service.stop()
  await log.close()
})

type Headers = Readonly<Record<string, string>>
type Body = string | Uint8Array<ArrayBuffer>

const send = async (path: string, body: Body, { 'X-API-Key': own = key, ...headers }: Headers = {}): Promise<Answer> =>
  answerOf(await service.postTo(path, body, own, headers))

const valid = JSON.stringify(validReading)
const batchOf = (readings: readonly unknown[]): string => JSON.stringify({ readings })
const check = (body: Body = valid, headers: Headers = {}): Promise<Answer> => send('/check', body, headers)
const checkBatch = (body: Body, headers: Headers = {}): Promise<Answer> => send('/batch/check', body, headers)

const endOfLog = async (): Promise<number> => (await log.readAll({ limit: 1_000 })).at(-1)?.position ?? -1

describe('a check', () => {
  test('gets the body of a stored reading, in the conditional, and no receipt', async () => {
    const [checked, stored] = [await check(), await send('', valid)]
    expectAccepted(checked)
    expect(asIfStored(checked)).toBe(stored.body)
    expect(JSON.parse(checked.body).message).toBe('Reading would be stored.')
    expect([checked.header('X-Receipt'), checked.header('RateLimit')]).toEqual([null, '"default";r=6000;t=0'])
    expect(checked.header('RateLimit-Policy')).toBe(stored.header('RateLimit-Policy'))
  })

  test.each([
    [[validReading], 200, '1 reading would be stored.'],
    [[validReading, validReading], 200, '2 readings would be stored.'],
    [[validReading, 7], 207, '1 reading would be stored, 1 refused.'],
  ] as const)('of the batch %j gets its answer (%i) and no receipt', async (readings, status, message) => {
    const [checked, stored] = [await checkBatch(batchOf(readings)), await send('/batch', batchOf(readings))]
    expect([checked.status, stored.status]).toEqual([status, status])
    expect(asIfStored(checked)).toBe(stored.body)
    expect(JSON.parse(checked.body).message).toBe(message)
    expect(checked.header('X-Receipt')).toBeNull()
  })

  test('tells when its key expires', async () => {
    const expiresAt = service.clock.now() + 60_000
    ;({ key } = await service.createKey({ expiresAt }))
    expect((await check()).header('X-API-Key-Expires-At')).toBe(new Date(expiresAt).toISOString())
  })

  test('adds nothing to the log and uses no rate window, also 1,000 times', async () => {
    await send('', valid)
    const before = [await endOfLog(), log.appends]
    const batch = batchOf([validReading, 7])
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => (at % 2 ? check() : checkBatch(batch))))
      for (const answer of answers) expect(answer.header('RateLimit')).toBe('"default";r=5999;t=60')
    }
    expect([await endOfLog(), log.appends]).toEqual(before)
    expect(await service.core.keys.usage(keyId)).toMatchObject({ used: 1 })
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('ignores an Idempotency-Key, so that a later request with it stores', async () => {
    const headers = { 'Idempotency-Key': 'one' }
    expect((await check(valid, headers)).status).toBe(200)
    const stored = await send('', valid, headers)
    expect([stored.status, stored.header('Idempotent-Replayed')]).toEqual([200, null])
    const other = await check(JSON.stringify({ ...validReading, value: 22 }), headers)
    expect([other.status, other.header('Idempotent-Replayed')]).toEqual([200, null])
    expect((await check(valid, { 'Idempotency-Key': 'x'.repeat(256) })).status).toBe(200)
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('starts no rotation: the old key goes on', async () => {
    const rotated = await service.core.keys.rotate(keyId, { overlapMs: 0 }, testAsker)
    if (!rotated.ok) throw new Error(rotated.refusal.kind)
    const before = await endOfLog()
    expect((await check(valid, { 'X-API-Key': rotated.value.key })).status).toBe(200)
    await service.core.keys.usage(keyId)
    expect(await endOfLog()).toBe(before)
    expect((await send('', valid)).status).toBe(200)
  })

  test('records no expiry of its key', async () => {
    ;({ key } = await service.createKey({ expiresAt: service.clock.now() + 1_000 }))
    expect((await check()).status).toBe(200)
    const before = await endOfLog()
    service.clock.advance(1_000)
    expectUnauthorized(await check(), 'API key has expired')
    expect(await endOfLog()).toBe(before)
  })
})

describe('a check of what would be refused gets the same answer to the byte', () => {
  const bothAnswer = async (of: '' | '/batch', body: Body, headers: Headers = {}): Promise<Answer> => {
    const [checked, stored] = [await send(`${of}/check`, body, headers), await send(of, body, headers)]
    expect([checked.status, checked.body]).toEqual([stored.status, stored.body])
    for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'Content-Type'])
      expect([name, checked.header(name)]).toEqual([name, stored.header(name)])
    return checked
  }

  const changed = (change: object): string => JSON.stringify({ ...validReading, ...change })

  const ofReadings: Readonly<Record<string, readonly [status: number, body: Body, headers?: Headers]>> = {
    'an empty body': [400, ''],
    'no JSON': [400, '{'],
    NaN: [400, valid.replace('21.5', 'NaN')],
    'no UTF-8': [400, Uint8Array.of(0x7b, 0xff, 0x7d)],
    'a list': [400, `[${valid}]`],
    'deep nesting': [400, '['.repeat(40)],
    'much structure': [400, `{"a":[${'1,'.repeat(40)}1]}`],
    'missing fields': [400, '{"cellar":"x"}'],
    'a wrong type': [400, changed({ value: '21.5' })],
    'a wrong name': [400, changed({ rack: ' ' })],
    'an infinite value': [400, valid.replace('21.5', '1e400')],
    'a wrong timestamp': [400, changed({ timestamp: '2026-02-30T12:00:00Z' })],
    'another cellar': [403, changed({ cellar: 'other' })],
    'a long body': [413, valid.padEnd(readingBodyBytesMax + 1)],
    'a wrong content type': [415, valid, { 'Content-Type': 'text/plain' }],
    'an unknown encoding': [415, valid, { 'Content-Encoding': 'br' }],
    'no gzip data': [400, valid, { 'Content-Encoding': 'gzip' }],
    'a long body in gzip': [413, Bun.gzipSync(valid.padEnd(readingBodyBytesMax + 1)), { 'Content-Encoding': 'gzip' }],
    'no key': [401, valid, { 'X-API-Key': '' }],
    'a wrong key': [401, valid, { 'X-API-Key': 'clr_x' }],
  }

  const ofBatches: typeof ofReadings = {
    'no list': [400, '{"readings":7}'],
    'no JSON': [400, `{"readings":[${valid},]}`],
    'an empty list': [400, '{"readings":[]}'],
    'no valid item': [400, batchOf([7, { ...validReading, cellar: 'other' }, { ...validReading, value: null }])],
    'many readings': [400, batchOf(Array(batchReadingsMax + 1).fill(validReading))],
    'much structure': [400, `{"readings":[],"a":[${'1,'.repeat(40_000)}1]}`],
    'no gzip data': [400, '{}', { 'Content-Encoding': 'gzip' }],
    'no key': [401, '{}', { 'X-API-Key': '' }],
  }

  test.each(Object.entries(ofReadings))('a reading with %s', async (_, [status, body, headers]) => {
    expect((await bothAnswer('', body, headers)).status).toBe(status)
  })

  test.each(Object.entries(ofBatches))('a batch with %s', async (_, [status, body, headers]) => {
    expect((await bothAnswer('/batch', body, headers)).status).toBe(status)
  })

  test('a reading in gzip that is valid is not among them', async () => {
    expect((await check(Bun.gzipSync(valid), { 'Content-Encoding': 'gzip' })).status).toBe(200)
  })

  test.each(['suspend', 'revoke'] as const)('a reading whose key is no longer active: %s', async (change) => {
    await service.core.keys[change](keyId, '', testAsker)
    expect((await bothAnswer('', valid)).status).toBe(401)
  })

  test('a reading whose timestamp the cellar refuses', async () => {
    await service.core.cellars.changePolicy(testCellar, { readingAgeMsMax: 1_000 }, testAsker)
    service.clock.advance(10 * 365 * 86_400_000)
    expect(JSON.parse((await bothAnswer('', valid)).body).code).toBe('TIMESTAMP_TOO_OLD')
    expect((await bothAnswer('/batch', batchOf([validReading]))).status).toBe(400)
  })

  test('a reading and a batch in a full window', async () => {
    await service.core.keys.setLimit(keyId, { readings: 2, windowMs: 60_000 }, testAsker)
    expect((await send('', valid)).status).toBe(200)
    service.clock.advance(1_000)
    expect(JSON.parse((await bothAnswer('/batch', batchOf([validReading, validReading]))).body).code).toBe(
      'RATE_LIMITED',
    )
    const tooLarge = await bothAnswer('/batch', batchOf([validReading, validReading, validReading]))
    expect(JSON.parse(tooLarge.body).code).toBe('BATCH_TOO_LARGE')
    expect((await check()).status).toBe(200)
    expect((await send('', valid)).status).toBe(200)
    expect((await bothAnswer('', valid)).status).toBe(429)
    expect((await bothAnswer('/batch', '{')).status).toBe(429)
  })

  test('a reading while the log is away, with and without a loaded key', async () => {
    log.goAway()
    expect((await bothAnswer('', valid)).status).toBe(503)
    log.comeBack()
    expect((await send('', valid)).status).toBe(200)
    log.goAway()
    expect((await bothAnswer('', valid)).status).toBe(503)
  })

  test('a wrong method and a path below', async () => {
    for (const path of ['/check', '/batch/check']) {
      const got = await fetch(`${service.url}/api/v1/ingest${path}`, { headers: { 'X-API-Key': key } })
      expect([got.status, got.headers.get('Allow')]).toEqual([405, 'POST'])
      expect((await send(`${path}/x`, valid)).status).toBe(404)
      const misspelt = await send(`${path}/`, valid)
      expect([misspelt.status, misspelt.body]).toEqual([404, expect.stringContaining(`exactly /api/v1/ingest${path}:`)])
    }
  })
})

describe('the cost budget is charged', () => {
  const requestsLeft = async (): Promise<number> => {
    for (let left = 0; ; left += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => send('/nothing', '')))
      const refused = answers.filter(({ status }) => status === 429).length
      if (refused > 0) return left + 100 - refused
    }
  }

  test('one request for each check, and one for each 100 refused items', async () => {
    for (let sent = 0; sent < 10; sent += 1) expect((await check()).status).toBe(200)
    expect((await check('{')).status).toBe(400)
    expect((await checkBatch(batchOf([validReading, 7]))).status).toBe(207)
    expect((await checkBatch(batchOf([validReading, ...Array(101).fill(7)]))).status).toBe(207)
    expect(await requestsLeft()).toBe(6_000 - 10 - 1 - 1 - 2)
  })

  test('with the whole body, and then a check gets the 429 of the budget', async () => {
    const body = batchOf([validReading]).padEnd(1_000_000)
    for (let sent = 0; sent < 4; sent += 1) expect((await checkBatch(body)).status).toBe(200)
    const before = { ...service.work }
    const refused = await check()
    expect([refused.status, refused.header('Retry-After')]).toEqual([429, '3'])
    expect(refused.body).toContain('budget for requests that store nothing')
    expect(service.work).toEqual(before)
  })

  test('before the check waits for the store', async () => {
    const waiting = Promise.withResolvers<never>()
    let asked = 0
    const ask = (): Promise<never> => {
      asked += 1
      return waiting.promise
    }
    const slow = await startService({ wrapCore: (core) => ({ ...core, keys: { ...core.keys, check: ask } }) })
    const headers = { 'X-API-Key': (await slow.createKey()).key, 'Content-Type': 'application/json' }
    const leave = new AbortController()
    const sendTo = (signal: AbortSignal | null) =>
      fetch(`${slow.url}/api/v1/ingest/batch/check`, {
        method: 'POST',
        headers,
        body: batchOf([validReading]).padEnd(1_000_000),
        signal,
      })
    const left = Array.from({ length: 4 }, () => sendTo(leave.signal).catch(() => 'left'))
    await until(() => asked === 4)
    expect((await sendTo(null)).status).toBe(429)
    leave.abort()
    expect(await Promise.all(left)).toEqual(Array(4).fill('left'))
    await slow.stop()
  })
})

describe('the page of the key', () => {
  const factOf = (page: string, term: string): string =>
    new RegExp(`<dt>${term}</dt>\\s*<dd[^>]*>(.*?)</dd>`, 's')
      .exec(page)?.[1]
      ?.replaceAll(/<[^>]+>/g, ' ')
      .trim() ?? ''

  test('shows when the key was last checked, and does not count it as used', async () => {
    const auditor = await signedIn(service, 'auditor')
    const facts = async (): Promise<readonly string[]> => {
      const { body } = await auditor.get(paths.key(keyId))
      return ['Last used', 'Last checked', 'Readings accepted'].map((term) =>
        factOf(body, term).replaceAll(/\s+/g, ' '),
      )
    }
    expect(await facts()).toEqual(['Never', 'Never since this service started', '0'])
    expect((await check('{')).status).toBe(400)
    expect(await facts()).toEqual(['Never', 'Never since this service started', '0'])
    expect((await check()).status).toBe(200)
    service.clock.advance(5 * 60_000)
    expect(await facts()).toEqual(['Never', '5 minutes ago', '0'])
    expect((await checkBatch(batchOf([validReading, 7]))).status).toBe(207)
    expect(await facts()).toEqual(['Never', 'just now', '0'])
  })
})

import { afterEach, describe, expect, test } from 'bun:test'
import { refusalLineCountersMax, refusalLineNamesMax } from '../../../src/http/http-bounds.ts'
import { noChecks, noWork } from '../../../src/http/ingest/api-call.ts'
import { apiRoutes } from '../../../src/http/ingest/api-routes.ts'
import { CostBudgets } from '../../../src/http/ingest/cost-budgets.ts'
import { LastRefusals } from '../../../src/http/ingest/last-refusals.ts'
import { RefusalLines, refusalLineMs } from '../../../src/http/ingest/refusal-lines.ts'
import { RequestFigures } from '../../../src/http/request-figures.ts'
import {
  type LoggedLine,
  type Service,
  type ServiceOptions,
  startService,
  validReading,
} from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'

let service: Service
let schedule: DrivenSchedule
const start = async (options: ServiceOptions = {}): Promise<void> => {
  schedule = drivenSchedule()
  service = await startService({ lineSchedule: schedule, ...options })
}
afterEach(() => service.stop())

const linesOf = (what: string): readonly LoggedLine[] => service.lines.filter((line) => line.what === what)
const sums = (): readonly object[] => linesOf('requests refused').map(({ facts }) => facts)

const postMany = async (count: number, post: (at: number) => Promise<Response>): Promise<void> => {
  for (let at = 0; at < count; at += 50) {
    const answers = Array.from({ length: Math.min(50, count - at) }, (_, next) => post(at + next))
    for (const answer of await Promise.all(answers)) await answer.arrayBuffer()
  }
}

describe('a line of refused requests', () => {
  test('sums 10,000 of them by code, key and address', async () => {
    await start()
    const [noisy, quiet] = [await service.createKey(), await service.createKey()]
    await postMany(9_000, () => service.post(validReading, 'wrong'))
    await postMany(600, () => service.post(validReading, null))
    await postMany(300, () => service.post('{', noisy.key))
    await postMany(100, () => service.post({ ...validReading, cellar: 'other' }, quiet.key))
    expect(sums()).toEqual([])
    await schedule.advance(refusalLineMs)
    expect(sums()).toEqual([
      {
        requests: 10_000,
        codes: { KEY_UNKNOWN: 9_000, KEY_MISSING: 600, MALFORMED_JSON: 300, CELLAR_MISMATCH: 100 },
        keys: [
          { keyId: noisy.keyId, requests: 300 },
          { keyId: quiet.keyId, requests: 100 },
        ],
        addresses: [{ address: '127.0.0.1', requests: 9_600 }],
      },
    ])
    expect(service.lines.filter(({ level }) => level !== 'debug')).toHaveLength(1)
    expect(linesOf('request refused')).toHaveLength(10_000)
  })

  test('comes one second after the first refusal', async () => {
    await start()
    await service.post(validReading, 'wrong')
    await schedule.advance(refusalLineMs - 1)
    await service.post(validReading, 'wrong')
    expect(sums()).toEqual([])
    await schedule.advance(1)
    expect(sums()).toMatchObject([{ requests: 2 }])
    await schedule.advance(10 * refusalLineMs)
    expect(sums()).toHaveLength(1)
    await service.post(validReading, null)
    await schedule.advance(refusalLineMs - 1)
    expect(sums()).toHaveLength(1)
    await schedule.advance(1)
    const addresses = [{ address: '127.0.0.1', requests: 1 }]
    expect(sums()[1]).toEqual({ requests: 1, codes: { KEY_MISSING: 1 }, keys: [], addresses })
  })

  test('is written when the service stops, if requests were refused', async () => {
    await start()
    await service.post(validReading, 'wrong')
    await service.stop()
    expect(sums()).toMatchObject([{ requests: 1 }])
    await schedule.advance(refusalLineMs)
    expect(sums()).toHaveLength(1)
    await start()
    await service.stop()
    expect(sums()).toEqual([])
  })

  test('names revoked and expired keys with the right secret', async () => {
    await start()
    const revoked = await service.createKey()
    const expired = await service.createKey({ expiresAt: service.clock.now() + 1 })
    await service.core.keys.revoke(revoked.keyId, '', { by: { kind: 'cli' }, requestId: 'test' })
    service.clock.advance(1)
    for (const { key } of [revoked, revoked, expired]) await service.post(validReading, key)
    await schedule.advance(refusalLineMs)
    expect(sums()).toEqual([
      {
        requests: 3,
        codes: { KEY_REVOKED: 2, KEY_EXPIRED: 1 },
        keys: [
          { keyId: revoked.keyId, requests: 2 },
          { keyId: expired.keyId, requests: 1 },
        ],
        addresses: [],
      },
    ])
  })

  test('uses forwarded addresses of trusted proxies only', async () => {
    for (const [trustedProxies, address] of [
      [['127.0.0.1'], '198.51.100.7'],
      [['192.0.2.1'], '127.0.0.1'],
      [[], '127.0.0.1'],
    ] as const) {
      await start({ web: { trustedProxies } })
      await service.post(validReading, 'wrong', { 'X-Forwarded-For': '203.0.113.9, 198.51.100.7' })
      // Elysia answers an unknown path itself. This refusal must be counted under the same address as the refusal above.
      await fetch(`${service.url}/api/nothing`, { headers: { 'X-Forwarded-For': '203.0.113.9, 198.51.100.7' } })
      await schedule.advance(refusalLineMs)
      expect(sums()).toMatchObject([{ addresses: [{ address, requests: 2 }] }])
      await service.stop()
    }
  })

  test('counts an IPv6 address by its /64 network', async () => {
    await start({ web: { trustedProxies: ['127.0.0.1'] } })
    for (const address of ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::2', '2001:db8:1:3::1']) {
      await service.post(validReading, 'wrong', { 'X-Forwarded-For': address })
    }
    await schedule.advance(refusalLineMs)
    const addresses = [
      { address: '2001:db8:1:2::/64', requests: 2 },
      { address: '2001:db8:1:3::/64', requests: 1 },
    ]
    expect(sums()).toMatchObject([{ addresses }])
  })

  test('contains no text of a key, body or header', async () => {
    await start({ web: { trustedProxies: ['127.0.0.1'] } })
    const { key } = await service.createKey()
    const odd = { 'X-Forwarded-For': 'fe80::1%ZONE', 'Idempotency-Key': 'IDEMPOTENT', 'User-Agent': 'AGENT' }
    await service.post({ ...validReading, rack: 'RACK\n' }, key, odd)
    await service.post({ ...validReading, rack: 'RACK' }, `${key}x`, odd)
    await schedule.advance(refusalLineMs)
    expect(sums()).toHaveLength(1)
    for (const [level, text] of service.lines.map(({ level, facts }) => [level, JSON.stringify(facts)] as const)) {
      expect([level, text]).toEqual([level, expect.not.stringMatching(/RACK|ZONE|IDEMPOTENT|AGENT|clr_/)])
    }
  })
})

describe('RefusalLines', () => {
  const written = (): { readonly lines: RefusalLines; readonly facts: object[] } => {
    const facts: object[] = []
    const sink = { debug: () => {}, info: (_: string, sum: object) => facts.push(sum), warn: () => {}, error: () => {} }
    return { lines: new RefusalLines(sink, schedule), facts }
  }
  const wrong = { requestId: 'r', status: 401, code: 'KEY_UNKNOWN', keyId: null }

  test('bounds its counters, and names the most frequent keys and addresses', async () => {
    await start()
    const { lines, facts } = written()
    for (let at = 0; at < 100_000; at += 1) {
      lines.note({ ...wrong, address: `2001:db8:${(at >> 16).toString(16)}:${(at & 0xffff).toString(16)}::1` })
      lines.note({ ...wrong, keyId: `key-${at}` })
      if (at % 10 === 0) lines.note({ ...wrong, address: '192.0.2.1' })
      expect(lines.counters).toBeLessThanOrEqual(2 * refusalLineCountersMax)
    }
    await schedule.advance(refusalLineMs)
    const [sum] = facts
    expect(sum).toMatchObject({ requests: 210_000, codes: { KEY_UNKNOWN: 210_000 } })
    const [most] = Object(sum).addresses
    expect(most).toMatchObject({ address: '192.0.2.1' })
    // 110,000 requests without a valid key are counted by address, but there are fewer counters than addresses. So a count may
    // be too low by 110,000 / (`refusalLineCountersMax` + 1), but never too high.
    expect(most.requests).toBeGreaterThanOrEqual(10_000 - 110_000 / (refusalLineCountersMax + 1))
    expect(most.requests).toBeLessThanOrEqual(10_000)
    expect(lines.counters).toBe(0)
  })

  test('counts exactly until all counters are in use', async () => {
    await start()
    const { lines, facts } = written()
    for (const addresses of [refusalLineCountersMax, refusalLineCountersMax + 1]) {
      for (let at = 0; at < addresses; at += 1) lines.note({ ...wrong, address: `192.0.2.${at}` })
      expect(lines.counters).toBe(addresses <= refusalLineCountersMax ? refusalLineCountersMax : 0)
      await schedule.advance(refusalLineMs)
    }
    expect(facts).toMatchObject([{ requests: refusalLineCountersMax }, { requests: refusalLineCountersMax + 1 }])
  })

  test('names a bounded number of keys and addresses', async () => {
    await start()
    const { lines, facts } = written()
    for (const names of [refusalLineNamesMax, refusalLineNamesMax + 1]) {
      for (let at = 0; at < names; at += 1) {
        lines.note({ ...wrong, address: `192.0.2.${at}` })
        lines.note({ ...wrong, keyId: `key-${at}` })
      }
      await schedule.advance(refusalLineMs)
      const { keys, addresses } = Object(facts.at(-1))
      expect([keys.length, addresses.length]).toEqual([refusalLineNamesMax, refusalLineNamesMax])
    }
  })

  test('names the address of a disconnected peer `unknown`', async () => {
    await start()
    const { lines, facts } = written()
    lines.note({ ...wrong, address: '' })
    lines.close()
    expect(facts).toMatchObject([{ addresses: [{ address: 'unknown', requests: 1 }] }])
  })
})

test('only a refused request without a valid key asks for the address', async () => {
  await start()
  const { key } = await service.createKey()
  let asked = 0
  const addressOf = (): string => {
    asked += 1
    return '192.0.2.1'
  }
  const lines = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const routes = apiRoutes({
    core: service.core,
    lastRefusals: new LastRefusals(),
    lastChecks: noChecks(),
    costBudgets: new CostBudgets(),
    work: noWork(),
    requests: new RequestFigures(),
    bodies: service.bodies,
    lines,
    refusalLines: new RefusalLines(lines, schedule),
    addressOf,
  })
  const post = async (text: string, body: string): Promise<number> => {
    const headers = { 'X-API-Key': text, 'Content-Type': 'application/json' }
    return (await routes.handle(new Request(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body }))).status
  }
  expect(await post(key, JSON.stringify(validReading))).toBe(200)
  expect(await post(key, '{')).toBe(400)
  expect(asked).toBe(0)
  expect(await post('wrong', '{')).toBe(401)
  expect(asked).toBe(1)
})

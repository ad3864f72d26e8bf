import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { EventData } from '../../../src/domain/events.ts'
import { summariesSearchedMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

let log: EventLog
let service: Service
let auditor: Visitor
let keyId: string
let refusedAt = 0

const idAt = (atMs: number, end: string): string => {
  const hex = atMs.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${end.padStart(12, '0')}`
}

const summary = (): EventData<'ReadingsRefused'> => ({
  from: refusedAt,
  to: refusedAt + 9_000,
  counts: [{ code: 'RATE_LIMITED', count: 14 }],
  samples: [
    {
      requestId: idAt(refusedAt, '1'),
      atMs: refusedAt,
      code: 'RATE_LIMITED',
      field: null,
      rule: 'readings',
      rack: 'rack-17',
      keg: 'temperature',
    },
    {
      requestId: idAt(refusedAt, '2'),
      atMs: refusedAt,
      code: 'INVALID_NAME',
      field: 'rack',
      rule: 'blank',
      rack: null,
      keg: null,
    },
  ],
})

beforeAll(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  service = await startWithOperators({ log, clock, wrapCore: withAsk() })
  const created = await service.createKey({ label: 'Press, south' })
  keyId = created.keyId
  clock.advance(60_000)
  await service.core.keys.setLimit(keyId, { readings: 2, windowMs: 60_000 }, testAsker)
  clock.advance(9_000)
  for (const _ of [1, 2]) expect((await service.post(validReading, created.key)).status).toBe(200)
  refusedAt = clock.now()
  clock.advance(10_000)
  const metadata = { by: { kind: 'system' as const }, requestId: 'r', correlationId: 'r', causationId: 'r' }
  const event = { id: idAt(clock.now(), 'e'), recordedAt: clock.now(), metadata }
  await log.append(`refusals-${keyId}`, 'none', [{ ...event, type: 'ReadingsRefused', data: summary() }])
  await service.core.keys.setLimit(keyId, { readings: 99, windowMs: 60_000 }, testAsker)
  await service.core.keys.relabel(keyId, { label: 'Renamed since then', note: '' }, testAsker)
  auditor = await signedIn(service, 'auditor')
})
afterAll(async () => {
  await service.stop()
  await log.close()
})

describe('the explanation of a refused request', () => {
  test('says what was wrong, and the key’s state, limit and use then', async () => {
    const { status, body } = await auditor.get(paths.refusedRequest(idAt(refusedAt, '1')))
    expect(status).toBe(200)
    for (const words of [
      '429 RATE_LIMITED',
      'active</span></span> since <time',
      '<dd><span>2 readings in 60 seconds',
      '2 used by then',
      'rack-17',
    ]) {
      expect(body).toContain(words)
    }
    expect(body).toContain(`href="${paths.event(`key-${keyId}`, 1)}"`)
    expect([body.includes('Press, south'), body.includes('Renamed since then')]).toEqual([true, false])
  })

  test('names the rule that a field broke', async () => {
    const { body } = await auditor.get(paths.refusedRequest(idAt(refusedAt, '2')))
    expect(body).toContain('rack must not be blank')
    expect(body).toContain('400 INVALID_NAME')
  })

  test('offers the summaries of that time if the request is no sample', async () => {
    const { status, body } = await auditor.get(paths.refusedRequest(idAt(refusedAt + 3_000, '9')))
    expect(status).toBe(200)
    expect(body).toContain('If it was refused, this summary counts it')
    expect(body).toContain('or it was a check, a repeat')
    expect(body).not.toContain('probably refused')
    expect(body).toContain(`href="${paths.event(`refusals-${keyId}`, 0)}"`)
  })

  test('says so if no summary is about that time', async () => {
    const { body } = await auditor.get(paths.refusedRequest(idAt(refusedAt + 3_600_000, '9')))
    expect(body).toContain('No summary of refusals is about this time.')
    expect(body).toContain('That is in the future: a clock was ahead, or the id is wrong.')
  })

  test('does not say that a request with an event stored none', async () => {
    const events = await log.read(`readings-${keyId}`, { limit: 10 })
    const reading = events.find(({ type }) => type === 'ReadingAccepted')
    const { body } = await auditor.get(paths.refusedRequest(reading?.metadata.requestId ?? ''))
    expect(body).toContain('If it stored no event')
    expect(body).not.toContain('It stored no event')
    expect(body).not.toContain('in the future')
  })

  test('says what an id looks like if the text is none', async () => {
    const { status, body } = await auditor.get(paths.refusedRequest('nonsense'))
    expect(status).toBe(404)
    expect(body).toContain('X-Request-Id')
  })

  test('is where the box leads from the id of a request that stored nothing', async () => {
    const id = idAt(refusedAt, '1')
    const { location } = await auditor.get(`${paths.findInLog}?what=${id}`)
    expect(location).toBe(paths.refusedRequest(id))
  })

  test('is linked from the list and from the page of the summary', async () => {
    const href = `href="${paths.refusedRequest(idAt(refusedAt, '1'))}"`
    expect((await auditor.get(paths.log({ kind: 'refusals' }))).body).toContain(href)
    expect((await auditor.get(paths.event(`refusals-${keyId}`, 0))).body).toContain(href)
  })
})

describe('refusals where they help', () => {
  test('are on the cellar’s page: today’s, by key and reason', async () => {
    const { body } = await auditor.get(paths.cellar(testCellar))
    expect(body).toContain('Refused today')
    expect(body).toContain('over the limit')
    expect(body).toContain('>14</td>')
  })

  test('are on the key’s page: its last ones', async () => {
    const { body } = await auditor.get(paths.key(keyId))
    expect(body).toContain('Last refusals')
    expect(body).toContain(`href="${paths.refusedRequest(idAt(refusedAt, '1'))}"`)
  })
})

describe('the search for a refused request', () => {
  test('stops behind very many summaries, and offers to go on', async () => {
    const laterAt = refusedAt + 7_200_000
    const id = idAt(laterAt, '3')
    const metadata = { by: { kind: 'system' as const }, requestId: 'r', correlationId: 'r', causationId: 'r' }
    const event = { recordedAt: laterAt + 1, type: 'ReadingsRefused' as const, metadata }
    const data = { ...summary(), from: laterAt, to: laterAt }
    const [sample] = data.samples
    if (sample === undefined) throw new Error('Cannot test: the summary has no sample')
    const others = Array.from({ length: summariesSearchedMax }, (_, index) => ({
      ...event,
      id: idAt(laterAt, `f${index}`),
      data: { ...data, samples: [] },
    }))
    const last = { ...event, id: idAt(laterAt, 'e'), data: { ...data, samples: [{ ...sample, requestId: id }] } }
    await log.append('refusals-node', 'none', [...others, last])
    const first = await auditor.get(paths.refusedRequest(id))
    const next = /href="([^"]*after=\d+)">Go on searching/.exec(first.body)?.[1] ?? ''
    expect(next).toStartWith(paths.refusedRequest(id))
    expect((await auditor.get(next)).body).toContain('429 RATE_LIMITED')
  })
})

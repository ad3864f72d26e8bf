import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../../../src/domain/stream-names.ts'
import { eventView } from '../../../../src/export/event-view.ts'
import { logReadPageEvents } from '../../../../src/limits.ts'
import type { EventLog } from '../../../../src/log/event-log.ts'
import type { LogQuery } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { withAsk } from '../log-world.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let log: EventLog
let service: Service
const minutesAsked: number[] = []
let auditor: Visitor
let keyId: string
const farCellar = 'wine-far'

beforeAll(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  const wrapCore = withAsk(undefined, (ask) => ({
    positionOfMinute: (minute) => {
      minutesAsked.push(minute)
      return ask.positionOfMinute(minute)
    },
  }))
  service = await startWithOperators({ log, clock, isDerived: false, wrapCore })
  const own = await service.createKey({ label: 'Press, south' })
  const far = await service.createKey({ cellar: farCellar })
  keyId = own.keyId
  for (let minute = 0; minute < 5; minute += 1) {
    await service.post(validReading, own.key)
    await service.post({ ...validReading, cellar: farCellar }, far.key)
    clock.advance(60_000)
  }
  await service.core.keys.suspend(keyId, 'left on a bus', testAsker)
  await service.core.keys.resume(keyId, 'found', testAsker)
  await service.untilFolded(keyId, 5)
  auditor = await signedIn(service, 'auditor')
})
afterAll(async () => {
  await service.stop()
  await log.close()
})

/** The hidden fields of the form that the page shows. */
const formOf = (html: string): Readonly<Record<string, string>> => {
  const form = /<form method="post" action="\/exports".*?<\/form>/s.exec(html)?.[0] ?? ''
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  return Object.fromEntries(fields.map(([, name, value]) => [name ?? '', value ?? '']))
}

const ofKey = ({ stream }: RecordedEvent): boolean => stream === keyStream(keyId) || stream === readingsStream(keyId)
const isReading = ({ type }: RecordedEvent): boolean => type === 'ReadingAccepted'
const middle = Date.parse('2026-03-01T12:02:00Z')

test.each<[string, () => Partial<LogQuery>, (event: RecordedEvent) => boolean]>([
  ['everything, with the readings that minutes count', () => ({}), () => true],
  ['a key, without its readings', () => ({ key: keyId }), (event) => ofKey(event) && !isReading(event)],
  ['the readings of a key', () => ({ key: keyId, kind: 'readings' }), (event) => ofKey(event) && isReading(event)],
  [
    'the readings that a key sent',
    () => ({ actor: `clr_${keyId}`, kind: 'readings' }),
    (event) => ofKey(event) && isReading(event),
  ],
  ['a kind', () => ({ kind: 'keys' }), ({ stream, type }) => stream.startsWith('key-') || /Sealed|Fenced/.test(type)],
  ['a person', () => ({ actor: emailOf.auditor }), ({ metadata: { by } }) => by.kind === 'operator'],
  ['a type', () => ({ type: 'KeySuspended' }), ({ type }) => type === 'KeySuspended'],
  [
    'the readings of a cellar from an instant on',
    () => ({ cellar: farCellar, kind: 'readings', from: '2026-03-01T12:02:00Z' }),
    (event) => event.type === 'ReadingAccepted' && event.data.cellar === farCellar && event.recordedAt >= middle,
  ],
  ['all up to an instant', () => ({ to: '2026-03-01T12:02:00Z' }), ({ recordedAt }) => recordedAt < middle],
])('the export of the Log page has what its list shows: %s', async (_, query, isWanted) => {
  const page = await auditor.get(paths.log(query()))
  const stored = (await log.readAll({ limit: 1_000 })).filter(isWanted)
  const form = formOf(page.body)
  const { status, body } = await auditor.post('/exports', { ...form, format: 'ndjson' })
  expect([page.status, status, stored.length > 0]).toEqual([200, 200, true])
  // The export itself is an event, too.
  const lines = body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type !== 'LogExported')
  const others = stored.filter(({ type }) => type !== 'LogExported')
  const more = form['list'] === 'readings' ? { unit: null } : {}
  expect(lines).toEqual(others.map((event) => JSON.parse(JSON.stringify({ ...eventView(event), ...more }))))
  const shown = [...page.body.matchAll(/<tr id="event-(\d+)"/g)].map(([, position]) => Number(position)).toReversed()
  const hasMinutes = page.body.includes('<tr id="minute-')
  const events = stored.filter((event) => !hasMinutes || !isReading(event))
  expect(shown).toEqual(events.map(({ position }) => position))
})

test.each<[string, () => Record<string, string>]>([
  ['of a person', () => ({ actor: emailOf.auditor })],
  ['of a kind', () => ({ kind: 'keys' })],
  ['of a key without its readings', () => ({ key: keyId, readings: 'no' })],
])('the export %s does not read the readings between its events', async (_, fields) => {
  using readAll = spyOn(log, 'readAll')
  using read = spyOn(log, 'read')
  const { body } = await auditor.post('/exports', { list: 'events', ...fields() })
  expect(body).not.toBe('')
  expect(readAll.mock.calls.filter(([{ limit }]) => limit === logReadPageEvents)).toEqual([])
  // A seal is one event, and is read at its place.
  const ofReadings = read.mock.calls.filter(([stream]) => stream === readingsStream(keyId))
  expect(ofReadings.filter(([, { limit }]) => limit !== 1)).toEqual([])
})

test('an export since an instant begins at a minute of ask.db', async () => {
  minutesAsked.length = 0
  const { body } = await auditor.post('/exports', { list: 'readings', since: '2026-03-01T12:03:00Z' })
  expect(body.split('\n')).toHaveLength(5)
  expect(minutesAsked).toContain(middle / 60_000 + 1)
})

test('the Log page offers no export while a filter is wrong', async () => {
  const { body } = await auditor.get(paths.log({ cellar: 'no-such-cellar' }))
  expect(body).not.toContain('action="/exports"')
})

test('an export refuses a wrong choice about readings', async () => {
  const { status, body } = await auditor.post('/exports', { list: 'events', readings: 'maybe', cellar: testCellar })
  expect(status).toBe(422)
  expect(body).toContain('It must be blank or')
})

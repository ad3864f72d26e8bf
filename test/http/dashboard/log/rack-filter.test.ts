import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { keyIdOf, keyStream } from '../../../../src/domain/stream-names.ts'
import { rackKeysMax } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let auditor: Visitor
let events: readonly RecordedEvent[]
let own: string
let replaced: string
let other: string
let isModelAway = false
let areKeysForgotten = false
const clock = manualClock()
const rack = 'Hall 7, left'
const otherCellar = 'wine-far'

beforeAll(async () => {
  const wrapCore = (core: Core): Core => {
    const ask: Core['questions']['ask'] = async (name, ...question) => {
      if (isModelAway && name === 'keysOfRack') return { kind: 'not_ready' }
      const told = await core.questions.ask(name, ...question)
      if (areKeysForgotten && name === 'keysOfRack' && told.kind === 'answered' && Array.isArray(told.answer))
        told.answer.splice(0)
      return told
    }
    return { ...core, questions: { ...core.questions, ask } }
  }
  service = await startWithOperators({ clock, wrapCore })
  const send = async (key: string, reading: Partial<typeof validReading> = {}): Promise<void> => {
    clock.advance(60_000)
    const timestamp = new Date(clock.now()).toISOString()
    expect((await service.post({ ...validReading, rack, timestamp, ...reading }, key)).status).toBe(200)
  }
  const old = await service.createKey({ label: 'Press' })
  await send(old.key)
  const next = await service.core.keys.rotate(old.keyId, { overlapMs: 0 }, testAsker)
  if (!next.ok) throw new Error('Cannot rotate the key')
  await send(next.value.key)
  await send(next.value.key, { rack: 'rack-1' })
  const third = await service.createKey({ label: 'Elsewhere' })
  await send(third.key, { rack: 'rack-1', keg: 'humidity' })
  const far = await service.createKey({ cellar: otherCellar })
  await send(far.key, { cellar: otherCellar })
  ;[own, replaced, other] = [next.value.state.keyId, old.keyId, third.keyId]
  for (const { key } of [next.value, third])
    expect((await service.post({ ...validReading, value: 'much' }, key)).status).toBe(400)
  for (const keyId of [own, other]) await service.core.keys.suspend(keyId, 'left on a bus', testAsker)
  await service.untilFolded(far.keyId, 1)
  events = await service.log.readAll({ limit: 1_000 })
  auditor = await signedIn(service, 'auditor')
})
afterAll(() => service.stop())

const shown = (html: string): readonly number[] =>
  [...html.matchAll(/<tr id="event-(\d+)"/g)].map(([, position]) => Number(position)).toReversed()

const positions = (isWanted: (event: RecordedEvent) => boolean): readonly number[] =>
  events.filter(isWanted).map(({ position }) => position)

const isReading = ({ type, data }: RecordedEvent): boolean =>
  type === 'ReadingAccepted' && data.rack === rack && data.cellar === testCellar
const isOfKeys = ({ stream, type }: RecordedEvent): boolean =>
  [own, replaced].includes(keyIdOf(stream)) && type !== 'ReadingAccepted'

const listed = async (query: Parameters<typeof paths.log>[0]) =>
  (await auditor.get(paths.log({ cellar: testCellar, rack, ...query }))).body

test('the list of a rack has its readings and all events of its keys', async () => {
  const body = await listed({})
  const wanted = positions((event) => isReading(event) || isOfKeys(event))
  expect(shown(body)).toEqual(wanted)
  expect(wanted.length).toBeGreaterThan(5)
  expect(body).toContain('Readings of this rack, and all events of the 2 keys that sent for it.')
  expect(body).toContain(`value="${rack}"`)
})

test('the list of a rack has the unwritten refusals of its keys alone', async () => {
  const body = await listed({ kind: 'refusals' })
  expect([own, other].map((keyId) => body.includes(`<tr id="unwritten-refusals-${keyId}`))).toEqual([true, false])
})

test('the kind narrows the list of a rack down', async () => {
  expect(shown(await listed({ kind: 'readings' }))).toEqual(positions(isReading))
  const changes = await listed({ kind: 'keys' })
  expect(shown(changes)).toEqual(
    positions((event) => isOfKeys(event) && event.stream === keyStream(keyIdOf(event.stream))),
  )
  expect(changes).toContain('Events of the 2 keys that sent for it.')
  expect(shown(await listed({ rack: 'rack-1', key: other, kind: 'readings' }))).toHaveLength(1)
  expect(shown(await listed({ rack: 'no such rack' }))).toEqual([])
})

test('without its keys, the list of a rack has the readings of the log', async () => {
  isModelAway = true
  const body = await listed({})
  const exported = await exportOf({ rack })
  isModelAway = false
  expect(shown(body)).toEqual(positions(isReading))
  expect(body).toContain('This node cannot say now which keys sent for it')
  expect([exported.status, exported.body.includes('cannot say now which keys sent')]).toEqual([422, true])
})

test('a rack whose keys are forgotten has the readings of the log', async () => {
  areKeysForgotten = true
  for (const kind of [null, 'readings'] as const) {
    const body = await listed({ kind })
    expect(shown(body)).toEqual(positions(isReading))
    expect(body).toContain('No key that sent for it is known now.')
  }
  areKeysForgotten = false
})

const exportOf = (fields: Record<string, string>) =>
  auditor.post(paths.exports, { list: 'events', format: 'ndjson', cellar: testCellar, ...fields })

test('a rack needs its cellar', async () => {
  const { status, body } = await auditor.get(paths.log({ rack }))
  expect([status, body.includes('Say which cellar the rack is in.')]).toEqual([422, true])
})

test.each([
  ['rack:rack-1', { rack: 'rack-1' }],
  [`rack:"${rack}"`, null],
  ['rack:hall 7', null],
  ['rack:RACK-1 2026-03-01', { rack: 'rack-1', from: '2026-03-01', to: '2026-03-02' }],
])('the box leads from %s to the lists of racks', async (typed, query) => {
  const { location, body } = await auditor.get(paths.found(typed))
  if (query !== null) expect(location).toBe(paths.log({ cellar: testCellar, ...query }))
  else
    for (const cellar of [testCellar, otherCellar])
      expect(body).toContain(paths.log({ cellar, rack }).replaceAll('&', '&amp;'))
})

test('an export has what the list of a rack shows', async () => {
  for (const kind of [null, 'readings', 'keys'] as const) {
    const page = await listed({ kind })
    const form = /<form method="post" action="\/exports".*?<\/form>/s.exec(page)?.[0] ?? ''
    const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    const filled = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
    const { status, body } = await auditor.post('/exports', { ...filled, format: 'ndjson' })
    const exported = body.split('\n').slice(0, -1)
    expect([status, exported.map((line) => Number(JSON.parse(line).position))]).toEqual([200, [...shown(page)]])
  }
  const [begun] = (await service.log.read('exports-log', { limit: 1 })) ?? []
  expect(begun?.type === 'LogExported' && begun.data.filter).toMatchObject({ cellar: testCellar, rack })
})

test('an export of events refuses a rack with more keys than its list includes', async () => {
  const crowded = 'crowded'
  const sent = async (label: string): Promise<string> => {
    const { key, keyId } = await service.createKey({ label })
    expect((await service.post({ ...validReading, rack: crowded }, key)).status).toBe(200)
    await service.untilFolded(keyId, 1)
    return keyId
  }
  for (let number = 0; number < rackKeysMax; number += 1) await sent(`Press ${number}`)
  expect((await exportOf({ rack: crowded })).status).toBe(200)
  const key = await sent('one more')
  const { status, body } = await exportOf({ rack: crowded })
  expect([status, body.includes('More than 16 keys sent for this rack.')]).toEqual([422, true])
  const ofKey = await exportOf({ rack: crowded, key })
  expect([ofKey.status, ofKey.body.includes(`"stream":"key-${key}"`)]).toEqual([200, true])
})

import { afterAll, beforeAll, expect, type Mock, spyOn, test } from 'bun:test'
import type { EventLog } from '../../../../src/log/event-log.ts'
import { paths } from '../../../../views/paths.ts'
import { type DerivedHere, derivedHere } from '../../../support/derived/derived-here.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { type Service, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let log: EventLog
let derived: DerivedHere
let service: Service
let auditor: Visitor
let upTo: Mock<DerivedHere['store']['upTo']>

beforeAll(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  derived = derivedHere(log, { clock })
  service = await startWithOperators({ log, derived, clock })
  const { key, keyId } = await service.createKey()
  await service.post(validReading, key)
  await service.untilFolded(keyId, 1)
  await derived.whole()
  auditor = await signedIn(service, 'auditor')
  upTo = spyOn(derived.store, 'upTo')
})
afterAll(async () => {
  upTo.mockRestore()
  await service.stop()
  derived.folder.remove()
  await log.close()
})

test.each([
  ['the Log page', paths.log(), 'The newest readings are not counted by minute yet.'],
  ['readings by minute', paths.log({ kind: 'readings' }), 'The newest readings are not counted by minute yet.'],
  [
    'the list of a rack',
    paths.log({ cellar: testCellar, rack: validReading.rack, kind: 'readings' }),
    'This node cannot say now which keys sent for it',
  ],
  ['refusals of today', paths.cellar(testCellar), 'Not all refusals are counted yet.'],
])('%s says if its model did not get the newest events in time', async (_, path, words) => {
  upTo.mockResolvedValue(true)
  expect((await auditor.get(path)).body).not.toContain(words)
  upTo.mockResolvedValue(false)
  expect((await auditor.get(path)).body).toContain(words)
})

test('the page of a keg is no 404 while its model is behind', async () => {
  const page = () => auditor.get(paths.keg(testCellar, validReading.rack, 'no such keg'))
  upTo.mockResolvedValue(true)
  expect((await page()).status).toBe(404)
  upTo.mockResolvedValue(false)
  const { status, body } = await page()
  expect([status, body.includes('The readings are being sorted in.')]).toEqual([200, true])
})

test('the box does not say that an id is unknown while the index is built', async () => {
  const find = async () => (await auditor.get(paths.found('0b8f4a52-3c1d-4e6f-8a9b-0c1d2e3f4a5b'))).body
  upTo.mockResolvedValue(true)
  expect(await find()).toContain('no event has this id')
  upTo.mockResolvedValue(false)
  expect(await find()).toContain('ask.db has no events after position')
})

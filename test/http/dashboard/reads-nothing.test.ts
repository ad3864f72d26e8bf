import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keyLimitDefault } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { paths } from '../../../views/paths.ts'
import { type DerivedHere, derivedHere } from '../../support/derived/derived-here.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { type Service, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

let log: EventLog
let derived: DerivedHere
let service: Service
let auditor: Visitor
let keyId: string
let readingId: string
const reads: string[] = []
const at = '2026-03-01T12:00:00Z'

/** The node's own log notes each read. Questions read the log beside it, as the thread for questions does. */
beforeAll(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  derived = derivedHere(log, { clock })
  const watched: EventLog = {
    ...passingLog(log),
    read: (stream, options) => {
      reads.push(stream)
      return log.read(stream, options)
    },
    readAll: (options) => {
      reads.push('the whole log')
      return log.readAll(options)
    },
  }
  service = await startWithOperators({ log: watched, derived, clock })
  const created = await service.createKey({ label: 'Press' })
  keyId = created.keyId
  await service.post(validReading, created.key)
  await service.untilFolded(keyId, 1)
  const [reading] = await log.read(`readings-${keyId}`, { limit: 1 })
  readingId = reading?.metadata.requestId ?? ''
  // Later, the page of a key counts no reading of its rate window. Its actor would read the readings for that.
  clock.advance(2 * keyLimitDefault.windowMs)
  auditor = await signedIn(service, 'auditor')
})
afterAll(async () => {
  await service.stop()
  derived.folder.remove()
  await log.close()
})

test.each<[string, () => string]>([
  ['a list of events', () => paths.log()],
  ['a list of the events of a key', () => paths.log({ key: keyId })],
  ['a list around an instant', () => paths.log({ at })],
  ['an event', () => paths.event(`key-${keyId}`, 0)],
  ['an event that does not exist', () => paths.event(`key-${keyId}`, 99)],
  ['a key', () => paths.key(keyId)],
  ['a key at an instant', () => paths.keyAt(keyId, at)],
  ['the keys of a cellar at an instant', () => paths.cellarThen(testCellar, at)],
  ['the readings of a cellar', () => paths.cellar(testCellar)],
  ['a receipt in the box', () => paths.found(`readings-${keyId}@0`)],
  ['a position in the box', () => paths.found('3')],
  ['the id of a reading in the box', () => paths.found(readingId)],
  ['a part of a name in the box', () => paths.found('pre')],
  ['a request that was not refused', () => paths.refusedRequest(readingId)],
  ['the own account', () => paths.account],
])('the page of %s reads nothing on the event loop', async (_, path) => {
  reads.length = 0
  const { status } = await auditor.get(path())
  expect([200, 303, 404]).toContain(status)
  expect(reads).toEqual([])
})

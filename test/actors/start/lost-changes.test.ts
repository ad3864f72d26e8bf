import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LostChanges } from '../../../src/actors/start/lost-changes.ts'
import { dayMs } from '../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { keyStream } from '../../../src/domain/stream-names.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

type Made = { readonly key: string; readonly keyId: string }

const clock = manualClock()
let folder: TemporaryFolder
let logId: string
let older: readonly RecordedEvent[]
let alone: Made
let relabelled: Made
let revoked: Made
const told: LostChanges[] = []

/** A log that has only the older events. */
const olderLog = async (): Promise<EventLog> => {
  const log = createMemoryLog()
  for (const { stream, revision, position: _, ...event } of older) {
    await log.append(stream, revision === 0 ? 'none' : revision - 1, [event])
  }
  return log
}

const derivedIn = (log: EventLog, name: string) =>
  derivedHere(log, { clock, logId, folder: { path: join(folder.path, name), remove: () => {} } })

const start = (log: EventLog, name: string): Promise<Service> => {
  const onLostChanges = (lost: LostChanges): void => void told.push(lost)
  return startService({ log, clock, derived: derivedIn(log, name), onBugs: { onLostChanges } })
}

beforeAll(async () => {
  folder = temporaryFolder()
  mkdirSync(join(folder.path, 'made'))
  const log = createMemoryLog()
  logId = await ensureLogCreated(log, clock, seededEntropy(99))
  const derived = derivedIn(log, 'made')
  const { core, createKey, stop } = await startService({ log, clock, derived })
  ;[alone, relabelled, revoked] = [await createKey(), await createKey(), await createKey()]
  older = await log.readAll({ limit: 100 })
  await core.keys.relabel(relabelled.keyId, { label: 'new' }, testAsker)
  await core.keys.revoke(revoked.keyId, 'stolen', testAsker)
  await core.cellars.changePolicy(testCellar, { retentionMs: 90 * dayMs }, testAsker)
  await derived.whole()
  await stop()
})
afterAll(() => folder.remove())

const copyOfModels = (name: string): void => {
  cpSync(join(folder.path, 'made'), join(folder.path, name), { recursive: true })
}

const suspendedIn = ({ core }: Service): readonly string[] =>
  core.projections.keys
    .list()
    .flatMap(({ keyId, suspended }) => (suspended === null ? [] : [keyId]))
    .toSorted()

const changed = (): readonly string[] => [relabelled.keyId, revoked.keyId].toSorted()

test('a start suspends the keys with lost changes', async () => {
  copyOfModels('one')
  const service = await start(await olderLog(), 'one')
  const [lost] = told.splice(0)
  expect(lost).toMatchObject({ cellars: [testCellar], operators: 0 })
  expect([lost?.keyIds.toSorted(), suspendedIn(service)]).toEqual([changed(), changed()])
  expect((await service.post(validReading, alone.key)).status).toBe(200)
  await service.stop()
})

test('a start that cannot suspend such a key fails, and the next one can', async () => {
  copyOfModels('two')
  const log = await olderLog()
  const stream = keyStream(revoked.keyId)
  const failing: EventLog = {
    ...passingLog(log),
    append: (to, ...rest) =>
      to === stream ? Promise.reject(new Outage('Full', 'not_written', 'full')) : log.append(to, ...rest),
  }
  await expect(start(failing, 'two')).rejects.toThrow('Cannot suspend the key')
  expect(told.splice(0)).toEqual([])
  const service = await start(log, 'two')
  expect(suspendedIn(service)).toEqual(changed())
  await service.stop()
})

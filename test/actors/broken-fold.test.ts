import { expect, test } from 'bun:test'
import { openCore } from '../../src/actors/open-core.ts'
import { checkpointEventsMin, checkpointLookMs, checkpointLooksMax } from '../../src/limits.ts'
import { type EventLog, Outage } from '../../src/log/event-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { MemoryCheckpoints } from '../support/logs/memory-checkpoints.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'
import { asker, Cluster, makeTestKey } from '../support/two-nodes.ts'

test('a node whose fold fails says so once, accepts nothing more, and writes no checkpoint', async () => {
  const cluster = new Cluster()
  await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
  const other = await cluster.open()
  const keyId = await makeTestKey(other)
  const log = losingSuspensions(cluster.log)
  const told: unknown[] = []
  const store = new MemoryCheckpoints()
  const schedule = drivenSchedule()
  const broken = await openCore({
    log,
    clock: cluster.clock,
    entropy: seededEntropy(9),
    schedule,
    checkpoints: { store },
    onBug: () => {},
    onBroken: (bug) => told.push(bug),
  })
  await other.post(keyId, checkpointEventsMin)
  await other.schedule.until(other.core.keys.suspend(keyId, 'cleaning', asker))
  expect(told).toEqual([])
  // This check waits for the log for ever. It must not wait longer than the node works.
  log.read = () => Promise.withResolvers<never>().promise
  const checked = broken.keys.check(keyId, 1)
  await schedule.quiet()
  await other.schedule.until(other.core.keys.resume(keyId, '', asker))
  await other.schedule.until(other.core.keys.suspend(keyId, 'again', asker))
  expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining('Cannot fold revision 2') })])
  expect(await checked).toMatchObject({ ok: false, refusal: { kind: 'store_unavailable' } })
  const reading = { cellar: 'wine-berlin', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  expect(await broken.keys.accept(keyId, reading, cluster.newId())).toMatchObject({ ok: false })
  await schedule.until(broken.drain())
  expect(store.writes).toBe(0)
})

test('a node whose start fails leaves no timer that writes a checkpoint', async () => {
  const cluster = new Cluster()
  await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
  const other = await cluster.open()
  await other.post(await makeTestKey(other), checkpointEventsMin)
  const store = new MemoryCheckpoints()
  const schedule = drivenSchedule()
  const { clock } = cluster
  const parts = {
    log: droppingAtTheEnd(cluster.log),
    clock,
    entropy: seededEntropy(9),
    schedule,
    checkpoints: { store },
  }
  expect(await openCore(parts).catch((cause: unknown) => cause)).toBeInstanceOf(Outage)
  await schedule.advance(checkpointLookMs * (checkpointLooksMax + 1))
  expect(store.writes).toBe(0)
})

const droppingAtTheEnd = (log: EventLog): EventLog => ({
  ...passingLog(log),
  subscribe: (options, subscriber) =>
    log.subscribe(options, {
      ...subscriber,
      onCaughtUp: () => subscriber.onDropped?.(new Outage('The test drops it', 'not_written', 'unavailable')),
    }),
})

const losingSuspensions = (log: EventLog): EventLog => ({
  ...passingLog(log),
  subscribe: (options, subscriber) =>
    log.subscribe(options, {
      ...subscriber,
      onEvents: (events) => subscriber.onEvents(events.filter(({ type }) => type !== 'KeySuspended')),
    }),
})

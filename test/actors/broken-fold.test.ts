import { expect, test } from 'bun:test'
import { openCore } from '../../src/actors/open-core.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'
import { asker, Cluster, makeTestKey } from '../support/two-nodes.ts'

test('a node whose fold fails says so once, and accepts nothing more', async () => {
  const cluster = new Cluster()
  await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
  const other = await cluster.open()
  const keyId = await makeTestKey(other)
  const log = losingSuspensions(cluster.log)
  const told: unknown[] = []
  const schedule = drivenSchedule()
  const broken = await openCore({
    log,
    clock: cluster.clock,
    entropy: seededEntropy(9),
    schedule,
    onBug: () => {},
    onBroken: (bug) => told.push(bug),
  })
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
})

const losingSuspensions = (log: EventLog): EventLog => ({
  ...passingLog(log),
  subscribe: (options, subscriber) =>
    log.subscribe(options, {
      ...subscriber,
      onEvents: (events) => subscriber.onEvents(events.filter(({ type }) => type !== 'KeySuspended')),
    }),
})

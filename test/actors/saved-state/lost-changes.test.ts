import { beforeAll, expect, test } from 'bun:test'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import type { LostChanges } from '../../../src/actors/saved-state/lost-changes.ts'
import { dayMs } from '../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { keyStream } from '../../../src/domain/stream-names.ts'
import { checkpointEventsMin } from '../../../src/limits.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { asker, cellar, reading } from '../../support/two-nodes.ts'

const clock = manualClock()
const schedule = drivenSchedule()
const store = new MemoryCheckpoints()
let seeds = 0
const told: (LostChanges | 'discarded')[] = []

const open = (log: EventLog): Promise<OpenCore> => {
  seeds += 1
  const discard = (): Promise<void> => {
    told.push('discarded')
    return Promise.resolve()
  }
  const checkpoints = { store: { read: () => store.read(), write: store.write.bind(store), discard } }
  const onLostChanges = (lost: LostChanges): void => {
    told.push(lost)
  }
  return schedule.until(openCore({ log, clock, entropy: seededEntropy(seeds), schedule, checkpoints, onLostChanges }))
}

let older: readonly RecordedEvent[]
/** Keys that were later: left alone, relabelled, revoked, and created. */
let keys: readonly string[]

/** A log that has only the older events. */
const olderLog = async (): Promise<EventLog> => {
  const log = createMemoryLog()
  for (const { stream, revision, position: _, ...event } of older) {
    await log.append(stream, revision === 0 ? 'none' : revision - 1, [event])
  }
  return log
}

beforeAll(async () => {
  const log = createMemoryLog()
  await ensureLogCreated(log, clock, seededEntropy(99))
  const core = await open(log)
  await schedule.until(core.cellars.create({ cellar, title: '' }, asker))
  const create = async (): Promise<string> => {
    const limit = { readings: 1_000_000, windowMs: 60_000 }
    const made = await schedule.until(core.keys.create({ cellar, label: '', note: '', limit, expiresAt: null }, asker))
    return made.ok ? made.value.state.keyId : ''
  }
  const [alone, relabelled, revoked] = [await create(), await create(), await create()]
  older = await log.readAll({ limit: 100 })
  await schedule.until(core.keys.relabel(relabelled, { label: 'new', note: '' }, asker))
  await schedule.until(core.keys.revoke(revoked, 'stolen', asker))
  await schedule.until(core.cellars.changePolicy(cellar, { retentionMs: 90 * dayMs }, asker))
  keys = [alone, relabelled, revoked, await create()]
  for (let left = checkpointEventsMin; left > 0; left -= 1_000) {
    const posted = Array.from({ length: 1_000 }, (_, index) => core.keys.accept(alone, reading, `${left}-${index}`))
    await schedule.until(Promise.all(posted))
  }
  await schedule.until(core.drain())
  expect(store.read()).not.toBeNull()
})

test('a start suspends the keys with lost changes, and then discards the checkpoint', async () => {
  const core = await open(await olderLog())
  const [alone = '', relabelled = '', revoked = ''] = keys
  const changed = [relabelled, revoked].toSorted()
  const [lost, then] = told.splice(0)
  expect(lost).toMatchObject({ cellars: [cellar], operators: 0 })
  expect([typeof lost === 'object' && lost.keyIds.toSorted(), then]).toEqual([changed, 'discarded'])
  const suspended = core.projections.keys.list().filter((key) => key.suspended !== null)
  expect(suspended.map(({ keyId }) => keyId).toSorted()).toEqual(changed)
  expect((await schedule.until(core.keys.accept(alone, reading, 'one'))).ok).toBeTrue()
  await schedule.until(core.drain())
})

test('a start that cannot suspend such a key fails, and leaves the checkpoint', async () => {
  const log = await olderLog()
  const stream = keyStream(keys[2] ?? '')
  const failing: EventLog = {
    ...passingLog(log),
    append: (to, ...rest) =>
      to === stream ? Promise.reject(new Outage('Full', 'not_written', 'full')) : log.append(to, ...rest),
  }
  await expect(open(failing)).rejects.toThrow('Cannot suspend the key')
  expect(told.splice(0)).toEqual([])
})

import { expect, test } from 'bun:test'
import { createProjections } from '../../../projections/projections.ts'
import { Host } from '../../../src/actors/host.ts'
import { RepeatMemory } from '../../../src/actors/repeats/repeat-memory.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { createMemoryRepeatsIndex } from '../../support/logs/memory-repeats-index.ts'
import { sampleIdempotency, sampleRun } from '../../support/sample-run.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

test('the memory of idempotency keys learns each request of a run at its revision', async () => {
  const schedule = drivenSchedule()
  const onBug = (bug: unknown): never => {
    throw bug
  }
  const parts = { log: createMemoryLog(), clock: manualClock(), entropy: seededEntropy(1) }
  const host = new Host({ ...parts, schedule, projections: createProjections(), onBug })
  const memory = new RepeatMemory(host, createMemoryRepeatsIndex())
  await schedule.until(memory.begin(null))
  const run = sampleRun('k1', { revision: 5, position: 11 })
  memory.fold([run])
  memory.caughtUp()
  const { stream, recordedAt } = run
  const { keyHash } = sampleIdempotency
  expect(memory.find(stream, keyHash)).toEqual({ stream, revision: 8, recordedAt, idempotency: sampleIdempotency })
  expect(memory.foldedTo).toBe(14)
})

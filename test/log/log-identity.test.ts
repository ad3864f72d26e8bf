import { describe, expect, test } from 'bun:test'
import { logStream } from '../../src/domain/stream-names.ts'
import { ensureLogCreated, recordRestored } from '../../src/log/log-identity.ts'
import { faultyLog } from '../support/logs/faulty-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { keySuspended } from '../support/logs/sample-events.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { manualClock } from '../support/time/manual-clock.ts'

describe('ensureLogCreated()', () => {
  test('gives a new log an id in its first event', async () => {
    const log = createMemoryLog()
    const clock = manualClock()
    const logId = await ensureLogCreated(log, clock, seededEntropy(1))
    const events = await log.readAll({ limit: 10 })
    expect(events).toMatchObject([
      {
        stream: logStream,
        type: 'LogCreated',
        data: { logId },
        recordedAt: clock.now(),
        metadata: { by: { kind: 'system' } },
      },
    ])
    expect(await ensureLogCreated(log, clock, seededEntropy(2))).toBe(logId)
    expect(await log.readAll({ limit: 10 })).toEqual([...events])
  })

  test('gives two concurrent callers the same id', async () => {
    const log = createMemoryLog()
    const names = await Promise.all([1, 2].map((seed) => ensureLogCreated(log, manualClock(), seededEntropy(seed))))
    expect(new Set(names).size).toBe(1)
    expect(await log.readAll({ limit: 10 })).toHaveLength(1)
  })

  test('gives different logs different ids', async () => {
    const names = [1, 2].map((seed) => ensureLogCreated(createMemoryLog(), manualClock(), seededEntropy(seed)))
    expect(new Set(await Promise.all(names)).size).toBe(2)
  })

  test('passes an outage on', async () => {
    const log = faultyLog(createMemoryLog())
    log.failAppend({ fault: 'not_written' })
    await expect(ensureLogCreated(log, manualClock(), seededEntropy())).rejects.toMatchObject({
      outcome: 'not_written',
    })
  })

  test('refuses a log that begins with another event', async () => {
    const log = createMemoryLog()
    await log.append(logStream, 'none', [keySuspended()])
    await expect(ensureLogCreated(log, manualClock(), seededEntropy())).rejects.toThrow('begins with KeySuspended')
  })
})

test('recordRestored() gives the log a new id', async () => {
  const log = createMemoryLog()
  const clock = manualClock()
  const logId = await ensureLogCreated(log, clock, seededEntropy(1))
  await recordRestored(log, { lastPosition: 1, lastRecordedAt: clock.now() }, { clock, entropy: seededEntropy(2) })
  const restoredId = await ensureLogCreated(log, clock, seededEntropy(3))
  expect(restoredId).not.toBe(logId)
  expect(await log.readAll({ limit: 10 })).toMatchObject([
    { type: 'LogCreated' },
    { type: 'LogRestored', data: { restoredId } },
  ])
})

import { expect, test } from 'bun:test'
import { askedBy } from '../../../src/actors/asked-by.ts'
import { attentionHistory, attentionHistoryRecordsMax } from '../../../src/actors/attention/attention-history.ts'
import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import { dayMs, minuteMs } from '../../../src/domain/calendar.ts'
import type { NewEvent } from '../../../src/domain/events.ts'
import { attentionStream } from '../../../src/domain/stream-names.ts'
import { openFreshLog } from '../../support/logs/engine.ts'

const cellar = 'gin'
const beganMs = Date.UTC(2026, 2, 1)
const rack = { kind: 'silent', sinceMs: beganMs, rack: 'rack-1' } as const

const changed = (recordedAt: number, now: readonly AttentionLine[]): NewEvent<'AttentionChanged'> => ({
  id: crypto.randomUUID(),
  type: 'AttentionChanged',
  recordedAt,
  data: { cellar, began: [...now], ended: [], now: [...now], more: 0 },
  metadata: askedBy({ by: { kind: 'system' }, requestId: 'test' }),
})

test('attentionHistory() reads from the last record before, up to its bound', async () => {
  const log = await openFreshLog()
  const records = attentionHistoryRecordsMax + 101
  const events = Array.from({ length: records }, (_, at) =>
    changed(beganMs + at * minuteMs, at % 2 === 0 ? [rack] : []),
  )
  let revision: number | 'none' = 'none'
  for (let at = 0; at < events.length; at += 100) {
    await log.append(attentionStream(cellar), revision, events.slice(at, at + 100))
    revision = Math.min(at + 99, events.length - 1)
  }
  const toMs = beganMs + 30 * dayMs
  const wanted = { cellar, scope: { kind: 'silent', rack: 'rack-1', keg: 'a' }, toMs } as const
  const short = await attentionHistory(log, { ...wanted, fromMs: beganMs + (records - 2) * minuteMs - 1 })
  expect(short).toMatchObject({
    isCut: false,
    past: [{ endedMs: null }, { endedMs: beganMs + (records - 2) * minuteMs }],
  })
  const cut = await attentionHistory(log, { ...wanted, fromMs: 0 })
  expect([cut.isCut, cut.past.length <= attentionHistoryRecordsMax / 2 + 1]).toEqual([true, true])
  expect(cut.sinceMs).toBeGreaterThan(beganMs)
  const other = await attentionHistory(log, { ...wanted, scope: { kind: 'silent', rack: 'rack-2' }, fromMs: 0 })
  expect(other.past).toEqual([])
  await log.close()
})

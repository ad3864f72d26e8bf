import type { Reading } from '../../../src/domain/reading/fields.ts'
import { type LogItem, ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { columnsOf } from '../logs/columns-of.ts'

export type Sent = Partial<Reading> & {
  readonly atMs: number
  readonly acceptedMs?: number
  readonly requestId?: string
}

/** One request for each reading. */
export const sentHistory = (sent: readonly Sent[]): readonly LogItem[] =>
  sent.map(({ atMs, acceptedMs = atMs, requestId = 'x', ...rest }, index) => {
    const timestamp = `${new Date(atMs).toISOString().slice(0, 19)}Z`
    const reading = { cellar: 'north', rack: 'rack', keg: 'keg', value: index, timestamp, ...rest }
    const request = { requestId, readings: columnsOf([reading]), idempotency: null }
    const at = { stream: 'readings-key1', revision: index, position: index + 1 }
    return new RecordedRun(new ReadingRun('key1', acceptedMs, [request]), at)
  })

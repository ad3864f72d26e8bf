/**
 * Loaded into the service before its own modules (`bun --preload`): measures how late the event loop comes to what is due,
 * and says so at `BENCH_LAG_PORT`. The service itself has no code for it.
 */
import { isMainThread } from 'node:worker_threads'
import { percentile } from '../figures.ts'

export type Lag = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }

const everyMs = 5

const watch = (port: number): void => {
  let late: number[] = []
  let dueMs = performance.now()
  // By a schedule: whatever was due while the loop stood still counts, each for as long as it waited.
  setInterval(() => {
    for (const now = performance.now(); dueMs <= now; dueMs += everyMs) late.push(now - dueMs)
  }, everyMs)
  Bun.serve({
    hostname: '127.0.0.1',
    port,
    // What was measured since the last time it was asked.
    fetch: () => {
      const lag: Lag = { p50Ms: percentile(late, 50), p99Ms: percentile(late, 99), maxMs: percentile(late, 100) }
      late = []
      return Response.json(lag)
    },
  })
}

// Threads of the service load it too.
if (isMainThread) watch(Number(process.env['BENCH_LAG_PORT']))

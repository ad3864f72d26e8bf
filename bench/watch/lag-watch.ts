/**
 * The service loads this file before its own code. It measures how late the event loop runs timers. Each request to
 * `BENCH_LAG_PORT` returns the delays since the request before.
 */
import { isMainThread } from 'node:worker_threads'
import { percentile } from '../figures.ts'

export type Lag = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }

const everyMs = 5

const watch = (port: number): void => {
  let late: number[] = []
  let dueMs = performance.now()
  // A timer is due every `everyMs`, even while the loop is busy. If the loop misses several of these times, each counts
  // with its own delay.
  setInterval(() => {
    for (const now = performance.now(); dueMs <= now; dueMs += everyMs) late.push(now - dueMs)
  }, everyMs)
  Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: () => {
      const lag: Lag = { p50Ms: percentile(late, 50), p99Ms: percentile(late, 99), maxMs: percentile(late, 100) }
      late = []
      return Response.json(lag)
    },
  })
}

// Threads of the service load this file too. Only the main thread has the event loop to watch.
if (isMainThread) watch(Number(process.env['BENCH_LAG_PORT']))

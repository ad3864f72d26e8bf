/**
 * Loaded into the service before its own modules (`bun --preload`). It measures how long single turns of the event loop last, and
 * answers at `BENCH_HOLD_PORT`. The service itself has no code for it. While it measures, the loop never rests: each turn ends
 * with a callback of ours, so the time between two of them is one turn.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { isMainThread } from 'node:worker_threads'

/** Since the watch was begun, ms. */
export type Holds = {
  /** The longest turn. */
  readonly longestMs: number
  /** The most processor time of the loop's thread in one turn: less than `longestMs` where others had the processor meanwhile. */
  readonly longestProcessorMs: number
  /** All turns together that were longer than `turnMsMin`. */
  readonly allMs: number
}

/** Shorter turns are those in which nothing happened. */
const turnMsMin = 0.1

const threadClock = 3
const { symbols } = dlopen('libc.so.6', {
  clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
})
const timespec = new BigInt64Array(2)

/** Processor time of this thread, ms. */
const processorMs = (): number => {
  symbols.clock_gettime(threadClock, ptr(timespec))
  return Number(timespec[0]) * 1_000 + Number(timespec[1]) / 1e6
}

const watchTurns = () => {
  let isWatching = false
  let lastMs = 0
  let lastProcessorMs = 0
  let holds = { longestMs: 0, longestProcessorMs: 0, allMs: 0 }
  const turn = (): void => {
    const nowMs = performance.now()
    const turnMs = nowMs - lastMs
    const nowProcessorMs = processorMs()
    holds.longestMs = Math.max(holds.longestMs, turnMs)
    holds.longestProcessorMs = Math.max(holds.longestProcessorMs, nowProcessorMs - lastProcessorMs)
    if (turnMs >= turnMsMin) holds.allMs += turnMs
    lastMs = nowMs
    lastProcessorMs = nowProcessorMs
    if (isWatching) setImmediate(turn)
  }
  return {
    begin: (): void => {
      holds = { longestMs: 0, longestProcessorMs: 0, allMs: 0 }
      lastMs = performance.now()
      lastProcessorMs = processorMs()
      isWatching = true
      setImmediate(turn)
    },
    end: (): Holds => {
      isWatching = false
      return holds
    },
  }
}

const answerAt = (port: number): void => {
  const watch = watchTurns()
  Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: ({ url }) => {
      if (url.endsWith('/end')) return Response.json(watch.end())
      watch.begin()
      return new Response()
    },
  })
}

// Threads of the service load it too.
if (isMainThread) answerAt(Number(process.env['BENCH_HOLD_PORT']))

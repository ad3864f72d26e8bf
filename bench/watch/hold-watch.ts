/**
 * Preloaded into the service. Measures turns of the event loop: each ends with a callback of this file, so the loop
 * never rests. Answers at `BENCH_HOLD_PORT`.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { isMainThread } from 'node:worker_threads'

/** In ms, since the start of the watch. */
export type Holds = {
  readonly longestMs: number
  /** Processor time only, without other programs. */
  readonly longestProcessorMs: number
  /** Sum of the turns longer than `turnMsMin`. */
  readonly allMs: number
}

/** In shorter turns nothing happened. */
const turnMsMin = 0.1

const threadClock = 3
const { symbols } = dlopen('libc.so.6', {
  clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
})
const timespec = new BigInt64Array(2)

/** Of this thread. */
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

// Threads load this file too.
if (isMainThread) answerAt(Number(process.env['BENCH_HOLD_PORT']))

/**
 * The service loads this file before its own code. It measures how long each turn of the event loop takes. During a
 * measurement, `setImmediate` calls back in every turn. So the loop never sleeps, and the time of a turn is only work.
 * Requests to `BENCH_HOLD_PORT` begin and end a measurement.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { isMainThread } from 'node:worker_threads'

/** All values are in ms and count from the last `begin`. */
export type Holds = {
  readonly longestMs: number
  /** The longest turn in processor time, which does not count the time while other programs run. */
  readonly longestProcessorMs: number
  /** Sum of the turns that took at least `turnMsMin`. */
  readonly allMs: number
  /** The processor time of all turns. */
  readonly allProcessorMs: number
}

/** A shorter turn only called this file, so it does not count as work of the service. */
const turnMsMin = 0.1

const threadClock = 3
const { symbols } = dlopen('libc.so.6', {
  clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
})
const timespec = new BigInt64Array(2)

/** The processor time of this thread. */
const processorMs = (): number => {
  symbols.clock_gettime(threadClock, ptr(timespec))
  return Number(timespec[0]) * 1_000 + Number(timespec[1]) / 1e6
}

const watchTurns = () => {
  let isWatching = false
  let lastMs = 0
  let lastProcessorMs = 0
  let holds = { longestMs: 0, longestProcessorMs: 0, allMs: 0, allProcessorMs: 0 }
  const turn = (): void => {
    const nowMs = performance.now()
    const turnMs = nowMs - lastMs
    const nowProcessorMs = processorMs()
    holds.longestMs = Math.max(holds.longestMs, turnMs)
    holds.longestProcessorMs = Math.max(holds.longestProcessorMs, nowProcessorMs - lastProcessorMs)
    if (turnMs >= turnMsMin) {
      holds.allMs += turnMs
      holds.allProcessorMs += nowProcessorMs - lastProcessorMs
    }
    lastMs = nowMs
    lastProcessorMs = nowProcessorMs
    if (isWatching) setImmediate(turn)
  }
  return {
    begin: (): void => {
      holds = { longestMs: 0, longestProcessorMs: 0, allMs: 0, allProcessorMs: 0 }
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

// Threads of the service load this file too. Only the main thread has the event loop to watch.
if (isMainThread) answerAt(Number(process.env['BENCH_HOLD_PORT']))

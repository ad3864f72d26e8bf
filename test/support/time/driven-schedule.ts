import { setImmediate as turn } from 'node:timers/promises'
import type { Schedule } from '../../../src/schedule.ts'

/** Timers that run only when a test says so, so a test does not depend on the machine's speed. */
export type DrivenSchedule = Schedule & {
  readonly nowMs: number
  /** Resolves when all work has ended, except work that waits for a timer. */
  quiet(): Promise<void>
  /** Lets `ms` pass: runs the timers that become due one by one, in the order of their times. */
  advance(ms: number): Promise<void>
  /** Lets time pass until the promise settles. @throws if it has not settled after `msMax`. */
  until<T>(promise: Promise<T>, msMax?: number): Promise<T>
}

type Timer = { readonly atMs: number; readonly run: () => void }

export const drivenSchedule = (): DrivenSchedule => {
  let nowMs = 0
  let soon = 0
  let timers: readonly Timer[] = []

  const quiet = async (): Promise<void> => {
    do await turn()
    while (soon > 0)
    // Some promises settle only in the next turn of the event loop, and can then start more work.
    await turn()
    if (soon > 0) await quiet()
  }

  const passNext = (untilMs: number): boolean => {
    const next = timers.reduce<Timer | null>((a, b) => (a === null || b.atMs < a.atMs ? b : a), null)
    if (next === null || next.atMs > untilMs) return false
    timers = timers.filter((timer) => timer !== next)
    nowMs = next.atMs
    next.run()
    return true
  }

  return {
    get nowMs() {
      return nowMs
    },
    soon: (run) => {
      soon += 1
      setImmediate(() => {
        soon -= 1
        run()
      })
    },
    after: (ms, run) => {
      const timer = { atMs: nowMs + ms, run }
      timers = [...timers, timer]
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    quiet,
    advance: async (ms) => {
      const untilMs = nowMs + ms
      await quiet()
      while (passNext(untilMs)) await quiet()
      nowMs = untilMs
    },
    until: async (promise, msMax = 60_000) => {
      const untilMs = nowMs + msMax
      let isSettled = false
      const settled = (): void => {
        isSettled = true
      }
      promise.then(settled, settled)
      await quiet()
      while (!isSettled) {
        if (!passNext(untilMs)) throw new Error(`Nothing has settled it within ${msMax} ms`)
        await quiet()
      }
      return promise
    },
  }
}

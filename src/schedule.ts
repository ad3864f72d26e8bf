export type Schedule = {
  /** Calls `run` at the end of this turn of the event loop. */
  soon(run: () => void): void
  /** The returned function cancels the call. The timer does not keep the process alive. */
  after(ms: number, run: () => void): () => void
}

export const systemSchedule: Schedule = {
  soon: (run) => {
    setImmediate(run)
  },
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

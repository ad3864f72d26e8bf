/** When deferred work is done, as a parameter, so that a test can say when. */
export type Schedule = {
  /** At the end of this turn of the event loop, after everything else that arrived in it. */
  soon(run: () => void): void
  /** In that many ms; the answer forgets it. Keeps no process alive. */
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

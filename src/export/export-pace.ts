import { setTimeout as wait } from 'node:timers/promises'
import { exportRestFactor, exportRestMsMax } from '../limits.ts'

export type Pace = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Returns a function that runs one piece of work after the other, and rests in between. All exports of a process share one, so
 * that they leave the processor to readings of devices. A fast export would otherwise fill every turn of the event loop.
 */
export const restingPace = (rest: (ms: number) => Promise<void> = (ms) => wait(ms)): Pace => {
  let last: Promise<void> = Promise.resolve()
  return (work) => {
    let beganAt = 0
    const answer = last.then(() => {
      beganAt = performance.now()
      return work()
    })
    const restAfter = (): Promise<void> =>
      rest(Math.min(exportRestMsMax, (performance.now() - beganAt) * exportRestFactor))
    last = answer.then(restAfter, restAfter)
    return answer
  }
}

/** The pace of all exports of this process while it serves devices. */
export const besideReadings: Pace = restingPace()

/** The pace of a process that serves no devices. */
export const atFullSpeed: Pace = (work) => work()

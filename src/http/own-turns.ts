/**
 * A line for heavy work: each call resolves in a turn of the event loop in which no other call of the line resolves. So the
 * work of many requests holds up the others for one piece of it, not for the sum.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

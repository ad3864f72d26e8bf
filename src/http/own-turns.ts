/**
 * A queue for heavy work: one caller continues in each turn of the event loop. Other requests wait for one piece of work only.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

/**
 * Returns a function that waits in a queue for heavy work. In each turn of the event loop, only one caller continues. So other
 * requests wait for one piece of heavy work at most.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

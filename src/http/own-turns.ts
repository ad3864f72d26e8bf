/**
 * A queue for heavy work: in each turn of the event loop, one caller continues. So other requests wait for one piece of heavy
 * work only.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

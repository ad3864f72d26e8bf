/**
 * Returns a function that each piece of heavy work awaits before it begins. In each turn of the event loop, only one of the
 * waiting callers continues. So other requests wait for one piece of heavy work at most.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

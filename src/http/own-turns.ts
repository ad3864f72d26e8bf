/**
 * The returned function gives a turn to each piece of heavy work, which awaits it before it begins. In each turn of the
 * event loop only one of the waiting callers continues, so other requests wait for one piece at most.
 */
export const ownTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

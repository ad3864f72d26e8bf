/**
 * Returns the largest growth of `count` between two checks, one in each turn of the event loop. The work of two turns
 * can lie between two checks, so the result is at most twice the growth of one turn.
 */
export const mostInOneTurn = async (count: () => number, until: Promise<unknown>): Promise<number> => {
  let most = 0
  let before = count()
  let isOver = false
  const note = (): void => {
    most = Math.max(most, count() - before)
    before = count()
  }
  const look = (): void => {
    note()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await until
  isOver = true
  note()
  return most
}

/**
 * The largest growth in one turn of the event loop. Work of each turn may come before or after the check, so it gives
 * up to two.
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

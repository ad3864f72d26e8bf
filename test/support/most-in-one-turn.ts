/**
 * By how much a count grows at most between two looks, until the promise settles. A turn of the event loop has one look. Work
 * that is done once in each turn may come before or after it, so it gives two at most.
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

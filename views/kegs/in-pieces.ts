/** Waits until other requests had their turn. Without it, a page is made at once. */
export type Turn = (() => Promise<void>) | undefined

/** A part of a page that takes a millisecond or more is made in a turn of its own. */
export const inTurn = (turn: Turn, make: () => JSX.Element): JSX.Element =>
  turn === undefined ? make() : turn().then(make)

type Times = { readonly now: () => number; readonly passedMs: () => number }

/**
 * A clock that goes ahead at most twice as fast as time passes, and is set back at once. A model deletes by it what is old. With the
 * machine's clock, which can be ahead for a moment, the model would delete too much.
 */
export const pacedClock = ({ now, passedMs }: Times): (() => number) => {
  let atMs = now()
  let lookedMs = passedMs()
  return () => {
    const passed = passedMs()
    atMs = Math.min(now(), atMs + 2 * (passed - lookedMs))
    lookedMs = passed
    return atMs
  }
}

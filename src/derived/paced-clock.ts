type Times = { readonly now: () => number; readonly passedMs: () => number }

/**
 * Goes ahead at most twice as fast as time passes, and is set back at once. With the machine's clock, which can be ahead
 * for a moment, a model would delete too much.
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

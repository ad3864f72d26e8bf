/**
 * Resolves in the event loop's next turn, after whatever has arrived by then. For a loop that may be long and awaits only
 * what is there at once: its `await`s alone let no socket and no timer in.
 */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

import { setImmediate as turn } from 'node:timers/promises'

/**
 * Checks the condition in every turn of the event loop. If it never becomes true, the test's own timeout ends the wait.
 */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await turn()
}

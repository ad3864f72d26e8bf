import { setImmediate as turn } from 'node:timers/promises'

/** Checks at every turn of the event loop. The timeout of the test ends an endless wait. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await turn()
}

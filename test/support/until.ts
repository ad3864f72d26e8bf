import { setImmediate as turn } from 'node:timers/promises'

/** Resolves once it is so; looks at every turn of the event loop. The test's own bound ends a wait for what never comes. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await turn()
}

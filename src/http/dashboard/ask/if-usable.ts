import type { Ask } from '../../../actors/search/ask-db.ts'
import { AskBusy, AskUnusable } from '../../../log/ask-index.ts'

/**
 * Returns `otherwise` if this node has no index, or if the index turns out to be damaged or locked. The node then builds it again,
 * or waits, and pages must work meanwhile.
 */
export const ifUsable = async <T>(ask: Ask | null, otherwise: T, read: (ask: Ask) => T | Promise<T>): Promise<T> => {
  if (ask === null) return otherwise
  try {
    return await read(ask)
  } catch (thrown) {
    if (thrown instanceof AskUnusable || thrown instanceof AskBusy) return otherwise
    throw thrown
  }
}

import type { Ask } from '../../../actors/core.ts'
import { AskUnusable } from '../../../log/ask-index.ts'

/**
 * Returns `otherwise` if this node has no index, or if the index turns out to be damaged. The node then builds it again, and pages
 * must work meanwhile.
 */
export const ifUsable = async <T>(ask: Ask | null, otherwise: T, read: (ask: Ask) => T | Promise<T>): Promise<T> => {
  if (ask === null) return otherwise
  try {
    return await read(ask)
  } catch (thrown) {
    if (thrown instanceof AskUnusable) return otherwise
    throw thrown
  }
}

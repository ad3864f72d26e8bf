import { AskBusy, AskUnusable } from '../../log/ask-index.ts'
import type { Ask } from './ask-db.ts'

/** `otherwise` also if `ask.db` turns out to be damaged or locked. It is then built again. */
export const ifUsable = async <T>(ask: Ask | null, otherwise: T, read: (ask: Ask) => Promise<T>): Promise<T> => {
  if (ask === null) return otherwise
  try {
    return await read(ask)
  } catch (thrown) {
    if (thrown instanceof AskUnusable || thrown instanceof AskBusy) return otherwise
    throw thrown
  }
}

import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { isSystemError } from '../../domain/error-message.ts'

/**
 * Linux never lets an ordinary process raise the priority again. Elsewhere, threads have no priority of their own, and can
 * only rest.
 */
export const yieldProcessor = (priority: number = constants.priority.PRIORITY_LOW): void => {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(threadId, priority)
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
  }
}

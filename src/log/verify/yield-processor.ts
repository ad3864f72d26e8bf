import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { isSystemError } from '../../domain/error-message.ts'

/**
 * Lowers the priority of the calling thread. Linux never lets an ordinary process raise it again. On Linux, each thread has its own
 * priority. Elsewhere, a thread can only leave the processor to the service by resting.
 */
export const yieldProcessor = (priority: number = constants.priority.PRIORITY_LOW): void => {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(threadId, priority)
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
  }
}

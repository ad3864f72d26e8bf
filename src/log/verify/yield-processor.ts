import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { isSystemError } from '../../domain/error-message.ts'

/**
 * Gives the calling thread the lowest priority. On Linux, each thread has its own priority. Elsewhere, a thread can only leave
 * the processor to the service by resting.
 */
export const yieldProcessor = (): void => {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(threadId, constants.priority.PRIORITY_LOW)
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
  }
}

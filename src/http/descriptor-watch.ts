/**
 * Without a free file descriptor, no file can be opened. Bun's server then asks the system for the next connection again
 * and again, which takes most of a core.
 */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { Trouble } from '../domain/trouble.ts'
import { heartbeatMs, troubleCalmLooks } from '../limits.ts'
import type { Schedule } from '../schedule.ts'

/** Kept for the files and threads of the service. */
const descriptorsFreeMin = 32

type DescriptorWatch = {
  trouble(): string | null
  stop(): void
}

/** Closes idle connections, because Bun cannot bound connections. Their clients connect again. */
export const watchDescriptors = (server: { closeIdleConnections(): void }, schedule: Schedule): DescriptorWatch => {
  const trouble = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks })
  const descriptorsMax = readDescriptorsMax()
  const look = (): void => {
    const lowest = lowestFree()
    if (lowest === null || lowest >= descriptorsMax - descriptorsFreeMin) {
      trouble.note(
        `the process may have ${descriptorsMax}, and ${lowest === null ? 'all' : `at least ${lowest}`} are in use`,
      )
      server.closeIdleConnections()
    }
    trouble.look()
    forget = schedule.after(heartbeatMs, look)
  }
  let forget = schedule.after(heartbeatMs, look)
  return { trouble: () => trouble.why, stop: () => forget() }
}

/**
 * Opening a file gets the lowest free number, so at least that many descriptors are in use. Counting `/proc/self/fd` would
 * take milliseconds with thousands of connections. `null`: none is free.
 */
const lowestFree = (): number | null => {
  try {
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
    return descriptor
  } catch {
    return null
  }
}

/** Only Linux has /proc. Elsewhere, only the lack of any descriptor is noticed. */
const readDescriptorsMax = (): number => {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports processor time in ticks. Every current Linux has 100 ticks per second. */
const ticksPerSecond = 100

/** Processor time of all threads since the start of the process. */
export const busySecondsOf = (processId: number): number => {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident memory in MiB. `anonymous` leaves out pages of files, which the kernel can drop. */
export const mebibytesOf = (processId: number): { readonly rss: number; readonly anonymous: number } => {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
  return { rss: of('VmRSS'), anonymous: of('RssAnon') }
}

/** Counts the bytes that the process wrote with `write` calls, to files and to anything else. */
export const writtenBytesOf = (processId: number): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${processId}/io`, 'utf8'))?.[1])

/**
 * Returns the processor time of each thread. Read it while the process is idle, because the kernel adds the time of a
 * running thread late. It is then more exact than `busySecondsOf`.
 */
export const busyNanosecondsOf = (processId: number): ReadonlyMap<string, number> => {
  const threads = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${processId}/task`)) {
    try {
      threads.set(thread, Number(readFileSync(`/proc/${processId}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    } catch {
      // The thread has ended.
    }
  }
  return threads
}

/** Threads that have ended are not in `after`, so they do not count. */
export const busyMicrosecondsBetween = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...after].map(([thread, used]) => [thread, (used - (before.get(thread) ?? 0)) / 1_000]))

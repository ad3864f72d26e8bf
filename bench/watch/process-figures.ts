import { readdirSync, readFileSync } from 'node:fs'

/** Hundredths of a second, on every Linux that is in use. */
const ticksPerSecond = 100

/** Seconds of processor that a process has used, all its threads together. */
export const busySecondsOf = (processId: number): number => {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** What a process has in memory, MiB: all of it, and that which is no file's. */
export const mebibytesOf = (processId: number): { readonly rss: number; readonly anonymous: number } => {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
  return { rss: of('VmRSS'), anonymous: of('RssAnon') }
}

/** Bytes that a process has handed to the kernel to be written, to files and sockets alike. */
export const writtenBytesOf = (processId: number): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${processId}/io`, 'utf8'))?.[1])

/**
 * Nanoseconds of processor that each thread of a process has used: finer than `busySecondsOf`. The kernel counts a thread that
 * runs at the moment only now and then, so both looks of a difference need a process at rest.
 */
export const busyNanosecondsOf = (processId: number): ReadonlyMap<string, number> => {
  const threads = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${processId}/task`)) {
    try {
      threads.set(thread, Number(readFileSync(`/proc/${processId}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    } catch {
      // It has ended since the folder was read.
    }
  }
  return threads
}

/** What each thread used between two looks, µs; a thread that ended in between is missing. */
export const busyMicrosecondsBetween = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...after].map(([thread, used]) => [thread, (used - (before.get(thread) ?? 0)) / 1_000]))

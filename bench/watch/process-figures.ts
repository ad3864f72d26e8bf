import { readdirSync, readFileSync } from 'node:fs'

/** The same on every current Linux. */
const ticksPerSecond = 100

/** Of all threads. */
export const busySecondsOf = (processId: number): number => {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** In MiB. `anonymous`: without files. */
export const mebibytesOf = (processId: number): { readonly rss: number; readonly anonymous: number } => {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
  return { rss: of('VmRSS'), anonymous: of('RssAnon') }
}

/** To files and sockets. */
export const writtenBytesOf = (processId: number): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${processId}/io`, 'utf8'))?.[1])

/** More exact than `busySecondsOf`, if the process is idle: the kernel counts a running thread late. */
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

/** Leaves out threads that have ended. */
export const busyMicrosecondsBetween = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...after].map(([thread, used]) => [thread, (used - (before.get(thread) ?? 0)) / 1_000]))

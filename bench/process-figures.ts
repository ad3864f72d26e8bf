import { readFileSync } from 'node:fs'

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

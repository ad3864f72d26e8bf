import { type FileHandle, open } from 'node:fs/promises'
import { Value } from '@sinclair/typebox/value'
import { messageOf } from '../../domain/error-message.ts'
import type { ExportedListName, ExportFormat } from '../../domain/events.ts'
import { headOf } from '../../export/exported-list.ts'
import { LastExported } from '../control/export-operation.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'

/** `log export --resume` looks for the last event in the last bytes of the file. One event takes less. */
const exportTailBytes = 4 * 1024 * 1024

export type ExportFile = {
  readonly last: LastExported | null
  /** Writes at the end of the file. @throws CommandFailed, for example if the disk is full */
  append(text: string): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

type Wanted = { readonly list: ExportedListName; readonly format: ExportFormat }
type Opened = { readonly path: string; readonly file: FileHandle }

/**
 * Only the owner can read the file. With `resume`, cuts off a line that is not complete, and returns the last event.
 * @throws CommandFailed
 */
export const openExportFile = async (
  path: string,
  { resume, ...wanted }: Wanted & { readonly resume: boolean },
): Promise<ExportFile> => {
  if (resume) {
    const file = await openAt(path, 'r+')
    if (file !== null) return continued({ path, file }, wanted)
  }
  const file = await openAt(path, 'wx')
  if (file !== null) return exportFile({ path, file }, { last: null, size: 0 })
  throw failed(path, 'it exists already. Choose another name, or add --resume to go on')
}

const openAt = async (path: string, flags: 'r+' | 'wx'): Promise<FileHandle | null> => {
  try {
    return await open(path, flags, 0o600)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === (flags === 'wx' ? 'EEXIST' : 'ENOENT')) return null
    throw failed(path, messageOf(error))
  }
}

type Content = Pick<ExportFile, 'last'> & { readonly size: number }

const exportFile = ({ path, file }: Opened, { last, size }: Content): ExportFile => {
  const append = appending(file, size)
  return {
    last,
    append: (text) => append(text).catch((cause: unknown) => Promise.reject(cannotGoOn(path, cause))),
    sync: () => file.sync().catch((cause: unknown) => Promise.reject(cannotGoOn(path, cause))),
    close: () => file.close(),
  }
}

/** A nearly full disk takes only a part of a write. Without the loop, later rows would follow a part of a row. */
export const appending = (file: Pick<FileHandle, 'write'>, size: number): ((text: string) => Promise<void>) => {
  let at = size
  return async (text) => {
    let rest = Buffer.from(text)
    while (rest.length > 0) {
      const { bytesWritten } = await file.write(rest, 0, rest.length, at)
      at += bytesWritten
      rest = rest.subarray(bytesWritten)
    }
  }
}

const cannotGoOn = (path: string, cause: unknown): CommandFailed =>
  failed(path, `${messageOf(cause)}. To go on later, repeat the command with --resume`)

const continued = async ({ path, file }: Opened, { list, format }: Wanted): Promise<ExportFile> => {
  const { size } = await file.stat()
  const from = Math.max(0, size - exportTailBytes)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
  const tail = buffer.subarray(0, bytesRead)
  const end = tail.lastIndexOf('\n') + 1
  if (end === 0) {
    if (from > 0) throw failed(path, 'its last line is too long')
    await file.truncate(0)
    return exportFile({ path, file }, { last: null, size: 0 })
  }
  const begin = tail.lastIndexOf('\n', end - 2) + 1
  if (begin === 0 && from > 0) throw failed(path, 'its last line is too long')
  const last =
    format === 'csv'
      ? lastOfCsv(path, tail.toString('utf8', begin, end))
      : lastOfJson(path, tail.toString('utf8', begin, end))
  if (last !== null && !(await beginsWith(file, headOf(list, format)))) throw failed(path, otherColumns)
  // A file that holds only the head is written anew.
  const kept = last === null ? 0 : from + end
  await file.truncate(kept)
  return exportFile({ path, file }, { last, size: kept })
}

const otherColumns = 'its first line names other columns than this export has. Choose another name'

/** The new rows must have the cells that the head of the file names. */
const beginsWith = async (file: FileHandle, head: string): Promise<boolean> => {
  const wanted = Buffer.from(head)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted.length), 0, wanted.length, 0)
  return buffer.subarray(0, bytesRead).equals(wanted)
}

const lastOfJson = (path: string, line: string): LastExported => {
  try {
    const value: unknown = JSON.parse(line)
    if (Value.Check(LastExported, value)) return value
  } catch {
    // The message below says the same about text that is no JSON.
  }
  throw notAnExport(path)
}

/** The first four cells of events and of readings are the same, and never quoted. */
const lastOfCsv = (path: string, line: string): LastExported | null => {
  const [position = '', stream = '', revision = '', id = ''] = line.trimEnd().split(',')
  if (position === 'position') return null
  const value = { position, stream, revision: Number(revision), id }
  if (/^\d+$/.test(position) && /^\d+$/.test(revision) && stream !== '' && id !== '') return value
  throw notAnExport(path)
}

const notAnExport = (path: string): CommandFailed =>
  failed(path, 'its last line is no event of an export in this format. Check --format, or choose another name')

const failed = (path: string, why: string): CommandFailed =>
  new CommandFailed(`Cannot write to "${path}": ${why}`, exitCodes.refused)

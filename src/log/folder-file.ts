/**
 * Somebody who may write the folder can put a link or a pipe there. A write through the link would change a file elsewhere,
 * and opening the pipe would never end.
 */
import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The files hold e-mail addresses and password hashes. */
const fileMode = 0o600

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, R_OK, W_OK } = constants
const accesses = { read: O_RDONLY, update: O_RDWR | O_CREAT, replace: O_RDWR | O_CREAT | O_TRUNC } as const

/** `update` and `replace` create a missing file. @throws a system error */
export const openFolderFile = (path: string, access: keyof typeof accesses): number => {
  const file = openSync(path, accesses[access] | O_NOFOLLOW | O_NONBLOCK, fileMode)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw notAFile(path)
}

/**
 * Creates a missing file for SQLite. Never opens an existing one: on POSIX, closing it removes all locks that this process
 * has on it, for example those of another log. @throws a system error
 */
export const makeFolderFile = (path: string): void => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) closeSync(openSync(path, 'wx', fileMode))
  else if (!found.isFile()) throw notAFile(path)
  else accessSync(path, R_OK | W_OK)
}

const notAFile = (path: string): Error =>
  Object.assign(new Error(`"${path}" is a link, or no regular file`), { code: 'EFTYPE', syscall: 'open' })

/** `null`: missing, unreadable, or cut off by a crash. A disk that does not answer must not stop the event loop. */
export const readFolderJson = async <Schema extends TSchema>(
  path: string,
  schema: Schema,
): Promise<Static<Schema> | null> => {
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const value: unknown = JSON.parse(await file.readFile('utf8'))
    return Value.Check(schema, value) ? value : null
  } catch (cause) {
    if (cause instanceof SyntaxError || isCoded(cause)) return null
    throw cause
  }
}

/** A full disk does not cut off what the file has. What cannot be written is dropped. */
export const writeFolderJson = async (path: string, value: object): Promise<void> => {
  try {
    const file = await open(`${path}.new`, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, fileMode)
    try {
      await file.writeFile(`${JSON.stringify(value)}\n`)
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  } catch (cause) {
    if (!isCoded(cause)) throw cause
  }
}

const isCoded = (cause: unknown): boolean => cause instanceof Error && 'code' in cause

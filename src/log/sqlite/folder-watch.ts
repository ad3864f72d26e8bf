/**
 * SQLite goes on writing to a file that another program has deleted, replaced or truncated. No later start finds those
 * readings (docs/operations.md, "When the data folder is deleted or replaced").
 */

import { type Database, SQLiteError } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSystemError } from '../../domain/error-message.ts'
import { heartbeatMs } from '../../limits.ts'
import type { Schedule } from '../../schedule.ts'
import type { DataFolder } from '../data-folder.ts'
import { Outage } from '../event-log.ts'
import { isMalformed } from './sqlite-faults.ts'
import { copyWal } from './sqlite-file.ts'

export type FileFacts = { readonly dev: number; readonly ino: number; readonly size: number; readonly mtimeMs: number }

/** https://sqlite.org/fileformat2.html#walformat */
export const walHeaderBytes = 32
const walFrameHeaderBytes = 24
export const walFrameAt = (frame: number, pageBytes: number): number =>
  walHeaderBytes + frame * (walFrameHeaderBytes + pageBytes)
/** The last bit of the magic number is the byte order of checksums. */
export const walMagicBytes = 4
const walMagic = 0x377f0682

export type Disk = {
  factsOf(path: string): Promise<FileFacts>
  /** The first `walMagicBytes`, or fewer if the file is shorter. */
  headOf(path: string): Promise<Uint8Array>
}

export type FolderWatchParts = {
  readonly folder: DataFolder
  /** It must be open, so that all files exist. */
  readonly database: Database
  readonly later: Schedule['after']
  /** Called once. From then on the log must not be used. */
  readonly onLost?: ((why: string) => void) | undefined
  readonly disk?: Disk
}

type Role = 'log' | 'wal' | 'shm' | 'lock'
type Watched = { readonly role: Role; readonly path: string; readonly begin: FileFacts }
type Loss = { readonly role: Role; readonly what: string; readonly isTruncated: boolean }

export class FolderWatch {
  readonly #parts: FolderWatchParts
  readonly #disk: Disk
  readonly #files: readonly Watched[]
  readonly #pageBytes: number
  #logBytes: number
  /** The last change of the write-ahead log before its head was found whole. Reading the head takes longest. */
  #walSoundAtMs: number | null = null
  #lost: string | null = null
  #looking: Promise<void> | null = null
  #cancel = (): void => {}

  /** @throws Outage if a file is missing or cannot be examined */
  constructor(parts: FolderWatchParts) {
    this.#parts = parts
    this.#disk = parts.disk ?? systemDisk
    const { logPath, lockPath } = parts.folder
    this.#files = [
      watched('log', logPath),
      watched('wal', `${logPath}-wal`),
      watched('shm', `${logPath}-shm`),
      watched('lock', lockPath),
    ]
    this.#logBytes = this.#files[0]?.begin.size ?? 0
    this.#pageBytes = numberOf(parts.database, 'page_size')
    this.#lookLater()
  }

  get lost(): string | null {
    return this.#lost
  }

  stop(): void {
    this.#cancel()
  }

  /** Never rejects. Never resolves if the disk hangs, so only one look is open. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  #lookLater(): void {
    this.#cancel = this.#parts.later(heartbeatMs, () => {
      void this.look()
      if (this.#lost === null) this.#lookLater()
    })
  }

  async #look(): Promise<void> {
    // Within one look, a program can empty the write-ahead log. So a second look must find the same.
    if (this.#lost !== null || (await this.#findLoss()) === null) return
    const loss = await this.#findLoss()
    if (loss === null) return
    this.#cancel()
    this.#lost = `${loss.what}. The log stopped, and nothing is stored any more. ${this.#remedyOf(loss)}`
    this.#parts.onLost?.(this.#lost)
  }

  async #findLoss(): Promise<Loss | null> {
    // The pages are counted first: the write-ahead log grows meanwhile, so its file can only be larger.
    const walPages = this.#walPages()
    const looks = await Promise.all(this.#files.map((file) => this.#lookAt(file, walPages)))
    return looks.find((loss) => loss !== null) ?? null
  }

  async #lookAt(file: Watched, walPages: number): Promise<Loss | null> {
    const { role, path, begin } = file
    const loss = (what: string, isTruncated = false): Loss => ({ role, what: `"${path}" ${what}`, isTruncated })
    try {
      const facts = await this.#disk.factsOf(path)
      if (facts.ino !== begin.ino || facts.dev !== begin.dev) return loss('was replaced by another file')
      const bytesMin = role === 'log' ? this.#logBytesMin(facts.size) : role === 'wal' ? this.#walBytes(walPages) : 0
      if (facts.size < bytesMin) {
        return loss(`was truncated: it has ${facts.size} bytes, and must have ${bytesMin}`, true)
      }
      const isChanged = role === 'wal' && facts.mtimeMs !== this.#walSoundAtMs
      if (isChanged && walPages > 0) {
        if (!isWalHead(await this.#disk.headOf(path))) {
          return loss('was truncated or overwritten: its beginning is missing', true)
        }
        this.#walSoundAtMs = facts.mtimeMs
      }
      return null
    } catch (cause) {
      if (isMissing(cause)) return loss('was deleted or moved')
      // A disk that fails has lost no file.
      if (isSystemError(cause)) return null
      throw cause
    }
  }

  /**
   * Only a VACUUM shrinks the file, and it lowers the number of pages first. The caller has measured the size before, so a
   * file smaller than its pages has been truncated. If the disk fails, the next look decides.
   */
  #logBytesMin(size: number): number {
    if (size < this.#logBytes) {
      const bytes = this.#pagesBytes()
      if (bytes === 'unknown') return 0
      const bytesMin = Math.min(this.#logBytes, bytes)
      if (size < bytesMin) return bytesMin
    }
    this.#logBytes = size
    return 0
  }

  /** SQLite says `corrupt` or `no database` of a truncated file. */
  #pagesBytes(): number | 'unknown' {
    try {
      return numberOf(this.#parts.database, 'page_count') * this.#pageBytes
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      return isMalformed(cause) ? Number.POSITIVE_INFINITY : 'unknown'
    }
  }

  #walPages(): number {
    return this.#orNull(() => copyWal(this.#parts.database, 'NOOP').pages) ?? 0
  }

  #walBytes(pages: number): number {
    return pages === 0 ? 0 : walFrameAt(pages, this.#pageBytes)
  }

  /**
   * The open connection still reads a deleted write-ahead log, so it is copied. Copying a truncated one would destroy
   * `log.db`.
   */
  #remedyOf({ role, isTruncated }: Loss): string {
    const folder = dirname(this.#parts.folder.logPath)
    const leaveAlone = 'Let no other program change the data folder'
    if (role === 'lock' || role === 'shm') return `Nothing is lost. Start the service again. ${leaveAlone}`
    if (role === 'wal' && !isTruncated && this.#orNull(() => this.#copiesAll())) {
      return `Its events were copied into log.db, so nothing is lost. Start the service again. ${leaveAlone}`
    }
    const answers = `Readings acknowledged in the last ${heartbeatMs / 1_000} s may be lost, too`
    return `${answers}. Before the next start, put "${folder}" back as it was, or restore a backup into an empty folder`
  }

  #copiesAll(): boolean {
    const { isBlocked, pages, copied } = copyWal(this.#parts.database, 'PASSIVE')
    return !isBlocked && pages === copied
  }

  #orNull<T>(ask: () => T): T | null {
    try {
      return ask()
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      return null
    }
  }
}

const watched = (role: Role, path: string): Watched => {
  try {
    return { role, path, begin: statSync(path) }
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    throw new Outage(`Cannot open the log: ${cause.message}`, 'not_written', 'unavailable', { cause })
  }
}

const numberOf = (database: Database, pragma: 'page_size' | 'page_count'): number => {
  const [[value] = []] = database.query(`PRAGMA ${pragma}`).values()
  if (typeof value !== 'number') throw new Error(`Cannot happen: SQLite has no ${pragma}`)
  return value
}

const isWalHead = (head: Uint8Array): boolean =>
  head.length === walMagicBytes && (new DataView(head.buffer, head.byteOffset).getUint32(0) | 1) === (walMagic | 1)

const systemDisk: Disk = {
  factsOf: stat,
  headOf: async (path) => {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(walMagicBytes), 0, walMagicBytes, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  },
}

/** A part of the path can be a file now, or a broken link. */
const isMissing = (cause: unknown): boolean =>
  isSystemError(cause) && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')

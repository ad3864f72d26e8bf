import { Database, SQLiteError } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError } from '../../domain/error-message.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { askReaderCacheKib, storeBusyMsMax } from '../../limits.ts'
import { AskBusy, type AskChange, type AskIndex, AskUnusable } from '../ask-index.ts'
import { makeFolderFile } from '../folder-file.ts'
import { isPassing } from '../sqlite/sqlite-faults.ts'
import { emptyTotals, readAskHead, writeAskHead } from './ask-head.ts'
import { nameChecksum } from './ask-rows.ts'
import { acceptedCode, acceptedName, formatVersion, tables } from './ask-schema.ts'
import { AskWriter } from './ask-writer.ts'
import { AskQueries } from './queries/ask-queries.ts'
import { TableTotals } from './table-totals.ts'

export const askPathIn = (dataDir: string): string => join(dataDir, 'ask.db')

export type AskFileOptions = {
  readonly dataDir: string
  /** Id of the log from which the index is built. The positions of another log mean other events. */
  readonly logId: string
  /** Called once with the reason when the file is found unusable. The index must then be built again from the log. */
  readonly onReplaced?: (why: string) => void
}

/**
 * Opens `ask.db`. A damaged file, or a file of another log or format, is replaced. If it cannot be opened or replaced now, `open()`
 * tries again. A thread writes the file, so that no fsync stops the event loop. The queries read it on the event loop.
 */
export const openAskFile = (options: AskFileOptions): AskIndex => new AskFile(options)

class AskFile implements AskIndex {
  readonly #path: string
  readonly #logId: string
  readonly #onReplaced: (why: string) => void
  /** AskUnusable or AskBusy: the file could not be opened yet. */
  #opened: Opened | Error
  #startingAnew: Promise<void> | null = null

  constructor({ dataDir, logId, onReplaced = () => {} }: AskFileOptions) {
    this.#path = askPathIn(dataDir)
    this.#logId = logId
    this.#onReplaced = onReplaced
    this.#opened = this.#openOrReplace({ waitMsMax: storeBusyMsMax })
  }

  get foldedTo(): FoldedTo | null {
    return this.#opened instanceof Error ? null : this.#opened.foldedTo
  }

  async open(): Promise<void> {
    if (!(this.#opened instanceof Error)) return
    try {
      this.#opened = this.#open({ waitMsMax: 0 })
    } catch (cause) {
      if (!(cause instanceof AskUnusable)) throw cause
      await this.#once(() => this.#replaceSoon())
      this.#onReplaced(cause.message)
    }
  }

  async write(change: AskChange): Promise<void> {
    const opened = this.#file
    if (opened.unusable !== null) throw opened.unusable
    try {
      await opened.writer.write(change)
    } catch (cause) {
      throw this.#noted(opened, cause)
    }
    const position = opened.foldedTo?.position ?? -1
    if (change.foldedTo.position > position) opened.foldedTo = change.foldedTo
  }

  async check(): Promise<void> {
    const opened = this.#file
    try {
      await opened.writer.check()
    } catch (cause) {
      if (!(cause instanceof AskUnusable)) throw cause
      if (opened.isClosed) return
      this.#noted(opened, cause)
      await this.startAnew()
    }
  }

  /** A second call while the first one works waits for the first one. */
  startAnew(): Promise<void> {
    return this.#once(async () => {
      await this.#file.close()
      await this.#replaceSoon()
    })
  }

  find(...parameters: Parameters<AskIndex['find']>): ReturnType<AskIndex['find']> {
    return this.#askInSteps((queries) => queries.find(...parameters))
  }

  placesOfId(...parameters: Parameters<AskIndex['placesOfId']>): ReturnType<AskIndex['placesOfId']> {
    return this.#askInSteps((queries) => queries.placesOfId(...parameters))
  }

  placeAt(...parameters: Parameters<AskIndex['placeAt']>): ReturnType<AskIndex['placeAt']> {
    return this.#ask(this.#file, (queries) => queries.placeAt(...parameters))
  }

  minuteCounts(...parameters: Parameters<AskIndex['minuteCounts']>): ReturnType<AskIndex['minuteCounts']> {
    return this.#askInSteps((queries) => queries.minuteCounts(...parameters))
  }

  hourCounts(...parameters: Parameters<AskIndex['hourCounts']>): ReturnType<AskIndex['hourCounts']> {
    return this.#askInSteps((queries) => queries.hourCounts(...parameters))
  }

  refusalsOfCellar(...parameters: Parameters<AskIndex['refusalsOfCellar']>): ReturnType<AskIndex['refusalsOfCellar']> {
    return this.#askInSteps((queries) => queries.refusalsOfCellar(...parameters))
  }

  racksLike(...parameters: Parameters<AskIndex['racksLike']>): ReturnType<AskIndex['racksLike']> {
    return this.#askInSteps((queries) => queries.racksLike(...parameters))
  }

  seenRacks(...parameters: Parameters<AskIndex['seenRacks']>): ReturnType<AskIndex['seenRacks']> {
    return this.#askInSteps((queries) => queries.seenRacks(...parameters))
  }

  positionOfMinute(...parameters: Parameters<AskIndex['positionOfMinute']>): ReturnType<AskIndex['positionOfMinute']> {
    return this.#ask(this.#file, (queries) => queries.positionOfMinute(...parameters))
  }

  async close(): Promise<void> {
    await this.#startingAnew?.catch(() => {})
    if (!(this.#opened instanceof Error)) await this.#opened.close()
  }

  /** @throws AskUnusable or AskBusy if the file could not be opened yet */
  get #file(): Opened {
    if (this.#opened instanceof Error) throw this.#opened
    return this.#opened
  }

  #once(startAnew: () => Promise<void>): Promise<void> {
    this.#startingAnew ??= startAnew().finally(() => {
      this.#startingAnew = null
    })
    return this.#startingAnew
  }

  async #replaceSoon(): Promise<void> {
    await removeSoon(this.#path)
    this.#opened = this.#open({ waitMsMax: 0 })
  }

  *#askInSteps<Step, T>(use: (queries: AskQueries) => Generator<Step, T>): Generator<Step, T> {
    const opened = this.#file
    const steps = this.#ask(opened, use)
    for (;;) {
      const step = this.#ask(opened, () => steps.next())
      if (step.done === true) return step.value
      yield step.value
    }
  }

  #ask<T>(opened: Opened, use: (queries: AskQueries) => T): T {
    try {
      // The file that took its place is sound, so nobody must empty it again.
      if (opened.isClosed) throw new AskBusy('Cannot read ask.db: it was closed or emptied')
      return orFault(() => use(opened.queries))
    } catch (cause) {
      throw this.#noted(opened, cause)
    }
  }

  /** Keeps in mind that the file is unusable, and tells it once. A file that was closed is no longer of interest. */
  #noted(opened: Opened, cause: unknown): unknown {
    if (!(cause instanceof AskUnusable) || opened.isClosed || opened.unusable !== null) return cause
    opened.unusable = cause
    this.#onReplaced(cause.message)
    return cause
  }

  #open(options: OpenedOptions): Opened {
    return orFault(() => new Opened(this.#path, this.#logId, options))
  }

  #openOrReplace(options: OpenedOptions): Opened | Error {
    try {
      return this.#open(options)
    } catch (cause) {
      if (cause instanceof AskBusy) return cause
      if (!(cause instanceof AskUnusable)) throw cause
      return this.#replace(cause, options)
    }
  }

  #replace({ message }: AskUnusable, options: OpenedOptions): Opened | Error {
    try {
      orFault(() => removeFile(this.#path))
      const opened = this.#open(options)
      this.#onReplaced(message)
      return opened
    } catch (cause) {
      if (cause instanceof AskBusy || cause instanceof AskUnusable) return cause
      throw cause
    }
  }
}

/** How long it waits for another program that has locked the file. The event loop stands still meanwhile. */
type OpenedOptions = { readonly waitMsMax: number }

/** The open file: a connection for the queries, and the thread that writes. */
class Opened {
  foldedTo: FoldedTo | null
  /** The first damage that was found. Nothing is written after it. */
  unusable: AskUnusable | null = null
  readonly queries: AskQueries
  readonly writer: AskWriter
  readonly #database: Database
  #isClosed = false

  constructor(path: string, logId: string, { waitMsMax }: OpenedOptions) {
    makeFolderFile(path)
    this.#database = new Database(path)
    try {
      this.#database.run(`PRAGMA busy_timeout = ${waitMsMax}`)
      this.foldedTo = prepareTables(this.#database, logId)
      this.queries = new AskQueries(this.#database)
    } catch (cause) {
      this.#database.close(true)
      throw cause
    }
    this.writer = new AskWriter(path)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The thread closes the file last, because the last one copies the write-ahead log into the file. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.queries.close()
      this.#database.close(true)
    }
    await this.writer.close()
  }
}

/**
 * Creates the tables of a new file. Returns the last event that the index includes, or `null` for an empty index. Waits for no
 * disk: a file that a power failure damages is replaced.
 * @throws AskUnusable if the file has another format, belongs to another log, or its head is damaged
 */
const prepareTables = (database: Database, logId: string): FoldedTo | null => {
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA journal_mode = WAL')
  database.run(`PRAGMA cache_size = -${askReaderCacheKib}`)
  const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  if (version === 0) createTables(database, logId)
  else if (version !== formatVersion) throw new AskUnusable(`Cannot use ask.db: it has format ${version}`)
  const head = readAskHead(database)
  if (head.logId !== logId) throw new AskUnusable('Cannot use ask.db: it was folded from another log')
  database.run('PRAGMA query_only = ON')
  // A query on the event loop does not wait for another program.
  database.run('PRAGMA busy_timeout = 0')
  return head.foldedTo
}

const createTables = (database: Database, logId: string): void => {
  database.run('BEGIN IMMEDIATE')
  database.run(tables)
  const totals = new TableTotals(emptyTotals)
  const checksum = nameChecksum({ id: acceptedCode, name: acceptedName })
  database.run('INSERT INTO names VALUES (?, ?, ?)', [acceptedCode, acceptedName, checksum])
  totals.add('names', checksum)
  writeAskHead(database, { logId, foldedTo: null, totals: totals.all })
  database.run(`PRAGMA user_version = ${formatVersion}`)
  database.run('COMMIT')
}

const filesOf = (path: string): readonly string[] => [path, `${path}-wal`, `${path}-shm`]

const removeFile = (path: string): void => {
  for (const each of filesOf(path)) rmSync(each, { force: true })
}

/** To delete a file of 500 MB takes a quarter of a second, so the event loop does not wait for it. @throws AskUnusable */
const removeSoon = async (path: string): Promise<void> => {
  try {
    for (const each of filesOf(path)) await rm(each, { force: true })
  } catch (cause) {
    throw asFault(cause)
  }
}

/** @throws AskBusy, AskUnusable */
const orFault = <T>(use: () => T): T => {
  try {
    return use()
  } catch (cause) {
    throw asFault(cause)
  }
}

/** SQLite, the file system and JSON each report a damaged file with a different error. */
const asFault = (cause: unknown): unknown => {
  if (cause instanceof SQLiteError && isPassing(cause)) {
    return new AskBusy(`Cannot use ask.db: ${cause.message}`, { cause })
  }
  const isOfFile = cause instanceof SQLiteError || cause instanceof SyntaxError || isSystemError(cause)
  return isOfFile ? new AskUnusable(`Cannot use ask.db: ${cause.message}`, { cause }) : cause
}

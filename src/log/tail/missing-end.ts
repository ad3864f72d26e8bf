/**
 * SQLite silently takes what is whole of a log that has lost its end, and writes on behind it. So this check comes before
 * SQLite may change a file.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, existsSync, readSync, statSync } from 'node:fs'
import { storeBusyMsMax } from '../../limits.ts'
import { LogUnusable } from '../event-log.ts'
import { openFolderFile } from '../folder-file.ts'
import { walFrameAt, walHeaderBytes } from '../sqlite/folder-watch.ts'
import { isMalformed } from '../sqlite/sqlite-faults.ts'
import { copyWal } from '../sqlite/sqlite-file.ts'
import { type LogEnd, noEvents, readLogEnd } from './log-end.ts'
import {
  readWitness,
  saltsAt,
  saltsBytes,
  type WalExtent,
  type Witness,
  walExtentOf,
  witnessPathBeside,
} from './witness-file.ts'

/**
 * A start still notices an older copy if the write-ahead log began anew this often since. A larger number would take the
 * random salts of new files for an older copy more often. With this one, one in four million is wrong.
 */
const walBeginningsMax = 1_000
/** SQLite locks this byte of the log's file, and writes nothing to its page. */
const lockByte = 0x40000000

/** A file that was computed from events up to `position`. */
export type Mark = {
  /** Names the file in a sentence: "the witness". */
  readonly source: string
  readonly logId: string
  readonly position: number
  /** In words: its stream and revision, or its time. */
  readonly event: string
}

export type MissingEnd = {
  readonly lastPosition: number
  /** What another file knows, or `lastPosition`. */
  readonly knownPosition: number
  /** Clauses, at least one. */
  readonly findings: readonly string[]
}

export class LogEndMissing extends LogUnusable {}

export type EndCheck = {
  /** Called after the log is locked. */
  readonly marks?: (() => readonly Mark[]) | undefined
  /** If it returns, the log is opened. Default: throws `LogEndMissing`. */
  readonly acceptMissing?: ((missing: MissingEnd) => void) | undefined
  /** The witness cannot be used. The next commit replaces it. */
  readonly onWarning?: ((warning: string) => void) | undefined
}

/** Call this while the folder is held, before anything opens the log. @throws LogEndMissing */
export const checkLogEnd = (logPath: string, { acceptMissing, ...check }: EndCheck): void => {
  const missing = findMissingEnd(logPath, check)
  if (missing === null) return
  if (acceptMissing === undefined) throw new LogEndMissing(`${textOf(logPath, missing)}. ${remedy}`)
  if (!isEmptyOrMissing(logPath)) assertConsistent(logPath, missing)
  acceptMissing(missing)
}

/** The other files are read before the log, so a service that writes meanwhile causes no alarm. */
export const findMissingEnd = (
  logPath: string,
  { marks, onWarning }: Omit<EndCheck, 'acceptMissing'>,
): MissingEnd | null => {
  const witness = usableWitness(witnessPathBeside(logPath), onWarning)
  // SQLite deletes the write-ahead log of an empty file, so that is not opened. Beside a new log, files may belong to a log
  // in EventStoreDB, which has no witness.
  const isEmpty = isEmptyOrMissing(logPath)
  const known = [...(witness === null ? [] : [asMark(witness)]), ...(isEmpty ? [] : (marks?.() ?? []))]
  const ofWal = isEmpty ? [] : (walFindings(logPath, witness) ?? walFindings(logPath, witness) ?? [])
  if (known.length === 0 && ofWal.length === 0) return null
  const end = isEmpty ? noEvents : reading(logPath, readLogEnd)
  // Opening the log says why.
  if (end === null && ofWal.length === 0) return null
  if (witness !== null && end !== null && end.logId !== null && end.logId !== witness.logId) {
    onWarning?.(`"${witnessPathBeside(logPath)}" belongs to another log. It is replaced`)
  }
  return compare(end, known, ofWal)
}

/**
 * SQLite silently ignores what follows a damaged page. Returns `null` if SQLite does not count the pages, or if the
 * write-ahead log begins anew meanwhile: then they do not fit its header.
 */
const walFindings = (logPath: string, witness: Witness | null): readonly string[] | null => {
  const path = `${logPath}-wal`
  const header = inFile(path, headerOf)
  if (header === null || header.length < walHeaderBytes) return []
  const pages = reading(logPath, pagesTaken)
  if (pages === null || pages < 0) return null
  return inFile(path, (file) => {
    const hole = holeIn(file, header, { pages, logBytes: statSync(logPath).size })
    if (!headerOf(file).equals(header)) return null
    if (hole !== null) return [`page ${hole} is neither in its file nor in its write-ahead log`]
    return witness === null ? [] : extentFindings(witness.wal, walExtentOf(header.subarray(saltsAt), pages))
  })
}

/** Below 0 while another program keeps SQLite from counting. In a malformed log, which is refused anyway, all pages count. */
const pagesTaken = (database: Database): number => {
  try {
    return copyWal(database, 'NOOP').pages
  } catch (cause) {
    if (!(cause instanceof SQLiteError && isMalformed(cause))) throw cause
    return Number.POSITIVE_INFINITY
  }
}

type Sizes = { readonly pages: number; readonly logBytes: number }

/**
 * Returns a page that the last commit counts, and that is nowhere. Then the log's file is cut off, or older than its
 * write-ahead log. SQLite writes every new page there first, except the page of its locks.
 */
const holeIn = (file: number, header: Buffer, { pages, logBytes }: Sizes): number | null => {
  const pageBytes = header.readUInt32BE(8)
  const found = new Set([lockByte / pageBytes + 1])
  let pagesOfAll = 0
  // A frame begins with the number of its page, the count of all pages if it ends a commit, and the salts.
  const frame = Buffer.alloc(8 + saltsBytes)
  for (let index = 0; index < pages; index += 1) {
    const bytes = readSync(file, frame, 0, frame.length, walFrameAt(index, pageBytes))
    if (bytes < frame.length || frame.compare(header, saltsAt, saltsAt + saltsBytes, 8) !== 0) break
    found.add(frame.readUInt32BE(0))
    pagesOfAll = frame.readUInt32BE(4) || pagesOfAll
  }
  for (let page = Math.floor(logBytes / pageBytes) + 1; page <= pagesOfAll; page += 1) if (!found.has(page)) return page
  return null
}

const headerOf = (file: number): Buffer => {
  const header = Buffer.alloc(walHeaderBytes)
  return header.subarray(0, readSync(file, header, 0, walHeaderBytes, 0))
}

/** Returns `null` if the file is missing. */
const inFile = <T>(path: string, read: (file: number) => T): T | null => {
  if (!existsSync(path)) return null
  const file = openFolderFile(path, 'read')
  try {
    return read(file)
  } finally {
    closeSync(file)
  }
}

/** A file that cannot be read is not taken for an empty one. */
const isEmptyOrMissing = (path: string): boolean => {
  try {
    return inFile(path, (file) => readSync(file, new Uint8Array(1)) === 0) ?? true
  } catch {
    return false
  }
}

const usableWitness = (path: string, onWarning: EndCheck['onWarning']): Witness | null => {
  try {
    return readWitness(path)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    onWarning?.(`"${path}" is damaged: ${cause.message}. It is replaced, and cannot tell whether the log is complete`)
    return null
  }
}

const witnessSource = 'the witness'

const asMark = ({ logId, position, recordedAt }: Witness): Mark => ({
  source: witnessSource,
  logId,
  position,
  event: `written at ${timeText(recordedAt)}`,
})

const extentFindings = (wal: WalExtent, extent: WalExtent): readonly string[] => {
  if (wal.firstSalt === 0 && wal.secondSalt === 0) return []
  const timesBegun = (wal.firstSalt - extent.firstSalt) >>> 0
  if (timesBegun > 0) return timesBegun <= walBeginningsMax ? ['its write-ahead log is an older copy'] : []
  if (wal.secondSalt !== extent.secondSalt || wal.pages <= extent.pages) return []
  return [`its write-ahead log has ${extent.pages} whole pages, and ${wal.pages} were synced`]
}

const compare = (read: LogEnd | null, known: readonly Mark[], ofWal: readonly string[]): MissingEnd | null => {
  const end = read ?? noEvents
  // Before a log has its id, the models can be of a log in EventStoreDB, which has no witness.
  const ahead = known.filter(
    ({ source, logId, position }) =>
      position > end.position && (end.logId === logId || (end.logId === null && source === witnessSource)),
  )
  const findings = [
    ...ofWal,
    ...ahead.map(({ source, position, event }) => `${source} knows position ${position}, ${event}`),
  ]
  if (findings.length === 0) return null
  const knownPosition = Math.max(end.position, ...ahead.map(({ position }) => position))
  return { lastPosition: end.position, knownPosition, findings: [...findings, lastText(read)] }
}

const lastText = (end: LogEnd | null): string => {
  if (end === null) return 'SQLite cannot read what is left'
  if (end.position === 0) return 'it has no event'
  return `its last event has position ${end.position}, written at ${timeText(end.recordedAt)}`
}

const timeText = (ms: number): string => {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? 'an unknown time' : time.toISOString()
}

const textOf = (logPath: string, { lastPosition, knownPosition, findings }: MissingEnd): string => {
  const first = lastPosition + 1
  const positions = first === knownPosition ? `Position ${first} is` : `Positions ${first} to ${knownPosition} are`
  const lost = knownPosition >= first ? `${positions} missing. ` : ''
  return `Cannot open "${logPath}": it has lost events, or is older than the files beside it. ${lost}In short: ${findings.join('; ')}`
}

const remedy =
  'Restore a backup into an empty folder. Or accept the loss: "cellarbook serve --accept-missing-events" uses the log as it is, and records the loss in the log'

/** Pages of different ages do not fit together. Writing makes it worse. */
const assertConsistent = (logPath: string, missing: MissingEnd): void => {
  const isConsistent = reading(
    logPath,
    (database) => database.query('PRAGMA integrity_check(1)').values()[0]?.[0] === 'ok',
  )
  if (isConsistent === true) return
  const why = 'What is left does not fit together, so it cannot be used. Restore a backup into an empty folder'
  throw new LogEndMissing(`${textOf(logPath, missing)}. ${why}`)
}

/** `null`: SQLite cannot read the file. A connection that only reads leaves the write-ahead log as evidence. */
const reading = <T>(logPath: string, read: (database: Database) => T): T | null => {
  try {
    using database = new Database(logPath, { readonly: true })
    database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
    return read(database)
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return null
  }
}

import { type Database, SQLiteError } from 'bun:sqlite'
import { messageOf } from '../../domain/error-message.ts'
import { eachRow, type PackedGroup, type SharedGroup, streamsOf } from './packed-group.ts'
import { rowChecksum } from './reads/row-checksum.ts'
import { copyWal } from './sqlite-file.ts'
import { WalCopying, type WalPages } from './wal-copying.ts'

/** With more in one transaction, appends would wait too long. */
export const trimEventsMax = 256

export type CommitVerdict =
  /** `survived`: the first COMMIT failed, so the disk may be damaged. */
  | { readonly kind: 'written'; readonly survived?: string }
  | { readonly kind: 'not_written'; readonly reason: 'full' | 'unavailable'; readonly why: string }
  /** Another program took the positions. The log must give new ones. */
  | { readonly kind: 'overlaps'; readonly why: string }
  /** The COMMIT failed, but its rows may be on the disk. Nothing more is written. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** Not tried: an earlier group failed. The log must give new positions. */
  | { readonly kind: 'superseded' }
  /** Not tried, because an earlier write ended as `unknown`. */
  | { readonly kind: 'stopped'; readonly why: string }

/** Writes are done in the order of the calls. Failures are verdicts: no method rejects. */
export type Commits = {
  commit(group: PackedGroup): Promise<CommitVerdict>
  truncate(truncation: Truncation): Promise<CommitVerdict>
  /** A limited number of rows, so that no commit waits long. Call it again until none is left. */
  trim(trimming: Trimming): Promise<CommitVerdict>
  /** It can hold deleted personal data. Answers `not_written` while another program reads the file. */
  emptyWriteAheadLog(): Promise<CommitVerdict>
  /** Why nothing can be written, or why copying the write-ahead log failed. */
  readonly fault: string | null
  /** Commits succeed nevertheless. */
  readonly walHeldBack: string | null
  /** Commits succeed nevertheless. */
  readonly witnessFault: string | null
  close(): Promise<void>
}

export type Truncation = { readonly stream: number; readonly keptFrom: number; readonly checksum: number }

/** `isErased`: personal data is overwritten with zeros, which takes up to twice the time. */
export type Trimming = { readonly stream: number; readonly isErased: boolean }

type Transaction = {
  run(): void
  /** Called after a failed COMMIT. True: reads show the change nevertheless. */
  isVisible(): boolean
}

type LastRow = { readonly position: number; readonly recordedAt: number }

type Failure = { readonly cause: unknown; readonly isInDoubt: boolean }

export class SqliteCommits {
  readonly #database: Database
  readonly #beforeCommit: (database: Database) => void
  readonly #walCopying: WalCopying
  readonly #statements: ReturnType<typeof prepare>
  #stoppedBy: string | null = null
  #lastInserted: LastRow | null = null
  #lastCommitted: LastRow | null = null
  /** Later groups of this epoch have wrong positions, so they are not written. */
  #failedEpoch = -1

  /** In `beforeCommit`, a test acts as a failing disk. */
  constructor(database: Database, beforeCommit: (database: Database) => void = () => {}) {
    this.#database = database
    this.#beforeCommit = beforeCommit
    this.#walCopying = new WalCopying(database)
    this.#statements = prepare(database)
  }

  get lastCommitted(): LastRow | null {
    return this.#lastCommitted
  }

  lookAtWal(): WalPages {
    return this.#walCopying.look()
  }

  get walCopyFault(): string | null {
    return this.#walCopying.fault
  }

  get walHeldBack(): string | null {
    return this.#walCopying.heldBack
  }

  /** After a failed COMMIT, the rows are written again (docs/protocol.md, "A failed fsync"). */
  commit(group: SharedGroup): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    if (group.epoch === this.#failedEpoch) return { kind: 'superseded' }
    const verdict = this.#write({
      run: () => this.#insert(group),
      isVisible: () => this.#statements.findEventFrom.get(group.firstPosition) !== null,
    })
    if (verdict.kind === 'written') this.#lastCommitted = this.#lastInserted
    else this.#failedEpoch = group.epoch
    return verdict
  }

  copyWalIfDue(): void {
    this.#walCopying.runIfDue()
  }

  retryWalCopy(): void {
    this.#walCopying.retry()
  }

  truncate({ stream, keptFrom, checksum }: Truncation): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    return this.#write({
      run: () => {
        const { changes } = this.#statements.raiseKeptFrom.run(keptFrom, checksum, stream)
        if (changes === 0) this.#statements.insertKeptFrom.run(stream, keptFrom, checksum)
      },
      isVisible: () => (this.#statements.findKeptFrom.get(stream)?.kept_from ?? 0) >= keptFrom,
    })
  }

  trim({ stream, isErased }: Trimming): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    let first = 0
    if (isErased) this.#database.run('PRAGMA secure_delete = ON')
    const verdict = this.#write({
      run: () => {
        first = this.#statements.findFirstRow.get(stream)?.revision ?? 0
        this.#statements.deleteEvents.run(stream, first + trimEventsMax)
      },
      isVisible: () => this.#statements.findFirstRow.get(stream)?.revision !== first,
    })
    if (isErased) this.#database.run('PRAGMA secure_delete = OFF')
    return verdict
  }

  emptyWriteAheadLog(): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    try {
      const { isBlocked } = copyWal(this.#database, 'TRUNCATE')
      if (!isBlocked) return { kind: 'written' }
      return { kind: 'not_written', reason: 'unavailable', why: 'another program reads the file' }
    } catch (cause) {
      return verdictOf(cause)
    }
  }

  #write(transaction: Transaction): CommitVerdict {
    const first = this.#try(transaction)
    if (first === null) return { kind: 'written' }
    if (this.#stoppedBy === null && !first.isInDoubt) return verdictOf(first.cause)
    if (this.#stoppedBy === null) {
      // Visible rows cannot be written again, so no second COMMIT can prove that they are durable.
      if (this.#isVisible(transaction)) this.#stop('a commit that had failed took effect')
      else {
        const second = this.#try(transaction)
        if (second === null) return { kind: 'written', survived: messageOf(first.cause) }
        this.#stop(messageOf(second.cause))
      }
    }
    return { kind: 'unknown', why: messageOf(first.cause) }
  }

  #try(transaction: Transaction): Failure | null {
    let isCommitting = false
    try {
      this.#statements.begin.run()
      transaction.run()
      isCommitting = true
      this.#beforeCommit(this.#database)
      this.#statements.commit.run()
      return null
    } catch (cause) {
      this.#undo()
      // A full disk leaves no doubt: the page that makes a commit valid is written last.
      return { cause, isInDoubt: isCommitting && !isFull(cause) }
    }
  }

  #insert(group: SharedGroup): void {
    for (const { id, name } of streamsOf(group)) this.#statements.insertStream.run(id, name)
    eachRow(group, (row) => {
      const { position, stream, revision, count, recordedAt, body } = row
      const checksum = rowChecksum(row, row.nameChecksum)
      this.#statements.insertEvents.run(position, stream, revision, count, recordedAt, body, checksum)
      this.#lastInserted = { position: position + count - 1, recordedAt }
    })
  }

  #undo(): void {
    try {
      if (this.#database.inTransaction) this.#statements.rollback.run()
    } catch (cause) {
      this.#stop(messageOf(cause))
    }
  }

  #isVisible(transaction: Transaction): boolean {
    try {
      return transaction.isVisible()
    } catch (cause) {
      this.#stop(messageOf(cause))
      return false
    }
  }

  #stop(why: string): void {
    this.#stoppedBy ??= stoppedText(why)
  }
}

export const stoppedText = (why: string): string =>
  `The disk failed, so the log can't be written until the service is restarted: ${why}`

const verdictOf = (cause: unknown): CommitVerdict => {
  if (!(cause instanceof SQLiteError)) throw cause
  const why = cause.message
  if (cause.code?.startsWith('SQLITE_CONSTRAINT') === true) return { kind: 'overlaps', why }
  return { kind: 'not_written', reason: isFull(cause) ? 'full' : 'unavailable', why }
}

const isFull = (cause: unknown): boolean => cause instanceof SQLiteError && cause.code === 'SQLITE_FULL'

const prepare = (database: Database) => ({
  begin: database.prepare('BEGIN IMMEDIATE'),
  commit: database.prepare('COMMIT'),
  rollback: database.prepare('ROLLBACK'),
  findEventFrom: database.prepare<{ position: number }, [number]>(
    'SELECT position FROM events WHERE position >= ? LIMIT 1',
  ),
  findFirstRow: database.prepare<{ revision: number }, [number]>(
    'SELECT revision FROM events WHERE stream = ? ORDER BY revision LIMIT 1',
  ),
  findKeptFrom: database.prepare<{ kept_from: number }, [number]>('SELECT kept_from FROM truncations WHERE stream = ?'),
  raiseKeptFrom: database.prepare('UPDATE truncations SET kept_from = ?, checksum = ? WHERE stream = ?'),
  insertKeptFrom: database.prepare('INSERT INTO truncations (stream, kept_from, checksum) VALUES (?, ?, ?)'),
  deleteEvents: database.prepare(`
    DELETE FROM events WHERE stream = ?1 AND revision < ?2
      AND revision + count <= (SELECT kept_from FROM truncations WHERE stream = ?1)
  `),
  insertStream: database.prepare('INSERT INTO streams (id, name) VALUES (?, ?)'),
  insertEvents: database.prepare(
    'INSERT INTO events (position, stream, revision, count, recorded_at, body, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ),
})

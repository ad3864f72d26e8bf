import { type Database, SQLiteError } from 'bun:sqlite'
import { messageOf } from '../../domain/error-message.ts'
import { trimEventsMax } from '../../limits.ts'
import { eachRow, type PackedGroup, streamsOf } from './commit-group.ts'
import { copyWal } from './sqlite-file.ts'
import { WalCopying } from './wal-copying.ts'

/** What became of a group. */
export type CommitVerdict =
  /** `survived`: why the first fsync failed, if the second one succeeded. */
  | { readonly kind: 'written'; readonly survived?: string }
  /** Nothing was written, and the next group may fare better. */
  | { readonly kind: 'not_written'; readonly reason: 'full' | 'unavailable'; readonly why: string }
  /** Nothing was written: somebody else's rows lie there. */
  | { readonly kind: 'overlaps'; readonly why: string }
  /** Nobody can say, and nothing more is written by this process. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** Not tried: a group before it, on which it was numbered, was not written. */
  | { readonly kind: 'superseded' }
  /** Not tried: an earlier group ended unknown. */
  | { readonly kind: 'stopped'; readonly why: string }

/** Where batches are made durable, one after the other: on a thread of its own, or in a test on this one. */
export type Commits = {
  /** Settles after the fsync. Never rejects. Batches are written in the order in which they are given. */
  commit(group: PackedGroup): Promise<CommitVerdict>
  /** A stream begins at `keptFrom` from now on. Never rejects. */
  truncate(truncation: Truncation): Promise<CommitVerdict>
  /** Deletes the next rows of which nothing is kept, few enough that nobody waits long behind them. Never rejects. */
  trim(trimming: Trimming): Promise<CommitVerdict>
  /**
   * Copies the write-ahead log into the file and empties it, so that neither holds erased rows. `not_written` if another
   * program reads the file now. Never rejects.
   */
  emptyWriteAheadLog(): Promise<CommitVerdict>
  /** Why nothing can be written, or why the last checkpoint failed; `null` if neither is so. */
  readonly fault: string | null
  close(): Promise<void>
}

/** Of the stream with that number. */
export type Truncation = { readonly stream: number; readonly keptFrom: number }

/** `isErased`: the deleted rows are overwritten with zeros, which costs up to twice the time. */
export type Trimming = { readonly stream: number; readonly isErased: boolean }

/** What happens between BEGIN and COMMIT, and how to tell afterwards that it has taken effect. */
type Transaction = { run(): void; isVisible(): boolean }

type Failure = { readonly cause: unknown; readonly isInDoubt: boolean }

/** Batches as transactions of one connection, and what a failure means. Everything here happens at once. */
export class SqliteCommits {
  readonly #database: Database
  readonly #beforeCommit: (database: Database) => void
  readonly #walCopying: WalCopying
  readonly #statements: ReturnType<typeof prepare>
  #stoppedBy: string | null = null
  /** What was numbered before the last failure was known stands on ground that is not there. */
  #failedEpoch = -1

  /** `beforeCommit` runs right before each COMMIT: a test does there what a disk would. */
  constructor(database: Database, beforeCommit: (database: Database) => void = () => {}) {
    this.#database = database
    this.#beforeCommit = beforeCommit
    this.#walCopying = new WalCopying(database)
    this.#statements = prepare(database)
  }

  get walCopyFault(): string | null {
    return this.#walCopying.fault
  }

  /**
   * All of the group, or nothing of it. A COMMIT that failed may have reached the disk all the same: the same group again
   * on the same connection overwrites what it may have left, and the fsync of that vouches for it (docs/protocol.md, "A failed
   * fsync").
   */
  commit(group: PackedGroup): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    if (group.epoch === this.#failedEpoch) return { kind: 'superseded' }
    const verdict = this.#write({
      run: () => this.#insert(group),
      isVisible: () => this.#statements.find.get(group.firstPosition) !== null,
    })
    if (verdict.kind !== 'written') this.#failedEpoch = group.epoch
    return verdict
  }

  /** Copies the write-ahead log into the file when that is due: behind the answer, since it may take milliseconds. */
  copyWalIfDue(): void {
    this.#walCopying.runIfDue()
  }

  /** If the last checkpoint failed. */
  retryWalCopy(): void {
    this.#walCopying.retry()
  }

  truncate({ stream, keptFrom }: Truncation): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    return this.#write({
      run: () => {
        const { changes } = this.#statements.raiseMark.run(keptFrom, stream)
        if (changes === 0) this.#statements.insertMark.run(stream, keptFrom)
      },
      isVisible: () => (this.#statements.findMark.get(stream)?.kept_from ?? 0) >= keptFrom,
    })
  }

  trim({ stream, isErased }: Trimming): CommitVerdict {
    if (this.#stoppedBy !== null) return { kind: 'stopped', why: this.#stoppedBy }
    let first = 0
    if (isErased) this.#database.run('PRAGMA secure_delete = ON')
    const verdict = this.#write({
      run: () => {
        first = this.#statements.findFirst.get(stream)?.revision ?? 0
        this.#statements.deleteEvents.run(stream, first + trimEventsMax)
      },
      isVisible: () => this.#statements.findFirst.get(stream)?.revision !== first,
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
      // Rows that had become visible are not written a second time, and then no fsync vouches for them.
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
      // No room is no doubt: the page that makes a commit valid is written last.
      return { cause, isInDoubt: isCommitting && !isFull(cause) }
    }
  }

  #insert(group: PackedGroup): void {
    for (const { id, name } of streamsOf(group)) this.#statements.insertStream.run(id, name)
    eachRow(group, ({ position, stream, revision, count, recordedAt, body }) =>
      this.#statements.insertEvents.run(position, stream, revision, count, recordedAt, body),
    )
  }

  #undo(): void {
    try {
      // After some failures SQLite has rolled back by itself.
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

/** What everyone is told once nothing more is written by this process. */
export const stoppedText = (why: string): string =>
  `The log can't be written since a failure of its disk, until the service is started again: ${why}`

const verdictOf = (cause: unknown): CommitVerdict => {
  // A bug is not an outage: it ends whoever runs this.
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
  find: database.prepare<{ position: number }, [number]>('SELECT position FROM events WHERE position >= ? LIMIT 1'),
  findFirst: database.prepare<{ revision: number }, [number]>(
    'SELECT revision FROM events WHERE stream = ? ORDER BY revision LIMIT 1',
  ),
  findMark: database.prepare<{ kept_from: number }, [number]>('SELECT kept_from FROM truncations WHERE stream = ?'),
  raiseMark: database.prepare('UPDATE truncations SET kept_from = ? WHERE stream = ?'),
  insertMark: database.prepare('INSERT INTO truncations (stream, kept_from) VALUES (?, ?)'),
  deleteEvents: database.prepare(`
    DELETE FROM events WHERE stream = ?1 AND revision < ?2
      AND revision + count <= (SELECT kept_from FROM truncations WHERE stream = ?1)
  `),
  insertStream: database.prepare('INSERT INTO streams (id, name) VALUES (?, ?)'),
  insertEvents: database.prepare(
    'INSERT INTO events (position, stream, revision, count, recorded_at, body) VALUES (?, ?, ?, ?, ?, ?)',
  ),
})

import { SQLiteError } from 'bun:sqlite'
import { type AppendResult, Outage, UndecodableEvent } from './event-log.ts'
import type { Append, SqliteStore } from './sqlite-store.ts'

/** What became of one append of a group. */
export type Fate = { readonly result: AppendResult } | { readonly fault: UndecodableEvent }

type Failed = {
  readonly cause: unknown
  /** COMMIT was under way, so the group may be on disk. */
  readonly isInDoubt: boolean
  readonly eventsStaged: number
}

/** Writes groups of appends, each in one transaction, and knows what a failure means. */
export class SqliteWriter {
  readonly #store: SqliteStore
  readonly #beforeCommit: () => void
  #stoppedBy: string | null = null

  constructor(store: SqliteStore, beforeCommit: () => void) {
    this.#store = store
    this.#beforeCommit = beforeCommit
  }

  /** Why nothing is written any more; `null` while all is well. */
  get stoppedBy(): string | null {
    return this.#stoppedBy
  }

  /**
   * All of the group, or nothing of it. A COMMIT that failed may have reached the disk all the same: the same group again
   * on the same connection overwrites what it may have left, and the fsync of that vouches for it (protocol, "A failed
   * fsync"). Another writer's rows, which the database refuses to overlap, are taken note of by the second try.
   * @throws Outage
   */
  write(group: readonly Append[]): readonly Fate[] {
    if (this.#stoppedBy !== null) throw new Outage(this.#stoppedBy, 'not_written', 'unavailable')
    const first = this.#try(group)
    if (!('cause' in first)) return first
    if (this.#stoppedBy === null && !first.isInDoubt && !isConstraint(first.cause)) throw outageOf(first.cause)

    const second = this.#stoppedBy === null ? this.#try(group) : first
    if (!('cause' in second)) {
      // Rows that had become visible are not written a second time, and then no fsync vouches for them.
      if (!first.isInDoubt || eventsWritten(second) === first.eventsStaged) return second
      this.#stop('a commit that had failed took effect')
    } else if (!first.isInDoubt && !second.isInDoubt) {
      throw outageOf(second.cause)
    } else {
      this.#stop(messageOf(second.cause))
    }
    throw new Outage('Cannot say whether it was written', 'unknown', 'unavailable', { cause: first.cause })
  }

  #try(group: readonly Append[]): readonly Fate[] | Failed {
    let eventsStaged = 0
    let isCommitting = false
    try {
      this.#store.begin()
      const fates = group.map((append) => this.#stage(append))
      eventsStaged = eventsWritten(fates)
      isCommitting = true
      this.#beforeCommit()
      this.#store.commit()
      return fates
    } catch (cause) {
      this.#undo()
      // No room is no doubt: the page that makes a commit valid is written last.
      return { cause, isInDoubt: isCommitting && !isFull(cause), eventsStaged }
    }
  }

  /** One that can't be compared with what is stored fails by itself; its neighbours go on. */
  #stage(append: Append): Fate {
    try {
      return { result: this.#store.append(append) }
    } catch (cause) {
      if (cause instanceof UndecodableEvent) return { fault: cause }
      throw cause
    }
  }

  #undo(): void {
    try {
      this.#store.rollback()
    } catch (cause) {
      this.#stop(messageOf(cause))
    }
  }

  #stop(why: string): void {
    this.#stoppedBy = `The log can't be written since a failure of its disk: ${why}`
  }
}

const eventsWritten = (fates: readonly Fate[]): number => fates.reduce((sum, fate) => sum + eventsOf(fate).length, 0)

/** The events that an append has newly written. */
export const eventsOf = (fate: Fate) =>
  'result' in fate && fate.result.outcome === 'written' ? fate.result.events : []

const outageOf = (cause: unknown): unknown => {
  // A bug is not an outage.
  if (!(cause instanceof SQLiteError)) return cause
  const reason = isFull(cause) ? 'full' : 'unavailable'
  return new Outage(`Cannot write to the log: ${cause.message}`, 'not_written', reason, { cause })
}

const isFull = (cause: unknown): boolean => cause instanceof SQLiteError && cause.code === 'SQLITE_FULL'

const isConstraint = (cause: unknown): boolean =>
  cause instanceof SQLiteError && cause.code?.startsWith('SQLITE_CONSTRAINT') === true

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

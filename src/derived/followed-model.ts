import { SQLiteError } from 'bun:sqlite'
import { isSystemError, messageOf } from '../domain/error-message.ts'
import { type FoldedTo, foldedToOf } from '../domain/log-reference.ts'
import { lastPositionOf } from '../domain/reading/recorded-run.ts'
import { modelRetryPauseMs } from '../limits.ts'
import type { Beginning, SourcePage } from '../log/source.ts'
import { isPassing } from '../log/sqlite/sqlite-faults.ts'
import type { FromFollower, InLog, ModelProgress } from './follower-messages.ts'
import type { Model, ModelKind } from './model.ts'
import {
  deleteModelFile,
  inodeOf,
  type ModelDatabase,
  ModelUnusable,
  modelPath,
  openModelFile,
  readHead,
  writeHead,
} from './model-file.ts'

/** A model is flushed when about this number of rows waits. A row takes about 150 bytes. */
const modelPendingMax = 16_384
/** A model counts as behind if it has not met the end of the log for this time. */
export const modelBehindMs = 2_000
/** If the flushes of a model fail again and again, for example because the disk is full, the pauses double up to this one. */
export const modelRetryPauseMsMax = 10_000
/** If the file of a model is lost again and again, the pauses before it is built anew double up to this one. */
export const modelAnewPauseMsMax = 600_000

type Checking = { readonly database: ModelDatabase; readonly steps: Generator<void, string | null> }
type Opened = { readonly inode: number | null; readonly database: ModelDatabase; readonly model: Model }

export type FollowedParts = {
  readonly kind: ModelKind
  readonly dataDir: string
  readonly logId: string
  readonly now: () => number
  readonly passedMs: () => number
  readonly tell: (message: FromFollower) => void
}

/**
 * After a fault, the model is dropped, and its file is opened again after a pause. What was folded and not flushed is then
 * read from the log again.
 */
export class FollowedModel {
  readonly #parts: FollowedParts
  readonly #path: string
  #database: ModelDatabase | null = null
  #opened: Opened | null = null
  #mustDelete: string | null = null
  #isSound = false
  #isAsking = false
  #checking: Checking | null = null
  #isChecked = false
  #isBegun = false
  #isEnded = false
  #head: FoldedTo | null = null
  #last: FoldedTo | null = null
  #scannedTo: number | null = null
  #steps: Generator<void> | null = null
  #flushedAtMs = 0
  #caughtUpAtMs = 0
  #retryAtMs = 0
  #pauseMs = 0
  #wanted = -1
  /** Ends when a flush succeeds, or when there is nothing to flush. */
  #fileTrouble: string | null = null
  #logTrouble: string | null = null
  #progress: ModelProgress = { position: null, isBehind: true, trouble: null }

  constructor(parts: FollowedParts) {
    this.#parts = parts
    this.#path = modelPath(parts.dataDir, parts.kind.name)
  }

  get name(): string {
    return this.#parts.kind.name
  }

  get isReady(): boolean {
    return this.#opened !== null && this.#isBegun && this.#retryAtMs <= this.#parts.passedMs()
  }

  get isChecking(): boolean {
    return this.#checking !== null
  }

  /** Not `null`: `beginAfter` must say after which position this part of the log begins. */
  get wantedBeginning(): Beginning | null {
    const { kind, now, passedMs } = this.#parts
    const isWanted = this.#opened !== null && !this.#isBegun && this.#retryAtMs <= passedMs()
    return isWanted && kind.keptMs !== undefined ? { nowMs: now(), keptMs: kind.keptMs } : null
  }

  get position(): number | null {
    return this.#scannedTo
  }

  get flushedTo(): number {
    return this.#head?.position ?? -1
  }

  get isBehind(): boolean {
    return this.#progress.isBehind
  }

  get isUrgent(): boolean {
    return this.#progress.isBehind && this.#parts.kind.isUrgent === true
  }

  get isFlushing(): boolean {
    return this.#steps !== null
  }

  get mustFlush(): boolean {
    if (this.#steps !== null) return true
    if (this.#opened === null || this.#last === this.#head) return false
    if (this.#opened.model.pending >= modelPendingMax) return true
    // Only a flush ends the trouble, and no page asks for one before.
    if (this.#fileTrouble !== null && !this.#progress.isBehind) return true
    if (this.#wanted > this.flushedTo && (this.#scannedTo ?? -1) >= this.#wanted) return true
    return this.#parts.passedMs() - this.#flushedAtMs >= this.#parts.kind.flushEveryMs
  }

  want(position: number): void {
    this.#wanted = Math.max(this.#wanted, position)
  }

  hasFlushed(position: number): boolean {
    return this.#opened !== null && (this.#scannedTo ?? -1) >= position && this.#last === this.#head
  }

  beginAfter(position: number | null): void {
    this.#scannedTo = position
    this.#isBegun = true
  }

  /** If the file is being checked, the check goes on for a few ms. */
  openIfDue(): void {
    if (this.#checking !== null) {
      this.#checkOn(this.#checking)
      return
    }
    const isDue = this.#opened === null && !this.#isEnded && !this.#isAsking
    if (!isDue || this.#retryAtMs > this.#parts.passedMs()) return
    try {
      this.#open()
    } catch (fault) {
      this.#fail(fault)
    }
  }

  hear(isInLog: InLog): void {
    this.#isAsking = false
    if (isInLog === null) {
      this.#pause(modelRetryPauseMs, modelRetryPauseMs)
      return
    }
    this.#isSound = true
    if (isInLog === 'purged') this.#mustDelete = 'its last event was purged, so the log cannot confirm it'
    if (isInLog === false) this.#mustDelete = 'the log does not have its last event'
  }

  fold({ items, scannedTo, atEnd }: SourcePage): void {
    this.#guard(({ inode, model }) => {
      // SQLite would go on to write a file that nobody finds any more.
      if (atEnd && inodeOf(this.#path) !== inode) throw new ModelUnusable('it was deleted or replaced')
      model.fold(items)
      const last = items.at(-1)
      if (last !== undefined) this.#last = foldedToOf(last)
      const foldedTo = Math.max(last === undefined ? -1 : lastPositionOf(last), scannedTo ?? -1)
      this.#scannedTo = foldedTo < 0 ? null : foldedTo
      const nowMs = this.#parts.passedMs()
      if (atEnd) this.#caughtUpAtMs = nowMs
      if (atEnd && this.#last === this.#head) this.#fileTrouble = null
      this.#logTrouble = null
      if (atEnd || nowMs - this.#caughtUpAtMs > modelBehindMs) this.#tell({ isBehind: !atEnd })
    })
  }

  /** Writes for a few ms. Call it again while `mustFlush`. */
  flushStep(): void {
    this.#guard((opened) => {
      if (this.#steps === null) {
        opened.database.run('BEGIN IMMEDIATE')
        this.#steps = opened.model.flush(this.#parts.now())
      }
      if (this.#steps.next().done === true) this.#commit(opened)
    })
  }

  /** Flushes in one piece. */
  end(): void {
    while (this.#opened !== null && (this.#steps !== null || this.#last !== this.#head)) this.flushStep()
    this.#close()
    this.#isEnded = true
  }

  /** The log cannot be read now, so the model waits. */
  waitForLog(why: string): void {
    this.#logTrouble = why
    this.#tell({})
    this.#retryAtMs = this.#parts.passedMs() + modelRetryPauseMs
  }

  rebuild(why: string): void {
    this.#fail(new ModelUnusable(why))
  }

  #close(): void {
    const database = this.#database
    this.#database = null
    this.#opened = null
    this.#checking = null
    this.#steps = null
    database?.end()
  }

  #open(): void {
    const { kind, logId, tell } = this.#parts
    if (this.#mustDelete !== null) {
      deleteModelFile(this.#path)
      tell({ kind: 'replaced', model: kind.name, why: this.#mustDelete })
      this.#mustDelete = null
      this.#isChecked = true
    }
    const database = openModelFile(this.#path, kind, logId)
    this.#database = database
    const head = readHead(database)
    if (head !== null && !this.#isSound) {
      this.#close()
      this.#isAsking = true
      tell({ kind: 'isInLog', model: kind.name, head })
      return
    }
    this.#isSound = true
    if (kind.check === undefined || this.#isChecked) this.#use(database)
    else this.#checking = { database, steps: kind.check(database) }
  }

  #checkOn({ database, steps }: Checking): void {
    try {
      const step = steps.next()
      if (step.done !== true) return
      if (step.value !== null) throw new ModelUnusable(step.value)
      this.#checking = null
      this.#isChecked = true
      this.#use(database)
    } catch (fault) {
      this.#fail(fault)
    }
  }

  #use(database: ModelDatabase): void {
    const { kind, tell, passedMs } = this.#parts
    const head = readHead(database)
    this.#opened = { inode: inodeOf(this.#path), database, model: kind.open(database) }
    this.#head = head
    this.#last = head
    this.#scannedTo = head?.position ?? null
    this.#isBegun = head !== null || kind.keptMs === undefined
    this.#flushedAtMs = passedMs()
    const position = head?.position ?? null
    tell({ kind: 'opened', model: kind.name, position })
    this.#tell({ position, isBehind: true })
  }

  #commit({ database }: Opened): void {
    if (this.#last !== null) writeHead(database, this.#last)
    database.run('COMMIT')
    this.#steps = null
    this.#head = this.#last
    this.#flushedAtMs = this.#parts.passedMs()
    if (!this.#progress.isBehind) this.#pauseMs = 0
    this.#fileTrouble = null
    this.#tell({ position: this.flushedTo })
  }

  #guard(work: (opened: Opened) => void): void {
    if (this.#opened === null) return
    try {
      work(this.#opened)
    } catch (fault) {
      this.#fail(fault)
    }
  }

  #fail(fault: unknown): void {
    this.#close()
    const isBusy = fault instanceof SQLiteError && isPassing(fault)
    const isOfFile = fault instanceof ModelUnusable || fault instanceof SQLiteError || isSystemError(fault)
    if (isBusy) this.#pause(Math.max(modelRetryPauseMs, this.#pauseMs), modelRetryPauseMsMax)
    else if (isOfFile) this.#deleteSoon(fault.message)
    else this.#stopFor(fault)
    this.#fileTrouble = this.#isEnded ? 'A bug has stopped it' : messageOf(fault)
    this.#tell({ isBehind: true })
  }

  /** Only the first time without a pause: a disk that spoils each new file must not take a core for ever. */
  #deleteSoon(why: string): void {
    this.#mustDelete = why
    this.#pause(this.#pauseMs, modelAnewPauseMsMax)
  }

  /** The other models go on. */
  #stopFor(bug: unknown): void {
    this.#isEnded = true
    this.#parts.tell({ kind: 'bug', why: bug instanceof Error ? (bug.stack ?? bug.message) : String(bug) })
  }

  #pause(ms: number, msMax: number): void {
    const pauseMs = Math.min(ms, msMax)
    this.#retryAtMs = this.#parts.passedMs() + pauseMs
    this.#pauseMs = Math.max(modelRetryPauseMs, 2 * pauseMs)
  }

  #tell(change: Partial<Omit<ModelProgress, 'trouble'>>): void {
    const progress = { ...this.#progress, ...change, trouble: this.#fileTrouble ?? this.#logTrouble }
    const isNew =
      progress.position !== this.#progress.position ||
      progress.isBehind !== this.#progress.isBehind ||
      progress.trouble !== this.#progress.trouble
    this.#progress = progress
    if (isNew) this.#parts.tell({ kind: 'progress', model: this.name, progress })
  }
}

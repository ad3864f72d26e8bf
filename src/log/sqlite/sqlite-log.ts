import { type Database, SQLiteError } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RecordedEvent } from '../../domain/events.ts'
import { isRun, lastPositionOf, ReadingRun } from '../../domain/reading/recorded-run.ts'
import { isRecordStream } from '../../domain/stream-names.ts'
import { readPageEventsMax, troubleLookMs } from '../../limits.ts'
import { type Schedule, systemSchedule } from '../../schedule.ts'
import { type Codec, createCodec } from '../codec/codec.ts'
import { type DataFolder, holdDataFolder } from '../data-folder.ts'
import {
  type AppendResult,
  type Beginning,
  DamagedLog,
  type EventLog,
  type ExpectedRevision,
  type LogFigures,
  type LogHealth,
  type LogTrouble,
  Outage,
  type ReadAllOptions,
  type ReadOptions,
  type SubscribeOptions,
  type Subscriber,
  type Subscription,
  type ToAppend,
} from '../event-log.ts'
import { LogTroubles } from '../log-troubles.ts'
import { areTraffic } from '../queue-room.ts'
import { assertPage, assertStorable, assertTruncatable, countToAppend } from '../storable.ts'
import { Subscriptions } from '../subscriptions.ts'
import { checkLogEnd, type EndCheck } from '../tail/missing-end.ts'
import { answer, recordedBy, refuseReadings, WaitingAppends, type WaitingGroup } from './append-groups.ts'
import { DiskSpace, freeBytesOf } from './disk-space.ts'
import { FolderWatch } from './folder-watch.ts'
import { FairReads } from './reads/fair-reads.ts'
import { type LastKnown, SqliteReads } from './reads/sqlite-reads.ts'
import { type Commits, type CommitVerdict, stoppedText, type Trimming } from './sqlite-commits.ts'
import { faultOf } from './sqlite-faults.ts'
import { type OpenOptions, openForReading } from './sqlite-file.ts'
import { SqliteStaging, type Staged, type StagedAppend } from './sqlite-staging.ts'
import { commitOnThread } from './threaded-commits.ts'

/** A group is tried again this often after another program has taken its positions. */
const overlapRetriesMax = 1

export type SqliteLogOptions = {
  readonly dataDir: string
  /** Accepts a folder in which other users of the machine can change files. Default: false. */
  readonly allowSharedFolder?: boolean
  readonly onFolderWarning?: ((warning: string) => void) | undefined
  readonly codec?: Codec
  readonly commits?: (path: string) => Commits
  /** Default: the free space is not checked. */
  readonly diskReserveBytes?: number
  readonly freeBytes?: (folder: string) => Promise<number>
  readonly later?: Schedule['after']
  /** The files were deleted, replaced or truncated. The process should end. */
  readonly onLost?: ((why: string) => void) | undefined
} & OpenOptions &
  Pick<EndCheck, 'marks' | 'acceptMissing'>

/**
 * docs/decisions/008-commits-in-groups-on-a-thread.md @throws DataFolderUnwritable, DataFolderShared, DataFolderHeld,
 * LogEndMissing, NotACellarbookLog, UnsupportedLogFormat, ChangedSchema, Outage
 */
export const openSqliteLog = (options: SqliteLogOptions): EventLog => {
  const { dataDir, allowSharedFolder: allowShared = false, onFolderWarning: onWarning } = options
  const folder = holdDataFolder(dataDir, { allowShared, onWarning })
  let database: Database | null = null
  try {
    const { marks, acceptMissing } = options
    checkLogEnd(folder.logPath, { marks, acceptMissing, onWarning })
    database = openForReading(folder.logPath, options)
    return new SqliteLog(folder, database, options)
  } catch (cause) {
    database?.close()
    folder.release()
    // With a missing table, which a person can have accepted, SQLite throws. That is no bug.
    throw cause instanceof SQLiteError ? faultOf(`open "${folder.logPath}"`, cause) : cause
  }
}

class SqliteLog implements EventLog {
  readonly #folder: DataFolder
  readonly #database: Database
  readonly #codec: Codec
  readonly #reads: SqliteReads
  readonly #fairReads = new FairReads()
  readonly #staging: SqliteStaging
  readonly #commits: Commits
  readonly #subscriptions: Subscriptions
  readonly #troubles = new LogTroubles({ writesFailForLooks: 0 })
  readonly #later: Schedule['after']
  #cancelLook = (): void => {}
  readonly #space: DiskSpace | null
  readonly #watch: FolderWatch
  readonly #waiting = new WaitingAppends({
    write: (group, before) => this.#writeGroup(group, before),
    mayStart: () => this.#stagedEpoch === this.#staging.epoch,
  })
  #stagedEpoch = 0
  #truncations: Promise<void> = Promise.resolve()
  #publishedTo: number
  #stoppedBy: string | null = null
  #isClosed = false

  constructor(folder: DataFolder, database: Database, options: SqliteLogOptions) {
    this.#folder = folder
    this.#codec = options.codec ?? createCodec()
    this.#database = database
    // These throw if the file is damaged, so they come before all that has a timer or a thread.
    this.#reads = new SqliteReads(database, this.#codec)
    this.#staging = new SqliteStaging(this.#reads)
    this.#publishedTo = this.#staging.nextPosition - 1
    this.#later = options.later ?? systemSchedule.after
    this.#watch = new FolderWatch({ ...options, folder, database, later: this.#later })
    this.#commits = (options.commits ?? commitOnThread)(folder.logPath)
    this.#space = this.#watchSpace(options)
    this.#scheduleLook()
    this.#subscriptions = new Subscriptions((after, wants) =>
      this.#readOrOutage('the log', () =>
        this.#reads.scan(after, wants, { limit: readPageEventsMax, publishedTo: this.#publishedTo }),
      ),
    )
  }

  append(stream: string, expected: ExpectedRevision, events: ToAppend): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      this.#assertOpen(`append to "${stream}"`)
      assertStorable(stream, events)
      const isTraffic = areTraffic(events)
      if (isTraffic) this.#assertSpace(stream)
      const rows = this.#codec.encode(stream, events)
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
      try {
        this.#troubles.takeRoom(this.#waiting.room, stream, { events: countToAppend(events), bytes, isTraffic })
      } catch (cause) {
        this.#codec.release(rows)
        throw cause
      }
      this.#waiting.add({ stream, expected, events, rows, isTraffic, resolve, reject })
    })
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    assertPage(options.limit)
    return this.#read(`"${stream}"`, () => this.#reads.read(stream, options))
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    assertPage(options.limit)
    return this.#read('the log', () => this.#reads.readAll(options))
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertOpen('subscribe')
    return this.#subscriptions.subscribe(options, subscriber)
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.#assertOpen(`truncate "${stream}"`)
    const head = this.#readOrOutage(`"${stream}"`, () => this.#reads.head(stream))
    assertTruncatable(stream, before, head?.nextRevision ?? 0)
    if (head === null) return
    const isErased = isRecordStream(stream)
    const truncation = this.#truncations.then(() => this.#truncate({ stream: head.id, isErased }, before))
    this.#truncations = truncation.catch(() => {})
    return truncation
  }

  checkEnds(lastKnown: LastKnown): void {
    this.#reads.checkEnds(lastKnown)
  }

  readBeginning(onEvent: (event: RecordedEvent) => void): Beginning {
    return this.#readOrOutage('the log', () => this.#reads.beginning(onEvent))
  }

  health(): LogHealth {
    const why = this.#isClosed ? 'the log is closed' : (this.#watch.lost ?? this.#stoppedBy ?? this.#commits.fault)
    return why === null ? { ok: true } : { ok: false, why }
  }

  figures(): LogFigures {
    const { room, figures: appends } = this.#waiting
    return { waiting: room, appends, disk: this.#space?.figures ?? null, store: null }
  }

  noteDamage(fault: DamagedLog): void {
    this.#troubles.damaged(fault.message)
  }

  troubles(): readonly LogTrouble[] {
    const shortage = this.#space?.shortage ?? null
    const spaceFault = this.#space?.fault ?? null
    const { witnessFault: unwitnessed, walHeldBack: wal_held } = this.#commits
    return this.#troubles.list({ full: shortage, space_unknown: spaceFault, unwitnessed, wal_held })
  }

  get refusesReadings(): boolean {
    return this.#space !== null && this.#space.shortage !== null
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#space?.stop()
    this.#watch.stop()
    this.#cancelLook()
    await this.#waiting.drained()
    await this.#truncations
    this.#subscriptions.dropAll(new Outage('The log was closed', 'not_written', 'closed'))
    await this.#commits.close()
    // Closing copies the write-ahead log. If that was truncated, `log.db` would be destroyed.
    await this.#watch.look()
    if (this.#watch.lost !== null) return
    this.#database.close(true)
    this.#folder.release()
  }

  #read(what: string, read: () => readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
    return this.#fairReads.read(() => {
      this.#assertOpen(`read ${what}`)
      return this.#readOrOutage(what, read)
    })
  }

  #scheduleLook(): void {
    this.#cancelLook = this.#later(troubleLookMs, () => {
      if (this.#troubles.isUnreadable) this.#testRead()
      this.#troubles.look()
      this.#scheduleLook()
    })
  }

  #testRead(): void {
    try {
      this.#readOrOutage('the log', () => this.#reads.ends())
    } catch (cause) {
      if (!(cause instanceof Outage)) throw cause
    }
  }

  #assertSpace(stream: string): void {
    const shortage = this.#space?.shortage ?? null
    if (shortage !== null) throw new Outage(`Cannot append to "${stream}": ${shortage}`, 'not_written', 'full')
  }

  #watchSpace({ diskReserveBytes, freeBytes = freeBytesOf }: SqliteLogOptions): DiskSpace | null {
    if (diskReserveBytes === undefined) return null
    const { logPath } = this.#folder
    return new DiskSpace({
      reserveBytes: diskReserveBytes,
      freeBytes: () => freeBytes(dirname(logPath)),
      fileRoom: () => {
        const { all, free } = this.#reads.fileBytes()
        const logBytes = statSync(logPath).size
        const owedBytes = Math.max(0, all - logBytes)
        const walBytes = statSync(`${logPath}-wal`, { throwIfNoEntry: false })?.size ?? 0
        return { freeBytes: free, owedBytes, logBytes, walBytes }
      },
      later: this.#later,
    })
  }

  async #writeGroup(group: WaitingGroup, before: Promise<void>): Promise<void> {
    const { appends: all } = group
    try {
      for (const [index, staged] of (await this.#commitGroup(group, before)).entries())
        answer(group.appends[index], staged)
    } catch (cause) {
      // This group can fail before the previous one is answered.
      await before
      for (const append of group.appends) append.reject(cause)
    }
    for (const { rows } of all) this.#codec.release(rows)
  }

  /** If an earlier group fails, this one gets new positions. @throws Outage */
  async #commitGroup(group: WaitingGroup, before: Promise<void>): Promise<readonly StagedAppend[]> {
    const stoppedBy = this.#watch.lost ?? this.#stoppedBy
    if (stoppedBy !== null) throw stopped(stoppedBy)
    for (let tries = 1; ; tries += 1) {
      const staged = this.#readOrOutage('where streams end', () => this.#staging.stage(group.appends))
      // No new group starts until the last group under way is staged again, too.
      if (tries === 1 || this.#waiting.groupsUnderWay === 1) this.#stagedEpoch = staged.epoch
      const verdict = await this.#verdictOf(staged, before)
      if (this.#watch.lost !== null) throw new Outage(this.#watch.lost, 'unknown', 'unavailable')
      if (verdict.kind === 'written') {
        if (staged.packed !== null) this.#noteWritten(verdict, group)
        return this.#publish(staged, group)
      }
      if (verdict.kind === 'superseded') continue
      this.#staging.reset()
      if (verdict.kind === 'overlaps' && tries <= overlapRetriesMax) continue
      const outage = this.#outageOf(verdict)
      if (outage.reason !== 'full' || !refuseReadings(group, outage)) throw outage
    }
  }

  /** A group without rows is not sent to the thread. If an earlier group fails, it must be staged again nevertheless. */
  async #verdictOf({ packed, epoch }: Staged, before: Promise<void>): Promise<CommitVerdict> {
    const verdict = packed === null ? null : this.#commits.commit(packed)
    await before
    if (verdict !== null) return verdict
    return { kind: epoch === this.#staging.epoch ? 'written' : 'superseded' }
  }

  #publish({ appends: staged }: Staged, { appends }: WaitingGroup): readonly StagedAppend[] {
    this.#staging.committed()
    for (const append of staged) {
      if ('fault' in append && append.fault instanceof DamagedLog) this.#troubles.damaged(append.fault.message)
    }
    const items = staged.flatMap(recordedBy)
    const last = items.at(-1)
    if (last !== undefined) this.#publishedTo = lastPositionOf(last)
    const hasRecords = appends.some(({ events, stream }) => !(events instanceof ReadingRun) && isRecordStream(stream))
    this.#subscriptions.publish(items, { hasRecords })
    for (const item of items) if (isRun(item)) item.run.giveBack()
    return staged
  }

  /**
   * Hides the events at once, and deletes rows in steps. If the log is closed meanwhile, the next truncation goes on.
   * Records hold personal data, so they are overwritten with zeros; readings are too many for that.
   */
  async #truncate(trimming: Trimming, keptFrom: number): Promise<void> {
    const { stream: id, isErased } = trimming
    this.#assertOpen('truncate')
    if (this.#readOrOutage('the log', () => this.#reads.keptFrom(id)) < keptFrom) {
      this.#assertWritten(await this.#commits.truncate(this.#reads.truncationOf(id, keptFrom)))
      this.#reads.truncated(id)
    }
    while (!this.#isClosed && this.#readOrOutage('the log', () => this.#reads.hasRowsToTrim(id))) {
      this.#assertWritten(await this.#commits.trim(trimming))
    }
    // The write-ahead log holds the deleted records, too. If another program reads the file, the next purge or closing
    // empties it.
    if (isErased && !this.#isClosed) await this.#commits.emptyWriteAheadLog()
  }

  #assertWritten(verdict: CommitVerdict): void {
    if (verdict.kind === 'superseded') throw new Error('Cannot happen: a truncation depends on no group')
    if (verdict.kind !== 'written') throw this.#outageOf(verdict)
    this.#troubles.written({ hasReadings: false })
  }

  #noteWritten({ survived }: Extract<CommitVerdict, { kind: 'written' }>, { appends }: WaitingGroup): void {
    this.#troubles.written({ hasReadings: appends.some(({ isTraffic }) => isTraffic) })
    if (survived !== undefined) this.#troubles.survivedFsync(survived)
  }

  #outageOf(verdict: Exclude<CommitVerdict, { kind: 'written' | 'superseded' }>): Outage {
    const { kind, why } = verdict
    if (kind === 'not_written' || kind === 'overlaps') {
      const reason = kind === 'overlaps' ? 'unavailable' : verdict.reason
      if (reason === 'full') this.#space?.ranOut(why)
      this.#troubles.appendFailed(reason, why)
      return new Outage(`Cannot write to the log: ${why}`, 'not_written', reason)
    }
    this.#stoppedBy ??= stoppedText(why)
    if (kind === 'stopped') return stopped(this.#stoppedBy)
    return new Outage(`Cannot say whether it was written: ${why}`, 'unknown', 'unavailable')
  }

  /** @throws Outage for an error of SQLite, DamagedLog */
  #readOrOutage<T>(what: string, read: () => T): T {
    try {
      return read()
    } catch (cause) {
      const fault = cause instanceof SQLiteError ? faultOf(`read ${what} in "${this.#folder.logPath}"`, cause) : cause
      if (fault instanceof DamagedLog) this.#troubles.damaged(fault.message)
      else if (fault instanceof Outage) this.#troubles.readFailed(fault.message)
      throw fault
    }
  }

  #assertOpen(action: string): void {
    if (this.#isClosed) throw new Outage(`Cannot ${action}: the log is closed`, 'not_written', 'closed')
    if (this.#watch.lost !== null) throw stopped(`Cannot ${action}: ${this.#watch.lost}`)
  }
}

const stopped = (why: string): Outage => new Outage(why, 'not_written', 'unavailable')

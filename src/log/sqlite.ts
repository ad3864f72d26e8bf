import type { Database } from 'bun:sqlite'
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { logQueueBytesMax, logQueueReadingsMax, readPageEventsMax } from '../limits.ts'
import { type Codec, createCodec } from './codec.ts'
import { type DataFolder, holdDataFolder } from './data-folder.ts'
import {
  type AppendResult,
  type EventLog,
  type ExpectedRevision,
  type LogHealth,
  Outage,
  type ReadAllOptions,
  type ReadOptions,
  type SubscribeOptions,
  type Subscriber,
  type Subscription,
} from './event-log.ts'
import { SqliteCheckpoints } from './sqlite-checkpoints.ts'
import { openLogFile } from './sqlite-file.ts'
import { type Append, SqliteStore } from './sqlite-store.ts'
import { eventsOf, type Fate, SqliteWriter } from './sqlite-writer.ts'
import { assertPage, assertStorable } from './storable.ts'
import { Subscriptions } from './subscriptions.ts'

export type SqliteLogOptions = {
  readonly dataDir: string
  readonly codec?: Codec
  /** Runs right before each COMMIT: a test does there what a disk would. */
  readonly beforeCommit?: (database: Database) => void
}

/**
 * The embedded log, in `dataDir`. What waits is written in one transaction, and every append answers after its fsync.
 * @throws DataFolderUnwritable, DataFolderHeld, NotACellarbookLog, NewerLogFormat, Outage
 */
export const openSqliteLog = (options: SqliteLogOptions): EventLog => {
  const folder = holdDataFolder(options.dataDir)
  try {
    return new SqliteLog(folder, openLogFile(folder.logPath), options)
  } catch (cause) {
    folder.release()
    throw cause
  }
}

type Waiting = Append & {
  readonly bytes: number
  resolve(result: AppendResult): void
  reject(cause: unknown): void
}

class SqliteLog implements EventLog {
  readonly #folder: DataFolder
  readonly #database: Database
  readonly #codec: Codec
  readonly #store: SqliteStore
  readonly #writer: SqliteWriter
  readonly #checkpoints: SqliteCheckpoints
  readonly #subscriptions: Subscriptions
  #queue: Waiting[] = []
  #queueReadings = 0
  #queueBytes = 0
  #isClosed = false

  constructor(folder: DataFolder, database: Database, options: SqliteLogOptions) {
    this.#folder = folder
    this.#database = database
    this.#codec = options.codec ?? createCodec()
    this.#store = new SqliteStore(database, this.#codec)
    this.#writer = new SqliteWriter(this.#store, () => options.beforeCommit?.(database))
    this.#checkpoints = new SqliteCheckpoints(database)
    this.#subscriptions = new Subscriptions((after, wants) => this.#store.scan(after, wants, readPageEventsMax))
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    this.#assertOpen(`append to "${stream}"`)
    assertStorable(stream, events)
    const rows = this.#codec.encode(stream, events)
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    this.#assertRoom(stream, events.length, bytes)
    return new Promise((resolve, reject) => {
      this.#enqueue({ stream, expected, events, rows, bytes, resolve, reject })
    })
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen(`read "${stream}"`)
    assertPage(options.limit)
    return this.#store.read(stream, options)
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen('read')
    assertPage(options.limit)
    return this.#store.readAll(options)
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertOpen('subscribe')
    return this.#subscriptions.subscribe(options, subscriber)
  }

  health(): LogHealth {
    const why = this.#isClosed ? 'the log is closed' : (this.#writer.stoppedBy ?? this.#checkpoints.fault)
    return why === null ? { ok: true } : { ok: false, why }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#flush()
    this.#subscriptions.dropAll(new Outage('The log was closed', 'not_written', 'closed'))
    // The last connection to leave copies the write-ahead log into the file and removes it.
    this.#database.close(true)
    this.#folder.release()
  }

  #enqueue(append: Waiting): void {
    this.#queue.push(append)
    this.#queueReadings += append.events.length
    this.#queueBytes += append.bytes
    // Behind the requests that the event loop has at hand, not behind the first of them: Bun runs microtasks after each, so
    // a microtask here would give every request a commit of its own. An idle loop comes to it at once.
    if (this.#queue.length === 1) setImmediate(() => this.#flush())
  }

  /** Writes everything that waits as one group. It never throws: each append hears of its own fate. */
  #flush(): void {
    const group = this.#queue
    if (group.length === 0) return
    this.#queue = []
    this.#queueReadings = 0
    this.#queueBytes = 0

    let fates: readonly Fate[]
    try {
      fates = this.#writer.write(group)
    } catch (cause) {
      for (const append of group) append.reject(cause)
      return
    }
    this.#subscriptions.publish(fates.flatMap(eventsOf))
    for (const [index, append] of group.entries()) answer(append, fates[index])
    this.#checkpoints.runIfDue()
  }

  #assertOpen(action: string): void {
    if (this.#isClosed) throw new Outage(`Cannot ${action}: the log is closed`, 'not_written', 'closed')
  }

  #assertRoom(stream: string, readings: number, bytes: number): void {
    if (this.#queueReadings + readings <= logQueueReadingsMax && this.#queueBytes + bytes <= logQueueBytesMax) return
    const waiting = `${this.#queueReadings} events of ${this.#queueBytes} bytes wait already`
    throw new Outage(`Cannot append to "${stream}": ${waiting}`, 'not_written', 'overloaded')
  }
}

const answer = (append: Waiting, fate: Fate | undefined): void => {
  if (fate === undefined) append.reject(new Error('Cannot happen: an append of a written group has no fate'))
  else if ('fault' in fate) append.reject(fate.fault)
  else append.resolve(fate.result)
}

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CoreParts, Derived } from './actors/node.ts'
import { foldedEvent, inLog } from './actors/stream/folded-event.ts'
import { questionKinds, questionThread } from './asked/question-kinds.ts'
import { CommandFailed, type ExitCode, exitCodes } from './cli/exit-codes.ts'
import type { MachineClock } from './clock.ts'
import type { Config } from './config.ts'
import { openKnownRevisions } from './derived/ask/known-revisions.ts'
import { readSavedBeginning } from './derived/beginning/saved-beginning.ts'
import { DerivedStore, type DerivedTold } from './derived/derived-store.ts'
import { followOnThread } from './derived/follower-on-thread.ts'
import { modelMarks } from './derived/model-marks.ts'
import { questionsOnThread } from './derived/questions/asked-questions.ts'
import { RepeatsReader } from './derived/repeats/repeats-reader.ts'
import { logIdOf } from './domain/log-reference.ts'
import { logStream } from './domain/stream-names.ts'
import {
  eventStoreRetryPauseMs,
  eventStoreStartMsMax,
  heldRetryMs,
  heldWaitMsMax,
  readPageEventsMax,
  storeBusyMsMax,
} from './limits.ts'
import { BackupRefused } from './log/backup/backup-files.ts'
import { BackupDamaged, type BackupParts, type WrittenBackup, writeBackup } from './log/backup/write-backup.ts'
import { CopyRefused } from './log/copy-log.ts'
import { DataFolderHeld, holdDataFolder, logPathIn } from './log/data-folder.ts'
import {
  DamagedLog,
  type EventLog,
  LogUnusable,
  Outage,
  type Reached,
  StillSearching,
  UndecodableEvent,
} from './log/event-log.ts'
import { StoreUnreachable } from './log/eventstoredb/start-faults.ts'
import {
  copiedAt,
  ensureLogCreated,
  hasId,
  type Naming,
  recordAcceptedLoss,
  recordAcceptedSchema,
} from './log/log-identity.ts'
import { openEventStore } from './log/open-source.ts'
import { LogFileBusy, type OpenOptions } from './log/sqlite/sqlite-file.ts'
import { openSqliteLog, type SqliteLogOptions } from './log/sqlite/sqlite-log.ts'
import type { EndCheck, MissingEnd } from './log/tail/missing-end.ts'
import { type VerifiedLog, type VerifyParts, verifyFile, verifyStore } from './log/verify/run-verify.ts'
import type { Schedule } from './schedule.ts'

export type LogConfig = Pick<Config, 'dataDir' | 'eventStore' | 'diskReserveBytes' | 'allowSharedDataDir'>

type EngineOptions = OpenOptions &
  Pick<SqliteLogOptions, 'onFolderWarning' | 'onLost'> &
  Pick<EndCheck, 'acceptMissing'>

export type OpeningParts = Naming &
  EngineOptions & {
    /** False refuses a place without a log. */
    readonly mayCreate?: boolean
  }

/** Gives a new log its id. @throws CommandFailed, and the errors that `asCommandFailed` knows. */
export const openLog = async (
  config: LogConfig,
  { acceptSchema, acceptMissing, onFolderWarning, onLost, mayCreate = true, ...naming }: OpeningParts,
): Promise<EventLog> => {
  const isStore = config.eventStore !== null
  if (!mayCreate && !isStore && !existsSync(logPathIn(config.dataDir))) throw noLogIn(config)
  const accepted: string[] = []
  const losses: MissingEnd[] = []
  const log = await openEngine(config, {
    onFolderWarning,
    onLost,
    acceptSchema:
      acceptSchema &&
      ((differences) => {
        accepted.push(...differences)
        acceptSchema(differences)
      }),
    acceptMissing:
      acceptMissing &&
      ((missing) => {
        losses.push(missing)
        acceptMissing(missing)
      }),
  })
  try {
    await patiently(isStore ? eventStoreStartMsMax : 0, async () => {
      if (!mayCreate && isStore && !(await hasId(log))) throw noLogIn(config)
      await ensureLogCreated(log, naming.clock, naming.entropy)
    })
    for (const missing of losses) await recordAcceptedLoss(log, missing, naming)
    if (accepted.length > 0) await recordAcceptedSchema(log, accepted, naming)
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}

/**
 * Otherwise a command with a wrong place would say that the key does not exist. Or it would create a log there, and no
 * other log could be copied there.
 */
const noLogIn = ({ dataDir, eventStore }: LogConfig): CommandFailed => {
  const [place, remedy] =
    eventStore === null
      ? [`the data folder "${dataDir}"`, 'DATA_DIR to another folder']
      : [`EventStoreDB with the prefix "${eventStore.prefix}"`, 'EVENTSTORE_URL or EVENTSTORE_PREFIX to another place']
  const message = `There is no log in ${place}. Set ${remedy}, or create a log with "cellarbook cellar create ID"`
  return new CommandFailed(message, exitCodes.configuration)
}

/**
 * After the election of a leader, EventStoreDB answers reads before it takes appends. A start at that moment would fail.
 */
const patiently = async (waitMsMax: number, work: () => Promise<void>): Promise<void> => {
  const untilMs = performance.now() + waitMsMax
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Outage) || performance.now() >= untilMs) throw error
      await Bun.sleep(eventStoreRetryPauseMs)
    }
  }
}

export type WaitParts = {
  /** True: a service runs with the folder. It will not end soon, so waiting does not help. */
  readonly isServed: () => Promise<boolean>
  /** Called once, before the first wait. */
  readonly onWait: (why: string) => void
  readonly wait?: (ms: number) => Promise<void>
}

/** Waits `heldWaitMsMax` at most. @throws the errors of `open` */
export const openWhenFree = async <T>(
  open: () => Promise<T>,
  { isServed, onWait, wait = Bun.sleep }: WaitParts,
): Promise<T> => {
  for (let waitedMs = 0; ; waitedMs += heldRetryMs) {
    try {
      return await open()
    } catch (error) {
      const isBusy = error instanceof LogFileBusy
      const isInUse = isBusy || error instanceof DataFolderHeld
      if (!isInUse || waitedMs >= heldWaitMsMax || (await isServed())) throw error
      if (waitedMs === 0) onWait(error.message)
      // SQLite has waited, too, before it found the file busy.
      if (isBusy) waitedMs += storeBusyMsMax
    }
    await wait(heldRetryMs)
  }
}

const openEmbedded = (config: LogConfig, options: EngineOptions): EventLog => {
  const { dataDir, diskReserveBytes, allowSharedDataDir: allowSharedFolder } = config
  return openSqliteLog({ dataDir, diskReserveBytes, allowSharedFolder, marks: () => modelMarks(dataDir), ...options })
}

const openEngine = async (config: LogConfig, options: EngineOptions): Promise<EventLog> => {
  const { dataDir, eventStore, allowSharedDataDir: allowShared } = config
  if (eventStore === null) return openEmbedded(config, options)
  // With EventStoreDB, the folder has no log, but this node's socket, so only one process can use it.
  const folder = holdDataFolder(dataDir, { hasLog: false, allowShared, onWarning: options.onFolderWarning })
  try {
    return await openEventStore({ settings: eventStore, onClosed: () => folder.release() })
  } catch (error) {
    folder.release()
    throw error
  }
}

export type LogPlace = EngineOptions & { readonly place: string; readonly role: 'from' | 'to' }

/**
 * Creates no log id, because the copy does that. Refuses a URL, which can contain a password: other users can see the
 * command line. @throws CommandFailed
 */
export const openLogPlace = async ({ place, role, ...options }: LogPlace, config: LogConfig): Promise<EventLog> => {
  if (place === eventStorePlace) {
    if (config.eventStore !== null) return openEventStore({ settings: config.eventStore })
    throw new CommandFailed(`Cannot use --${role} "${place}": EVENTSTORE_URL is not set`, exitCodes.usage)
  }
  if (place.includes('://')) {
    const rule = `--${role} must be a data folder or "${eventStorePlace}"`
    const remedy = 'Put the URL into EVENTSTORE_URL, which the process list does not show'
    throw new CommandFailed(`Cannot use a URL here: ${rule}. ${remedy}`, exitCodes.usage)
  }
  const dataDir = resolve(place)
  if (role === 'from' && !existsSync(logPathIn(dataDir))) {
    throw new CommandFailed(`Cannot copy the log: there is none in "${place}"`, exitCodes.configuration)
  }
  return openEmbedded({ ...config, dataDir }, options)
}

const eventStorePlace = 'eventstore'

/** Changes nothing. @throws the errors that `asCommandFailed` knows */
export const verifyLog = async (
  { dataDir, eventStore }: LogConfig,
  parts: Omit<VerifyParts, 'marks'>,
): Promise<VerifiedLog> => {
  if (eventStore === null) {
    const logPath = logPathIn(dataDir)
    if (!existsSync(logPath)) {
      throw new CommandFailed(`Cannot check the log: there is none in "${dataDir}"`, exitCodes.configuration)
    }
    return verifyFile(logPath, { ...parts, marks: () => modelMarks(dataDir) })
  }
  const log = await openEventStore({ settings: eventStore })
  try {
    return await verifyStore(log, parts.onProgress)
  } finally {
    await log.close()
  }
}

/** @throws the errors that `asCommandFailed` knows */
export const backUpLog = async (
  config: LogConfig,
  parts: Omit<BackupParts, 'dataDir' | 'reserveBytes' | 'marks'>,
): Promise<WrittenBackup> => {
  assertEmbedded(config, 'back up')
  const { dataDir, diskReserveBytes: reserveBytes } = config
  if (!existsSync(logPathIn(dataDir)))
    throw new CommandFailed(`Cannot back up the log: there is none in "${dataDir}"`, exitCodes.configuration)
  return writeBackup({ ...parts, dataDir, reserveBytes, marks: () => modelMarks(dataDir) })
}

/** @throws CommandFailed */
export const assertEmbedded = ({ eventStore }: LogConfig, action: 'back up' | 'restore'): void => {
  if (eventStore === null) return
  const means = 'See docs/operations.md, "Back up and restore", for its own means'
  throw new CommandFailed(
    `Cannot ${action} the log: EVENTSTORE_URL is set, so it is in EventStoreDB. ${means}`,
    exitCodes.configuration,
  )
}

/** EventStoreDB cannot list what a start needs, so a model has it. */
export const beginningOf = ({ dataDir, eventStore }: LogConfig, log: EventLog): Pick<CoreParts, 'readBeginning'> => {
  if (eventStore === null) return {}
  return {
    readBeginning: async (onEvent) => {
      const logId = logIdOf(await log.read(logStream, { limit: readPageEventsMax }))
      return logId === null
        ? null
        : readSavedBeginning({ dataDir, logId, find: (head) => foldedEvent(log, head) }, onEvent)
    },
  }
}

export type DerivedParts = Naming & {
  readonly clock: MachineClock
  readonly schedule: Schedule
  readonly onTold: (told: DerivedTold) => void
  readonly onQuestionFault: (why: string) => void
}

export const openDerived = async (
  { dataDir, eventStore }: LogConfig,
  log: EventLog,
  { clock, entropy, onQuestionFault, ...parts }: DerivedParts,
): Promise<Derived & { readonly repeats: RepeatsReader }> => {
  const logId = await ensureLogCreated(log, clock, entropy)
  const copiedMs = await copiedAt(log)
  const store = new DerivedStore({
    ...parts,
    start: followOnThread({ dataDir, eventStore, logId, copiedMs }),
    isInLog: inLog(log),
  })
  const source = { dataDir, eventStore, logId }
  const reached = (): Reached | null => log.reached?.() ?? null
  const onLogFault = (fault: Error): void => meet(log, fault)
  const questionParts = { kinds: questionKinds, source, store, reached, onLogFault, onFault: onQuestionFault }
  return {
    store,
    repeats: new RepeatsReader(dataDir, store),
    known: () => openKnownRevisions(dataDir, logId),
    questions: questionsOnThread({ ...questionParts, passedMs: () => clock.passedMs() }, questionThread),
  }
}

/** Another connection has met the fault. Only damage is surely a fault of the log. Its troubles name all else. */
const meet = (log: EventLog, fault: Error): void => {
  if (fault instanceof DamagedLog) log.noteDamage?.(fault)
  else if (!(fault instanceof StillSearching)) void log.readAll({ direction: 'backwards', limit: 1 }).catch(() => {})
}

/** Any error without a known cause is a bug, and is returned unchanged. */
export const asCommandFailed = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const exitCode = exitCodeOf(error)
  return exitCode === null ? error : new CommandFailed(error.message, exitCode, { cause: error })
}

const exitCodeOf = (error: Error): ExitCode | null => {
  if (error instanceof UndecodableEvent || error instanceof CopyRefused || error instanceof BackupRefused)
    return exitCodes.refused
  if (error instanceof BackupDamaged) return exitCodes.damaged
  if (error instanceof DamagedLog || error instanceof LogUnusable) return exitCodes.configuration
  if (error instanceof Outage || error instanceof StoreUnreachable) return exitCodes.unreachable
  return null
}

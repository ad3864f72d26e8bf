import { CommandFailed, type ExitCode, exitCodes } from './cli/exit-codes.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Entropy } from './entropy.ts'
import {
  DataFolderHeld,
  DataFolderUnwritable,
  holdDataFolder,
  NewerLogFormat,
  NotACellarbookLog,
} from './log/data-folder.ts'
import { type EventLog, Outage, UndecodableEvent } from './log/event-log.ts'
import { openEventStoreLog } from './log/eventstoredb.ts'
import { StoreMisfit, StoreUnreachable } from './log/eventstoredb-faults.ts'
import { ensureLogCreated, NotOurLog } from './log/log-identity.ts'
import { openSqliteLog } from './log/sqlite.ts'

/** Where the log lies. */
export type LogConfig = Pick<Config, 'dataDir' | 'eventStore'>

/** The log, named if it is new. Throws what `inOneSentence` knows, and closes what it had opened. */
export const openLog = async (config: LogConfig, clock: Clock, entropy: Entropy): Promise<EventLog> => {
  const log = await openEngine(config)
  try {
    await ensureLogCreated(log, clock, entropy)
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}

const openEngine = async ({ dataDir, eventStore }: LogConfig): Promise<EventLog> => {
  if (eventStore === null) return openSqliteLog({ dataDir })
  // It holds no log then, and is still one node's own: its socket is there.
  const folder = holdDataFolder(dataDir, { hasLog: false })
  try {
    return await openEventStoreLog({ settings: eventStore, onClosed: () => folder.release() })
  } catch (error) {
    folder.release()
    throw error
  }
}

/** What is known to go wrong, as one sentence with its exit code. Anything else is a bug, and stays as it was thrown. */
export const inOneSentence = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const exitCode = exitCodeOf(error)
  return exitCode === null ? error : new CommandFailed(error.message, exitCode, { cause: error })
}

const exitCodeOf = (error: Error): ExitCode | null => {
  if (error instanceof UndecodableEvent) return exitCodes.refused
  if (error instanceof Outage || error instanceof StoreUnreachable) return exitCodes.unreachable
  const isUnfit =
    error instanceof StoreMisfit ||
    error instanceof NotOurLog ||
    error instanceof DataFolderHeld ||
    error instanceof DataFolderUnwritable ||
    error instanceof NotACellarbookLog ||
    error instanceof NewerLogFormat
  return isUnfit ? exitCodes.configuration : null
}

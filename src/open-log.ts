import { CommandFailed, type ExitCode, exitCodes } from './cli/exit-codes.ts'
import type { Clock } from './clock.ts'
import type { Entropy } from './entropy.ts'
import { DataFolderHeld, DataFolderUnwritable, NewerLogFormat, NotACellarbookLog } from './log/data-folder.ts'
import { type EventLog, Outage, UndecodableEvent } from './log/event-log.ts'
import { ensureLogCreated } from './log/log-identity.ts'
import { openSqliteLog } from './log/sqlite.ts'

/** The embedded log, named if it is new. Throws what `inOneSentence` knows, and closes what it had opened. */
export const openLog = async (dataDir: string, clock: Clock, entropy: Entropy): Promise<EventLog> => {
  const log = openSqliteLog({ dataDir })
  try {
    await ensureLogCreated(log, clock, entropy)
    return log
  } catch (error) {
    await log.close()
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
  if (error instanceof Outage) return exitCodes.unreachable
  const isFolder =
    error instanceof DataFolderHeld ||
    error instanceof DataFolderUnwritable ||
    error instanceof NotACellarbookLog ||
    error instanceof NewerLogFormat
  return isFolder ? exitCodes.configuration : null
}

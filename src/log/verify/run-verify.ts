import { dirname } from 'node:path'
import { createCodec } from '../codec/codec.ts'
import { isFolderHeld } from '../data-folder.ts'
import type { EventLog } from '../event-log.ts'
import { nextTurn } from '../pages-of-log.ts'
import { type EndCheck, findMissingEnd, type MissingEnd } from '../tail/missing-end.ts'
import { type CheckOptions, checkLogFile } from './check-log-file.ts'
import { checkStore } from './check-store.ts'
import type { Step } from './checked-file.ts'
import type { CheckResult } from './damage-kinds.ts'

export type VerifyProgress = Pick<Step, 'events' | 'share'> & { readonly phase: Step['phase'] | 'events' }

export type VerifiedLog = CheckResult & {
  /**
   * Not beside a running service: the write-ahead log would grow during SQLite's one long transaction. `null` on
   * EventStoreDB.
   */
  readonly arePagesChecked: boolean | null
}

export type VerifyParts = Pick<EndCheck, 'marks' | 'onWarning'> & {
  readonly onProgress: (progress: VerifyProgress) => void
}

/**
 * Works beside a running service, and changes no file. @throws UnsupportedLogFormat, DataFolderUnwritable, LogFileBusy,
 * Outage
 */
export const verifyFile = async (logPath: string, { onProgress, ...endCheck }: VerifyParts): Promise<VerifiedLog> => {
  const missing = findMissingEnd(logPath, endCheck)
  const arePagesChecked = !isFolderHeld(dirname(logPath))
  const result = await checkFile({ path: logPath, checksPages: arePagesChecked }, onProgress)
  return { ...withEnd(result, missing), arePagesChecked }
}

/** A file that nobody writes. @throws UnsupportedLogFormat, DataFolderUnwritable, LogFileBusy, Outage */
export const verifyCopy = (path: string, onProgress: VerifyParts['onProgress']): Promise<CheckResult> =>
  checkFile({ path, checksPages: true }, onProgress)

const checkFile = async (
  file: Pick<CheckOptions, 'path' | 'checksPages'>,
  onProgress: VerifyParts['onProgress'],
): Promise<CheckResult> => {
  const steps = checkLogFile({ ...file, codec: createCodec() })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    onProgress(step.value)
    // Lets a signal end the command.
    await nextTurn()
  }
}

const withEnd = (result: CheckResult, missing: MissingEnd | null): CheckResult => {
  if (missing === null) return result
  const place = { stream: null, revision: null, position: missing.lastPosition + 1 }
  const end = { kind: 'end', ...place, why: missing.findings.join('; ') } as const
  return { ...result, first: result.first ?? end, counts: { ...result.counts, end: 1 } }
}

/** @throws Outage */
export const verifyStore = async (
  log: EventLog,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifiedLog> => {
  const result = await checkStore(log, (seen) => onProgress({ phase: 'events', ...seen }))
  return { ...result, arePagesChecked: null }
}

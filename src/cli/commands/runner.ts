import type { Config, Environment } from '../../config.ts'
import type { CheckedBackup } from '../../log/backup/restore-backup.ts'
import type { BackupParts, WrittenBackup } from '../../log/backup/write-backup.ts'
import type { CopyProgress } from '../../log/copy-log.ts'
import type { LogDigest } from '../../log/log-digest.ts'
import type { VerifiedLog, VerifyProgress } from '../../log/verify/run-verify.ts'
import type { Operation } from '../control/operations.ts'
import type { End, ExitCode } from '../exit-codes.ts'
import type { EventView, Line } from '../show/lines.ts'
import type { Output, Screen } from '../show/output.ts'
import type { JsonOption } from './options.ts'

export type ProgramDeps = {
  readonly version: string
  readonly environment: Environment
  /** Gets only the result, so that other programs can read it. */
  readonly output: Output
  readonly screen: Screen
  readonly now: () => number
  /** Missing: no person is at a terminal, who could answer. */
  readonly ask?: (question: string) => boolean
  serve(config: Config, options: ServeOptions): Promise<ExitCode>
  /** @throws CommandFailed if the data folder, the certificate or a file that EVENTSTORE_URL names cannot be used */
  checkFiles(config: Config): Promise<void>
  /** In the running service, or else in this process. */
  perform(config: Config, operation: Operation): Promise<AsyncGenerator<Line, End>>
  copyLog(config: Config, copy: LogCopy): Promise<LogDigest>
  /** @throws CommandFailed if the log cannot be checked */
  verifyLog(config: Config, onProgress: (progress: VerifyProgress) => void): Promise<VerifiedLog>
  /** @throws CommandFailed */
  backup(config: Config, wanted: BackupWanted): Promise<WrittenBackup>
  /** @throws CommandFailed */
  checkBackup(config: Config, from: string, onProgress: BackupParts['onProgress']): Promise<CheckedBackup>
  /** @throws CommandFailed */
  restore(config: Config, backup: CheckedBackup): Promise<void>
}

export type BackupWanted = Pick<BackupParts, 'target' | 'keep' | 'onProgress'>

export type ServeOptions = {
  readonly demo: boolean
  readonly acceptChangedSchema: boolean
  readonly acceptMissingEvents: boolean
}

/** Each is a data folder, or `eventstore`, which means the store at EVENTSTORE_URL. */
export type LogCopy = {
  readonly from: string
  readonly to: string
  readonly acceptChangedSchema: boolean
  onProgress(progress: CopyProgress): void
}

export type Runner = {
  readonly deps: ProgramDeps
  /** @throws CommandFailed if an environment variable is wrong */
  config(): Config
  run(operation: Operation, options: JsonOption, presentation: Presentation): Promise<void>
  finish(end: End): void
}

export type Presentation = {
  /** Without the last line break. '' prints nothing. */
  text(lines: readonly Line[]): string
  /** Written as it comes, because it would be lost if the command ended early. `null`: left to `text`. */
  atOnce?(line: Line): string | null
  /** Default: one line, because a log has many. */
  event?(event: EventView): string
  /** For stderr, after the result. */
  note?(lines: readonly Line[]): string | null
}

export const listing = (table: (lines: readonly Line[]) => string, nothing: string): Presentation => ({
  text: (lines) => (lines.length === 0 ? '' : table(lines)),
  note: (lines) => (lines.length === 0 ? nothing : null),
})

import type { Config, Environment } from '../../config.ts'
import type { CopyProgress } from '../../log/copy-log.ts'
import type { LogDigest } from '../../log/log-digest.ts'
import type { Operation } from '../control/operations.ts'
import type { End, ExitCode } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import type { Output, Screen } from '../show/output.ts'
import type { JsonOption } from './options.ts'

export type ProgramDeps = {
  readonly version: string
  readonly environment: Environment
  /** stdout: the result and nothing else. */
  readonly output: Output
  /** stderr: progress, notes and errors. */
  readonly screen: Screen
  readonly now: () => number
  serve(config: Config, options: ServeOptions): Promise<ExitCode>
  /** By the running service, or else on the log itself. */
  perform(config: Config, operation: Operation): Promise<AsyncGenerator<Line, End>>
  copyLog(config: Config, copy: LogCopy): Promise<LogDigest>
}

export type ServeOptions = { readonly demo: boolean; readonly acceptChangedSchema: boolean }

/** `from` and `to`: a data folder, or `eventstore`. */
export type LogCopy = {
  readonly from: string
  readonly to: string
  readonly acceptChangedSchema: boolean
  onProgress(progress: CopyProgress): void
}

export type Runner = {
  readonly deps: ProgramDeps
  /** @throws CommandFailed */
  config(): Config
  run(operation: Operation, presentation: Presentation): Promise<void>
  finish(end: End): void
}

export type Presentation = {
  readonly json: boolean
  /** For stdout, without the last line break. '': nothing. */
  text(lines: readonly Line[]): string
  /** For stderr. */
  note?(lines: readonly Line[]): string | null
}

export const listing = (
  { json }: JsonOption,
  table: (lines: readonly Line[]) => string,
  nothing: string,
): Presentation => ({
  json: json === true,
  text: (lines) => (lines.length === 0 ? '' : table(lines)),
  note: (lines) => (lines.length === 0 ? nothing : null),
})

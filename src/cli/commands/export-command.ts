import { type Command, Option } from 'commander'
import type { ExportFormat } from '../../domain/events.ts'
import type { LogPart } from '../../domain/search/event-filter.ts'
import { cutOffEnd } from '../control/ends.ts'
import type { ExportOperation } from '../control/export-operation.ts'
import { CommandFailed, type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { createProgress } from '../show/output.ts'
import { type ExportFile, openExportFile } from './export-file.ts'
import { addFilterOptions, filterOf } from './filter-options.ts'
import type { ProgramDeps, Runner } from './runner.ts'

const progressBarChars = 24

type ExportOptions = Partial<LogPart> & {
  readonly list: ExportOperation['list']
  readonly format: ExportFormat
  readonly rack?: string
  readonly keg?: string
  readonly out?: string
  readonly resume?: boolean
}

export const addExport = (log: Command, runner: Runner): void => {
  const command = log
    .command('export')
    .description(
      'Export events, readings or keys, oldest first. Hashes of secrets are redacted. The log records who exported what',
    )
    .addOption(new Option('--list <what>', 'what to export').choices(['events', 'readings', 'keys']).default('events'))
    .addOption(
      new Option('--format <format>', 'JSON lines, or CSV that is safe to open in a spreadsheet')
        .choices(['ndjson', 'csv'])
        .makeOptionMandatory(),
    )
  addFilterOptions(command, runner.deps.now)
    .option('--rack <name>', 'only readings of this rack')
    .option('--keg <name>', 'only readings of this keg')
    .option('--out <file>', 'write to this new file, and show the progress')
    .option('--resume', 'go on after the last complete line of the file')
    .action((options: ExportOptions) => runExport(runner, options))
}

const runExport = async (runner: Runner, options: ExportOptions): Promise<void> => {
  const { list, format, out, resume = false, rack = null, keg = null } = options
  if (resume && out === undefined) throw usage('--resume needs --out')
  if (resume && list === 'keys') throw usage('a list of keys cannot be resumed. Export it again')
  if ((rack !== null || keg !== null) && list !== 'readings') throw usage('--rack and --keg need --list readings')
  const config = runner.config()
  const file = out === undefined ? null : await openExportFile(out, { resume, format, list })
  try {
    const after = file?.last ?? null
    const operation: ExportOperation = { op: 'export_log', list, format, filter: filterOf(options), rack, keg, after }
    const answer = await runner.deps.perform(config, operation)
    runner.finish(await written(runner.deps, answer, file))
  } finally {
    await file?.close()
  }
}

const usage = (why: string): CommandFailed => new CommandFailed(`Cannot export: ${why}`, exitCodes.usage)

const written = async (
  { output, screen, now }: ProgramDeps,
  answer: AsyncGenerator<Line, End>,
  file: ExportFile | null,
): Promise<End> => {
  const progress = createProgress(screen, now)
  let rows = 0
  try {
    while (true) {
      const step = await nextStep(answer, rows)
      if (step.done) {
        await file?.sync()
        if (file !== null) progress.end(`${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'} exported`)
        return step.value
      }
      if (step.value.kind !== 'exported') continue
      const { text, share } = step.value.value
      rows = step.value.value.rows
      if (file === null) await output.write(text)
      else {
        await file.append(text)
        progress.show(progressLine(rows, share))
      }
    }
  } finally {
    // If the reader of stdout leaves early (`| head`), the loop throws. `return` ends the operation, which then closes the log.
    await answer.return({ exitCode: exitCodes.done, message: null })
  }
}

/** A service that was killed sends no end. */
const nextStep = async (answer: AsyncGenerator<Line, End>, rows: number): Promise<IteratorResult<Line, End>> => {
  try {
    return await answer.next()
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.unreachable) throw error
    return { done: true, value: cutOffEnd('the service ended', rows) }
  }
}

const progressLine = (rows: number, share: number): string => {
  const full = Math.round(share * progressBarChars)
  const bar = '#'.repeat(full) + '.'.repeat(progressBarChars - full)
  return `[${bar}] ${Math.floor(share * 100)} %, ${rows.toLocaleString('en')} rows`
}

import { Command, CommanderError, Help, type Option } from 'commander'
import { asCalled, type Config, parseConfig, programOf, unknownNames } from '../config.ts'
import { visibleLines, visibleText } from '../hidden-characters.ts'
import { type Variable, variables } from '../variables.ts'
import { addAttentionCommand } from './commands/attention-commands.ts'
import { addBackupCommands } from './commands/backup-commands.ts'
import { addCellarCommands } from './commands/cellar-commands.ts'
import { addConfigCommand } from './commands/config-command.ts'
import { addHealthCommand } from './commands/health-command.ts'
import { addKeyCommands } from './commands/key-commands.ts'
import { addLogCommands } from './commands/log-commands.ts'
import { addOperatorCommands } from './commands/operator-commands.ts'
import { acceptMissingFlag, acceptSchemaFlag } from './commands/options.ts'
import type { Presentation, ProgramDeps, Runner } from './commands/runner.ts'
import { addSimulateCommand } from './commands/simulate-command.ts'
import { addWebhookCommands } from './commands/webhook-commands.ts'
import { CommandFailed, type End, type ExitCode, exitCodes, exitCodesHelp } from './exit-codes.ts'
import type { Line } from './show/lines.ts'
import { ReaderGone } from './show/output.ts'
import { eventText, jsonText } from './show/text-for-people.ts'

/** Throws only for a bug. */
export const runProgram = async (words: readonly string[], deps: ProgramDeps): Promise<ExitCode> => {
  const program = programOf(deps.environment)
  let exitCode: ExitCode = exitCodes.done
  const finish = (end: End): void => {
    exitCode = end.exitCode
    if (end.message !== null) deps.screen.write(`cellarbook: ${visibleText(asCalled(end.message, program))}\n`)
  }
  const help: string[] = []
  try {
    await createProgram(createRunner(deps, finish), help).parseAsync(words, { from: 'user' }).catch(throwIfNotHelp)
    if (help.length > 0) await deps.output.write(help.join(''))
    await deps.output.flush()
  } catch (error) {
    if (error instanceof ReaderGone) return exitCodes.done
    if (error instanceof CommanderError) return exitCodes.usage
    if (!(error instanceof CommandFailed)) throw error
    finish({ exitCode: error.exitCode, message: error.message })
  }
  return exitCode
}

/** Commander also throws after a help text or the version. */
const throwIfNotHelp = (error: unknown): void => {
  if (!(error instanceof CommanderError && error.exitCode === 0)) throw error
}

/** A help text goes to `help`: Commander would not notice that stdout cannot be written. */
const createProgram = (runner: Runner, help: string[]): Command => {
  const { screen, version } = runner.deps
  const program = new Command('cellarbook')
    .description(
      'Store readings of devices that send a valid API key, and record every reading and change in one append-only log.',
    )
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => help.push(text), writeErr: (text) => screen.write(visibleLines(text)) })
    .configureHelp({ optionDescription })
    .showHelpAfterError('(--help shows all commands and options)')
    .helpCommand(false)
    .addHelpText('after', `\n${environmentHelp}\n\n${exitCodesHelp}`)
  addServeCommand(program, runner)
  addCellarCommands(program, runner)
  addAttentionCommand(program, runner)
  addWebhookCommands(program, runner)
  addKeyCommands(program, runner)
  addOperatorCommands(program, runner)
  addLogCommands(program, runner)
  addConfigCommand(program, runner)
  addHealthCommand(program, runner)
  addBackupCommands(program, runner)
  addSimulateCommand(program, runner)
  addHelpCommand(program)
  return program
}

/** Commander's own help does not say that an option is required. */
const optionDescription = (option: Option): string =>
  Help.prototype.optionDescription(option) + (option.mandatory ? ' (required)' : '')

type ServeWords = {
  readonly demo?: boolean
  readonly acceptChangedSchema?: boolean
  readonly acceptMissingEvents?: boolean
}

const addServeCommand = (program: Command, runner: Runner): void => {
  program
    .command('serve')
    .description(
      'Run the service. SIGTERM or Ctrl-C lets it finish its requests and stop. A second signal ends it at once',
    )
    .option('--demo', 'create a cellar and a key, and post readings from simulated devices')
    .option(...acceptSchemaFlag)
    .option(...acceptMissingFlag)
    .action(async ({ demo = false, acceptChangedSchema = false, acceptMissingEvents = false }: ServeWords) => {
      const options = { demo, acceptChangedSchema, acceptMissingEvents }
      const exitCode = await runner.deps.serve(runner.config(), options)
      runner.finish({ exitCode, message: null })
    })
}

/** Accepts several words, as in `help key create`. Commander's own accepts only one. */
const addHelpCommand = (program: Command): void => {
  program
    .command('help')
    .description('Explain a command, like its --help')
    .argument('[command...]', 'for example: key create')
    .action((words: readonly string[]) => commandNamed(program, words).help())
}

const commandNamed = (program: Command, words: readonly string[]): Command => {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) {
      throw new CommandFailed(
        `There is no command "${words.join(' ')}". Use --help to see all commands`,
        exitCodes.usage,
      )
    }
    command = next
  }
  return command
}

const variableHelp = ({ name, meaning, default: text }: Variable<unknown>): string =>
  `  ${name.padEnd(21)}  ${meaning.replaceAll('`', '')}${text === '' ? '' : ` (${text})`}`

const environmentHelp = `The commands work on the data folder, whether or not the service runs.

Environment variables, with their defaults in parentheses:
${Object.values(variables).map(variableHelp).join('\n')}
  CELLARBOOK_KEY         the API key that simulate uses`

const createRunner = (deps: ProgramDeps, finish: (end: End) => void): Runner => {
  const config = (): Config => {
    for (const name of unknownNames(deps.environment)) {
      deps.screen.write(`cellarbook: warning: ${visibleText(name)} is set, but Cellarbook has no such variable\n`)
    }
    const parsed = parseConfig(deps.environment)
    if (parsed.ok) return parsed.config
    const exitCode = exitCodes.configuration
    for (const fault of parsed.faults.slice(0, -1)) finish({ exitCode, message: fault })
    throw new CommandFailed(parsed.faults.at(-1) ?? '', exitCode)
  }
  return {
    deps,
    config,
    finish,
    run: async (operation, { json = false }, presentation) => {
      const answer = await deps.perform(config(), operation)
      finish(await present(deps, answer, json ? 'json' : presentation))
    },
  }
}

/**
 * Writes events and JSON lines immediately, so that a large log is never held in memory. A table needs the width of every
 * row, so it is kept.
 */
const present = async (
  deps: ProgramDeps,
  answer: AsyncGenerator<Line, End>,
  presentation: Presentation | 'json',
): Promise<End> => {
  const kept: Line[] = []
  try {
    while (true) {
      const step = await answer.next()
      if (step.done) {
        if (presentation !== 'json' && (kept.length > 0 || step.value.exitCode === exitCodes.done))
          await showKept(deps, presentation, kept)
        return step.value
      }
      if (presentation === 'json') await deps.output.write(`${jsonText(step.value)}\n`)
      else if (step.value.kind === 'event')
        await deps.output.write(`${(presentation.event ?? eventText)(step.value.value)}\n`)
      else {
        const text = presentation.atOnce?.(step.value) ?? null
        if (text !== null) await deps.output.write(`${text}\n\n`)
        kept.push(step.value)
      }
    }
  } finally {
    // If the reader of stdout leaves early (`| head`), the loop throws. `return` ends the operation, which then closes the log.
    await answer.return({ exitCode: exitCodes.done, message: null })
  }
}

const showKept = async (deps: ProgramDeps, presentation: Presentation, kept: readonly Line[]): Promise<void> => {
  const text = presentation.text(kept)
  if (text !== '') await deps.output.write(`${text}\n`)
  const note = presentation.note?.(kept) ?? null
  if (note !== null) deps.screen.write(`${visibleLines(asCalled(note, programOf(deps.environment)))}\n`)
}

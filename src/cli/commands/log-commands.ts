import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { LogPart } from '../../domain/search/event-filter.ts'
import { visibleJson } from '../../hidden-characters.ts'
import type { CopyProgress } from '../../log/copy-log.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/output.ts'
import { eventFields, formatFields, keysText } from '../show/text-for-people.ts'
import { addExport } from './export-command.ts'
import { addFilterOptions, filterOf } from './filter-options.ts'
import { acceptSchemaFlag, type JsonOption, jsonFlag, whatArgument } from './options.ts'
import type { Runner } from './runner.ts'
import { addVerify } from './verify-command.ts'

export const addLogCommands = (program: Command, runner: Runner): void => {
  const log = program
    .command('log')
    .description('Read, search, export, copy or check the log of all changes and readings')
  addRead(log, runner)
  addFind(log, runner)
  addExport(log, runner)
  addCopy(log, runner)
  addVerify(log, runner)
}

type ReadOptions = JsonOption & Partial<LogPart> & { readonly follow?: boolean }

const addRead = (log: Command, runner: Runner): void => {
  const command = log
    .command('read')
    .description('Print the events of the log, oldest first. Hashes of secrets are redacted')
  addFilterOptions(command, runner.deps.now)
    .addOption(
      new Option('--follow', 'go on with new events, until Ctrl-C or until the reader closes the pipe').conflicts([
        'until',
        'to',
      ]),
    )
    .option(...jsonFlag)
    .action((options: ReadOptions) =>
      runner.run(
        {
          op: 'read_log',
          ...filterOf(options),
          follow: options.follow === true,
        },
        options,
        { text: () => '' },
      ),
    )
}

const addFind = (log: Command, runner: Runner): void => {
  log
    .command('find')
    .description('Find an event or a key by what is at hand')
    .argument(
      '<what>',
      'a receipt, a position, the id of a request or a reading, the id of a key, or an instant, to see the first event since',
      whatArgument(runner.deps.now),
    )
    .option(...jsonFlag)
    .action((what: string, options: JsonOption) =>
      runner.run({ op: 'find_in_log', what }, options, { text: keysText, event: eventFields }),
    )
}

type CopyOptions = JsonOption & {
  readonly from: string
  readonly to: string
  readonly acceptChangedSchema?: boolean
}

const addCopy = (log: Command, runner: Runner): void => {
  log
    .command('copy')
    .description(
      'Copy a log to another data folder or to EventStoreDB, then compare the two logs. ' +
        'Ids, revisions and times stay the same. Stop the service first. ' +
        'To continue an interrupted copy, repeat the command',
    )
    .requiredOption('--from <place>', 'a data folder, or "eventstore" for the store at EVENTSTORE_URL')
    .requiredOption(
      '--to <place>',
      'a data folder or "eventstore". It must be empty, or hold an interrupted copy of the same log',
    )
    .option(...acceptSchemaFlag)
    .option(...jsonFlag)
    .action((options: CopyOptions) => runCopy(runner, options))
}

const runCopy = async (runner: Runner, { from, to, acceptChangedSchema = false, json }: CopyOptions): Promise<void> => {
  const { deps } = runner
  if (resolve(from) === resolve(to))
    throw new CommandFailed('Cannot copy the log: --from and --to are the same', exitCodes.usage)
  const progress = createProgress(deps.screen, deps.now)
  const onProgress = (now: CopyProgress): void => progress.show(progressLine(now))
  const copy = { from, to, acceptChangedSchema, onProgress }
  const { digest, events, streams } = await deps.copyLog(runner.config(), copy)
  progress.end('Both logs were read again. They are equal.')
  const result = { events, streams: streams.size, digest }
  const text = json === true ? visibleJson(result) : formatFields(fieldsOf(result))
  await deps.output.write(`${text}\n`)
}

const progressLine = ({ phase, events, share }: CopyProgress): string =>
  `${phase}: ${events.toLocaleString('en')} events, ${Math.floor(share * 100)} %`

const fieldsOf = (result: { readonly events: number; readonly streams: number; readonly digest: string }) =>
  [
    ['events', result.events.toLocaleString('en')],
    ['streams', result.streams.toLocaleString('en')],
    ['SHA-256', result.digest],
  ] as const

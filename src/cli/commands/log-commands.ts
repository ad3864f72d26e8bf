import { resolve } from 'node:path'
import type { Command } from 'commander'
import { visibleJson } from '../../hidden-characters.ts'
import type { CopyProgress } from '../../log/copy-log.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/output.ts'
import { formatFields } from '../show/text-for-people.ts'
import { acceptSchemaFlag, eventTypeOption, type JsonOption, jsonFlag, positionOption } from './options.ts'
import type { Runner } from './runner.ts'

type ReadOptions = JsonOption & { readonly stream?: string; readonly type?: string; readonly from?: number }

export const addLogCommands = (program: Command, runner: Runner): void => {
  const log = program.command('log').description('Read or copy the log of all changes and readings')

  log
    .command('read')
    .description('Print the events of the log, oldest first. Hashes of secrets are redacted')
    .option('--stream <name>', 'only this stream, like key-7Qp2xK9a or readings-7Qp2xK9a')
    .option('--type <name>', 'only events of this type, like KeyRevoked', eventTypeOption)
    .option('--from <position>', 'only events after this position', positionOption)
    .option(...jsonFlag)
    .action((options: ReadOptions) =>
      runner.run(
        { op: 'read_log', stream: options.stream ?? null, type: options.type ?? null, from: options.from ?? null },
        { json: options.json === true, text: () => '' },
      ),
    )
  addCopy(log, runner)
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

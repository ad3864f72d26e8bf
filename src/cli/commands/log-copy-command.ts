import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CopyProgress } from '../../log/copy-log.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/progress.ts'
import { formatFields } from '../show/table.ts'
import { visibleJson } from '../show/visible-text.ts'
import { acceptSchemaFlag, type JsonOption, jsonFlag } from './options.ts'
import type { Runner } from './runner.ts'

type CopyOptions = JsonOption & {
  readonly from: string
  readonly to: string
  readonly acceptChangedSchema?: boolean
}

export const addLogCopyCommand = (log: Command, runner: Runner): void => {
  log
    .command('copy')
    .description(
      'Copy a log to another engine with the same ids, revisions and times, and prove that both hold the same. ' +
        'Stop the service first. A copy that was cut off goes on where it stopped',
    )
    .requiredOption('--from <place>', 'a data folder, or "eventstore" for what EVENTSTORE_URL names')
    .requiredOption('--to <place>', 'likewise; it must hold nothing, or a part of this copy')
    .option(...acceptSchemaFlag)
    .option(...jsonFlag)
    .action((options: CopyOptions) => runCopy(runner, options))
}

const runCopy = async (runner: Runner, { from, to, acceptChangedSchema = false, json }: CopyOptions): Promise<void> => {
  const { deps } = runner
  if (resolve(from) === resolve(to)) throw new CommandFailed('--from and --to are the same', exitCodes.usage)
  const progress = createProgress(deps.screen, deps.now)
  const onProgress = (now: CopyProgress): void => progress.show(progressLine(now))
  const copy = { from, to, acceptChangedSchema, onProgress }
  const { digest, events, streams } = await deps.copyLog(runner.config(), copy)
  progress.end('Both were read again: they hold the same.')
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

import type { Command } from 'commander'
import { addLogCopyCommand } from './log-copy-command.ts'
import { eventTypeOption, type JsonOption, jsonFlag, positionOption } from './options.ts'
import type { Runner } from './runner.ts'

type ReadOptions = JsonOption & { readonly stream?: string; readonly type?: string; readonly from?: number }

export const addLogCommands = (program: Command, runner: Runner): void => {
  const log = program.command('log').description('Read the log, every change and every reading in order, or copy it')

  log
    .command('read')
    .description('Print the events that lie in the log, oldest first. Hashes of secrets are redacted')
    .option('--stream <name>', 'only this stream, like key-7Qp2xK9a or readings-7Qp2xK9a')
    .option('--type <name>', 'only events of this type, like KeyRevoked', eventTypeOption)
    .option('--from <position>', 'only what comes after this position', positionOption)
    .option(...jsonFlag)
    .action((options: ReadOptions) =>
      runner.run(
        { op: 'read_log', stream: options.stream ?? null, type: options.type ?? null, from: options.from ?? null },
        { json: options.json === true, text: () => '' },
      ),
    )
  addLogCopyCommand(log, runner)
}

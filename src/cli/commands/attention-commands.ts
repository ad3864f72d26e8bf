import type { Command } from 'commander'
import { attentionTable } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addAttentionCommand = (program: Command, runner: Runner): void => {
  program
    .command('attention')
    .description(
      'List what needs attention: silent devices, keys, and the nodes. The most urgent of each cellar come first',
    )
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run({ op: 'list_attention' }, options, listing(attentionTable, 'Nothing needs attention.')),
    )
}

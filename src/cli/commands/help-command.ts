import type { Command } from 'commander'
import { CommandFailed, exitCodes } from '../exit-codes.ts'

/** `help`, `help key` and `help key create`; the library's own goes only one command deep. */
export const addHelpCommand = (program: Command): void => {
  program
    .command('help')
    .description('Explain a command, as --help behind it does')
    .argument('[command...]', 'its words, like "key create"')
    .action((words: readonly string[]) => commandNamed(program, words).help())
}

const commandNamed = (program: Command, words: readonly string[]): Command => {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) {
      throw new CommandFailed(
        `There is no command "${words.join(' ')}" (--help shows what is possible)`,
        exitCodes.usage,
      )
    }
    command = next
  }
  return command
}

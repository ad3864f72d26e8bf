import type { Command } from 'commander'
import type { Line } from './lines.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { cellarFields, cellarTable } from './render.ts'
import type { Runner } from './runner.ts'

export const addCellarCommands = (program: Command, runner: Runner): void => {
  const cellar = program.command('cellar').description('Create and list cellars: one for each use case')

  cellar
    .command('create')
    .description('Create a cellar. Its identifier is what devices send, and never changes')
    .argument('<id>', 'identifier: 1 to 128 characters, any but control characters')
    .option('--title <text>', 'what people see; can be renamed (default: the identifier)', '')
    .option(...jsonFlag)
    .action((id: string, options: JsonOption & { title: string }) =>
      runner.run(
        { op: 'create_cellar', cellar: id, title: options.title },
        { json: options.json === true, text: (lines) => cellarsOf(lines).map(cellarFields).join('\n\n') },
      ),
    )

  cellar
    .command('list')
    .description('List the cellars')
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run(
        { op: 'list_cellars' },
        {
          json: options.json === true,
          text: (lines) => (lines.length === 0 ? '' : cellarTable(cellarsOf(lines))),
          note: (lines) => (lines.length === 0 ? 'No cellars yet. Create one: cellarbook cellar create ID' : null),
        },
      ),
    )
}

const cellarsOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'cellar' ? [line.value] : []))

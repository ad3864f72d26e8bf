import type { Command } from 'commander'
import type { CellarPolicy, Limit } from '../../domain/events.ts'
import type { Line } from '../show/lines.ts'
import { cellarFields, cellarTable } from '../show/text-for-people.ts'
import { durationOption, type JsonOption, jsonFlag, limitOption, orNone, orNull, textOption } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addCellarCommands = (program: Command, runner: Runner): void => {
  const cellar = program
    .command('cellar')
    .description('Create, list and rename cellars, one for each use case, and set their policies')
  addCreate(cellar, runner)
  addList(cellar, runner)
  addRename(cellar, runner)
  addPolicy(cellar, runner)
}

const addCreate = (cellar: Command, runner: Runner): void => {
  cellar
    .command('create')
    .description('Create a cellar. Devices send its identifier, which never changes')
    .argument('<id>', 'identifier: 1 to 128 characters, any but control characters')
    .addOption(textOption('--title <text>', 'the name that people see. It can be changed', 'the identifier'))
    .option(...jsonFlag)
    .action((id: string, options: JsonOption & { title: string }) =>
      runner.run(
        { op: 'create_cellar', cellar: id, title: options.title },
        { json: options.json === true, text: cellarsText },
      ),
    )
}

const addList = (cellar: Command, runner: Runner): void => {
  cellar
    .command('list')
    .description('List the cellars')
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run(
        { op: 'list_cellars' },
        listing(
          options,
          (lines) => cellarTable(cellarsOf(lines)),
          'No cellars yet. Create one: cellarbook cellar create ID',
        ),
      ),
    )
}

const addRename = (cellar: Command, runner: Runner): void => {
  cellar
    .command('rename')
    .description('Change the title of a cellar. Devices never see it')
    .argument('<id>', 'its identifier')
    .argument('<title>', 'the new title')
    .option(...jsonFlag)
    .action((id: string, title: string, options: JsonOption) =>
      runner.run({ op: 'rename_cellar', cellar: id, title }, { json: options.json === true, text: cellarsText }),
    )
}

type PolicyOptions = JsonOption & {
  readonly limit?: Limit | 'none'
  readonly maxAge?: number | 'none'
  readonly maxAhead?: number | 'none'
  readonly retention?: number | 'none'
  readonly yes?: boolean
}

const addPolicy = (cellar: Command, runner: Runner): void => {
  cellar
    .command('policy')
    .description('Show what a cellar accepts and keeps, and change the settings that are given')
    .argument('<id>', 'its identifier')
    .option(
      '--limit <readings/seconds>',
      'limit of keys without their own, like 600/60, or "none" for the default',
      orNone(limitOption),
    )
    .option('--max-age <duration>', 'maximum age of a reading, like 30d, or "none"', orNone(durationOption))
    .option('--max-ahead <duration>', 'how far ahead a timestamp may be, like 10m, or "none"', orNone(durationOption))
    .option(
      '--retention <days>',
      'how long readings are kept, like 365d, or "none" for ever. Older readings are deleted',
      orNone(durationOption),
    )
    .option('--yes', 'delete readings if the new retention requires it')
    .option(...jsonFlag)
    .action((id: string, options: PolicyOptions) =>
      runner.run(
        { op: 'cellar_policy', cellar: id, changes: changesOf(options), isConfirmed: options.yes === true },
        { json: options.json === true, text: cellarsText },
      ),
    )
}

const changesOf = ({ limit, maxAge, maxAhead, retention }: PolicyOptions): Partial<CellarPolicy> => ({
  ...(limit === undefined ? {} : { limit: orNull(limit) }),
  ...(maxAge === undefined ? {} : { readingAgeMsMax: orNull(maxAge) }),
  ...(maxAhead === undefined ? {} : { readingAheadMsMax: orNull(maxAhead) }),
  ...(retention === undefined ? {} : { retentionMs: orNull(retention) }),
})

const cellarsText = (lines: readonly Line[]): string => cellarsOf(lines).map(cellarFields).join('\n\n')

const cellarsOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'cellar' ? [line.value] : []))

import { type Command, InvalidArgumentError } from 'commander'
import type { CellarPolicy, Limit } from '../../domain/events.ts'
import type { Line } from '../show/lines.ts'
import { cellarFields, cellarTable } from '../show/text-for-people.ts'
import { durationOption, type JsonOption, jsonFlag, limitOption, orNone, orNull, textOption } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addCellarCommands = (program: Command, runner: Runner): void => {
  const cellar = program
    .command('cellar')
    .description(
      'Create, list and rename cellars, and set their rules, units and times of silence. A cellar holds the readings and keys of one use case',
    )
  addCreate(cellar, runner)
  addList(cellar, runner)
  addRename(cellar, runner)
  addPolicy(cellar, runner)
  addUnit(cellar, runner)
  addSilence(cellar, runner)
}

const addCreate = (cellar: Command, runner: Runner): void => {
  cellar
    .command('create')
    .description('Create a cellar. Devices send its identifier, which never changes')
    .argument('<id>', 'identifier: 1 to 128 characters, without control characters')
    .addOption(textOption('--title <text>', 'the name that people see. You can change it later', 'the identifier'))
    .option(...jsonFlag)
    .action((id: string, options: JsonOption & { title: string }) =>
      runner.run({ op: 'create_cellar', cellar: id, title: options.title }, options, { text: cellarsText }),
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
        options,
        listing((lines) => cellarTable(cellarsOf(lines)), 'No cellars yet. Create one: cellarbook cellar create ID'),
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
      runner.run({ op: 'rename_cellar', cellar: id, title }, options, { text: cellarsText }),
    )
}

const addUnit = (cellar: Command, runner: Runner): void => {
  cellar
    .command('unit')
    .description('Set the unit of all kegs of this name. It is shown beside their values, which stay as they are')
    .argument('<id>', 'the identifier of the cellar')
    .argument('<keg>', 'the keg, as devices name it')
    .argument('<unit>', 'at most 16 characters, like °C; "" removes the unit')
    .option(...jsonFlag)
    .action((id: string, keg: string, unit: string, options: JsonOption) =>
      runner.run({ op: 'cellar_unit', cellar: id, keg, unit }, options, { text: cellarsText }),
    )
}

type SilenceArguments = JsonOption & { readonly rack?: string | null; readonly keg?: string | null }

const addSilence = (cellar: Command, runner: Runner): void => {
  cellar
    .command('silence')
    .description(
      'Set when kegs count as silent. The rule of a keg comes before that of its name, its rack and its cellar',
    )
    .argument('<id>', 'the identifier of the cellar')
    .argument(
      '<after>',
      'a time without a reading, like 2h; "never" if they may be silent; "usual" for the default',
      after,
    )
    .option('--rack <rack>', 'only kegs of this rack')
    .option('--keg <keg>', 'only kegs of this name')
    .option(...jsonFlag)
    .action((id: string, time: number | 'never' | null, { rack = null, keg = null, ...options }: SilenceArguments) =>
      runner.run({ op: 'cellar_silence', cellar: id, rack, keg, after: time }, options, { text: cellarsText }),
    )
}

const after = (text: string): number | 'never' | null => {
  if (text === 'never') return 'never'
  if (text === 'usual') return null
  try {
    return durationOption(text)
  } catch (cause) {
    if (cause instanceof InvalidArgumentError)
      throw new InvalidArgumentError(`${cause.message} Or give "never" or "usual".`)
    throw cause
  }
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
    .description('Show the rules of a cellar: limit, age of readings and retention. Options change them')
    .argument('<id>', 'its identifier')
    .option(
      '--limit <readings/seconds>',
      'limit of each key that has no limit of its own: 600/60 is 600 readings per 60 seconds; "none" for the default',
      orNone(limitOption),
    )
    .option('--max-age <duration>', 'refuse readings older than this, like 30d, or "none"', orNone(durationOption))
    .option(
      '--max-ahead <duration>',
      'refuse timestamps further in the future than this, like 10m, or "none"',
      orNone(durationOption),
    )
    .option(
      '--retention <days>',
      'delete readings after this time, like 365d, or "none" to keep them for ever',
      orNone(durationOption),
    )
    .option('--yes', 'confirm a retention that deletes readings')
    .option(...jsonFlag)
    .action((id: string, options: PolicyOptions) =>
      runner.run(
        { op: 'cellar_policy', cellar: id, changes: changesOf(options), isConfirmed: options.yes === true },
        options,
        { text: cellarsText },
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

import { type Command, Option } from 'commander'
import type { KeyChanges } from '../../actors/key/change-key-in-parts.ts'
import type { KeysChange } from '../../actors/key/change-keys.ts'
import { revokedUnaskedMax } from '../../actors/key/change-keys-split.ts'
import { overlapTyped } from '../../domain/amounts.ts'
import type { Limit } from '../../domain/events.ts'
import { anyKey, type KeySort, keySorts } from '../../domain/search/key-filter.ts'
import { visibleText } from '../../hidden-characters.ts'
import { rotationOverlapMsDefault } from '../../limits.ts'
import type { ChangeKeysOperation } from '../control/change-keys-operation.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { changedKeysText, historyTable, keysOf, keysText, keyTable, stateText } from '../show/text-for-people.ts'
import {
  addKeyFilterOptions,
  addSelection,
  type FilterOptions,
  keyFilterOf,
  type SelectionOptions,
  selectionOf,
} from './key-filter-options.ts'
import {
  durationOption,
  expiryOption,
  instantOption,
  type JsonOption,
  jsonFlag,
  keyIdArgument,
  keyIdWords,
  limitOption,
  orNone,
  orNull,
  overlapOption,
  textOption,
} from './options.ts'
import { listing, type Presentation, type Runner } from './runner.ts'

export const addKeyCommands = (program: Command, runner: Runner): void => {
  const key = program
    .command('key')
    .description('Create, list, change, rotate, retire, suspend, resume and revoke API keys, and show their history')
  addCreate(key, runner)
  addChange(key, runner)
  addRotate(key, runner)
  addRetire(key, runner)
  addList(key, runner)
  addStatusChanges(key, runner)
  addHistory(key, runner)
}

type CreateOptions = JsonOption & {
  readonly cellar: string
  readonly label: string
  readonly note: string
  readonly limit?: Limit
  readonly expiresIn?: number
  readonly expiresAt?: number
}

const addCreate = (key: Command, runner: Runner): void => {
  key
    .command('create')
    .description('Create a key. The key is shown only once: the service stores only a hash of it')
    .requiredOption('--cellar <id>', 'the cellar of the key')
    .addOption(textOption('--label <text>', 'a name for people', '"Key" and a number'))
    .addOption(textOption('--note <text>', 'a note for people'))
    .option(
      '--limit <readings/seconds>',
      "maximum readings per period: 6000/60 is 6000 in 60 seconds (default: the cellar's limit)",
      limitOption,
    )
    .addOption(expiresIn())
    .addOption(
      new Option(
        '--expires-at <time>',
        'when the key expires: 2026-12-31T12:00:00Z, or 2026-12-31 for the end of that day (UTC)',
      ).argParser(expiryOption),
    )
    .option(...jsonFlag)
    .action((options: CreateOptions) =>
      runner.run(
        {
          op: 'create_key',
          cellar: options.cellar,
          label: options.label,
          note: options.note,
          limit: options.limit ?? null,
          expiresAt: expiryOf(options, runner.deps.now()) ?? null,
        },
        options,
        { text: keysText, note: () => copyNow },
      ),
    )
}

const expiresIn = (): Option =>
  new Option('--expires-in <duration>', 'the key expires after this time: 45s, 30m, 12h or 30d')
    .argParser(durationOption)
    .conflicts('expiresAt')

const expiryOf = <T>(
  { expiresIn, expiresAt }: { readonly expiresIn?: number; readonly expiresAt?: T },
  nowMs: number,
): number | T | undefined => (expiresIn === undefined ? expiresAt : nowMs + expiresIn)

type SeveralOptions = JsonOption & SelectionOptions

const changing = (
  keyIds: readonly string[] | undefined,
  change: KeysChange,
  options: SeveralOptions,
): ChangeKeysOperation => {
  const { dryRun: isDryRun = false, yes: isConfirmed = false } = options
  return { op: 'change_keys', keys: selectionOf(keyIds ?? [], options), change, isDryRun, isConfirmed }
}

const changed: Presentation = { text: changedKeysText }

type ChangeOptions = SeveralOptions & {
  readonly label?: string
  readonly note?: string
  readonly limit?: Limit | 'none'
  readonly expiresIn?: number
  readonly expiresAt?: number | 'none'
}

const addChange = (key: Command, runner: Runner): void => {
  addSelection(key.command('change'))
    .description(
      'Change settings of keys. A lower limit or an earlier expiry is in force on every node when the command ends',
    )
    .option('--label <text>', 'a name for people')
    .option('--note <text>', 'a note for people')
    .option(
      '--limit <readings/seconds>',
      'maximum readings per period: 6000/60 is 6000 in 60 seconds; "default" for the cellar\'s limit',
      orNone(limitOption, 'default'),
    )
    .addOption(expiresIn())
    .addOption(
      new Option(
        '--expires-at <time>',
        'when the key expires: 2026-12-31T12:00:00Z, 2026-12-31 for the end of that day (UTC), or "never"',
      ).argParser(orNone(expiryOption, 'never')),
    )
    .option(...jsonFlag)
    .action((keyIds: readonly string[], options: ChangeOptions) =>
      runner.run(
        changing(keyIds, { do: 'change', changes: changesOf(options, runner.deps.now()) }, options),
        options,
        changed,
      ),
    )
}

const changesOf = (options: ChangeOptions, nowMs: number): KeyChanges => {
  const { label, note, limit } = options
  const expiresAt = expiryOf(options, nowMs)
  const changes = {
    ...(label === undefined ? {} : { label }),
    ...(note === undefined ? {} : { note }),
    ...(limit === undefined ? {} : { limit: orNull(limit) }),
    ...(expiresAt === undefined ? {} : { expiresAt: orNull(expiresAt) }),
  }
  if (Object.keys(changes).length > 0) return changes
  throw new CommandFailed(
    'Cannot change a key: no change is given. Use --label, --note, --limit, --expires-in or --expires-at',
    exitCodes.usage,
  )
}

const addRotate = (key: Command, runner: Runner): void => {
  addSelection(key.command('rotate'))
    .description(
      'Replace keys by new ones with the same label, note, limit and expiry. The new keys are shown only once',
    )
    .addOption(
      new Option(
        '--overlap <duration>',
        'how long the old key works after the first reading with the new key: 0, 1h, 24h or 7d',
      )
        .argParser(overlapOption)
        .default(rotationOverlapMsDefault, overlapTyped(rotationOverlapMsDefault)),
    )
    .option(...jsonFlag)
    .action((keyIds: readonly string[], options: SeveralOptions & { readonly overlap: number }) =>
      runner.run(changing(keyIds, { do: 'rotate', overlapMs: options.overlap }, options), options, {
        atOnce: (line) => (isNewKey(line) ? keysText([line]) : null),
        text: (lines) => changedKeysText(lines.filter((line) => !isNewKey(line))),
        note: (lines) =>
          lines.some(isNewKey) ? [...replacedNotes(lines), rotatedNote(options.overlap)].join('\n') : null,
      }),
    )
}

const isNewKey = (line: Line): boolean => line.kind === 'key' && line.value.key !== undefined

const rotatedNote = (overlapMs: number): string => `${copyNow} ${oldKeyEnds(overlapMs)} A test reading counts too.`

const replacedNotes = (lines: readonly Line[]): readonly string[] =>
  keysOf(lines).flatMap(({ replaced }) => (replaced === undefined ? [] : [replacedNote(replaced)]))

const replacedNote = (keyId: string): string =>
  `An earlier rotation created clr_${visibleText(keyId)}, which has not been used. It still works, but using it no longer stops the old key. If nobody needs clr_${visibleText(keyId)}, revoke it.`

const oldKeyEnds = (overlapMs: number): string =>
  overlapMs === 0
    ? 'The first reading with the new key stops the old key at once.'
    : `The old key stops ${overlapTyped(overlapMs)} after the first reading with the new key, or at its own expiry if that is earlier.`

const copyNow = 'Copy the key now. It is shown only once.'

type ListOptions = JsonOption & FilterOptions & { readonly sort: KeySort; readonly reverse?: boolean }

const addList = (key: Command, runner: Runner): void => {
  addKeyFilterOptions(key.command('list').description('List the keys, newest first'))
    .addOption(new Option('--sort <by>', 'the order of the keys').choices(keySorts).default('created', 'newest first'))
    .option('--reverse', 'list the keys in the opposite order')
    .option(...jsonFlag)
    .action((options: ListOptions) => {
      const { sort, reverse: isReversed = false } = options
      const filter = keyFilterOf(options)
      const nothing = Bun.deepEquals({ ...filter, cellar: null }, anyKey)
        ? 'No keys yet. Create one: cellarbook key create --cellar ID'
        : 'No key matches all these options.'
      return runner.run(
        { op: 'list_keys', filter, sort, isReversed },
        options,
        listing((lines) => keyTable(keysOf(lines)), nothing),
      )
    })
}

const statusChanges = [
  {
    name: 'revoke',
    description:
      'Revoke keys for ever. On a terminal, shows the keys and asks. When the command ends, no node accepts their readings',
  },
  { name: 'suspend', description: 'Refuse readings of keys until they are resumed' },
  { name: 'resume', description: 'Accept readings of suspended keys again' },
] as const

const addStatusChanges = (key: Command, runner: Runner): void => {
  for (const { name, description } of statusChanges) {
    const yesFor = name === 'revoke' ? `revoke all keys, or more than ${revokedUnaskedMax}, unasked` : undefined
    addSelection(key.command(name).description(description), yesFor)
      .addOption(textOption('--reason <text>', 'the reason, shown in the history of the key'))
      .option(...jsonFlag)
      .action(async (keyIds: readonly string[], options: SeveralOptions & { readonly reason: string }) => {
        const operation = changing(keyIds, { do: name, reason: options.reason }, options)
        const wanted = name === 'revoke' ? await askedFirst(runner, operation, options) : operation
        if (wanted !== null) await runner.run(wanted, options, changed)
      })
  }
}

/** Shows the keys and asks, if a person can answer. `null`: nothing is to be done. */
const askedFirst = async (
  runner: Runner,
  operation: ChangeKeysOperation,
  options: SeveralOptions,
): Promise<ChangeKeysOperation | null> => {
  const { ask } = runner.deps
  const { isConfirmed, isDryRun, keys } = operation
  if (ask === undefined || isConfirmed || isDryRun || options.json === true || 'filter' in keys) return operation
  let able = 0
  const countAble = (lines: readonly Line[]): null => {
    able = keysOf(lines).length
    return null
  }
  await runner.run({ ...operation, isDryRun: true }, options, { ...changed, note: countAble })
  if (able === 0) return null
  if (ask('Revoke for ever?')) return { ...operation, isConfirmed: true }
  runner.finish({ exitCode: exitCodes.refused, message: 'Nothing was changed.' })
  return null
}

const addRetire = (key: Command, runner: Runner): void => {
  addSelection(key.command('retire'))
    .description(
      'Stop old keys of rotations now, if the new key works and is in use. To let them work again, use key change',
    )
    .option(...jsonFlag)
    .action((keyIds: readonly string[], options: SeveralOptions) =>
      runner.run(changing(keyIds, { do: 'retire' }, options), options, changed),
    )
}

const addHistory = (key: Command, runner: Runner): void => {
  key
    .command('history')
    .description('Show who changed a key, what changed, and its status at one instant')
    .argument('<key-id>', keyIdWords, keyIdArgument)
    .option('--at <time>', 'the instant, like 2026-03-01T10:14:07Z (default: now)', instantOption(runner.deps.now))
    .option(...jsonFlag)
    .action((keyId: string, options: JsonOption & { readonly at?: number }) =>
      runner.run({ op: 'key_history', keyId, at: options.at ?? null }, options, { text: historyText }),
    )
}

const historyText = (lines: readonly Line[]): string => {
  const history = lines.flatMap((line) => (line.kind === 'history' ? [line.value] : []))
  const states = lines.flatMap((line) => (line.kind === 'state' ? [stateText(line.value)] : []))
  return [historyTable(history), ...states].join('\n\n')
}

import { type Command, Option } from 'commander'
import type { KeyChanges } from '../../actors/key/change-key-in-parts.ts'
import { overlapTyped } from '../../domain/amounts.ts'
import type { Limit } from '../../domain/events.ts'
import { visibleText } from '../../hidden-characters.ts'
import { rotationOverlapMsDefault } from '../../limits.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { historyTable, keysOf, keysText, keyTable, stateText } from '../show/text-for-people.ts'
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
import { listing, type Runner } from './runner.ts'

export const addKeyCommands = (program: Command, runner: Runner): void => {
  const key = program
    .command('key')
    .description('Create, list, change, rotate, suspend, resume and revoke API keys, and show their history')
  addCreate(key, runner)
  addChange(key, runner)
  addRotate(key, runner)
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

type ChangeOptions = JsonOption & {
  readonly label?: string
  readonly note?: string
  readonly limit?: Limit | 'none'
  readonly expiresIn?: number
  readonly expiresAt?: number | 'none'
}

const addChange = (key: Command, runner: Runner): void => {
  key
    .command('change')
    .description(
      'Change settings of a key. A lower limit or an earlier expiry is in force on every node when the command ends',
    )
    .argument('<key-id>', keyIdWords, keyIdArgument)
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
    .action((keyId: string, options: ChangeOptions) =>
      runner.run({ op: 'change_key', keyId, changes: changesOf(options, runner.deps.now()) }, options, {
        text: keysText,
      }),
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
    'Cannot change the key: no change is given. Use --label, --note, --limit, --expires-in or --expires-at',
    exitCodes.usage,
  )
}

const addRotate = (key: Command, runner: Runner): void => {
  key
    .command('rotate')
    .description(
      'Replace a key by a new one with the same label, note, limit and expiry. The new key is shown only once',
    )
    .argument('<key-id>', keyIdWords, keyIdArgument)
    .addOption(
      new Option(
        '--overlap <duration>',
        'how long the old key works after the first reading with the new key: 0, 1h, 24h or 7d',
      )
        .argParser(overlapOption)
        .default(rotationOverlapMsDefault, overlapTyped(rotationOverlapMsDefault)),
    )
    .option(...jsonFlag)
    .action((keyId: string, options: JsonOption & { readonly overlap: number }) =>
      runner.run({ op: 'rotate_key', keyId, overlapMs: options.overlap }, options, {
        text: keysText,
        note: (lines) => [...replacedNotes(lines), rotatedNote(options.overlap)].join('\n'),
      }),
    )
}

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

const addList = (key: Command, runner: Runner): void => {
  key
    .command('list')
    .description('List the keys, newest first')
    .option('--cellar <id>', 'only keys of this cellar')
    .option(...jsonFlag)
    .action((options: JsonOption & { readonly cellar?: string }) =>
      runner.run(
        { op: 'list_keys', cellar: options.cellar ?? null },
        options,
        listing((lines) => keyTable(keysOf(lines)), 'No keys yet. Create one: cellarbook key create --cellar ID'),
      ),
    )
}

const statusChanges = [
  {
    name: 'revoke',
    op: 'revoke_key',
    description: 'Revoke a key for ever. When the command ends, no node accepts its readings',
  },
  { name: 'suspend', op: 'suspend_key', description: 'Refuse readings of a key until it is resumed' },
  { name: 'resume', op: 'resume_key', description: 'Accept readings of a suspended key again' },
] as const

const addStatusChanges = (key: Command, runner: Runner): void => {
  for (const { name, op, description } of statusChanges) {
    key
      .command(name)
      .description(description)
      .argument('<key-id>', keyIdWords, keyIdArgument)
      .addOption(textOption('--reason <text>', 'the reason, shown in the history of the key'))
      .option(...jsonFlag)
      .action((keyId: string, options: JsonOption & { readonly reason: string }) =>
        runner.run({ op, keyId, reason: options.reason }, options, { text: keysText }),
      )
  }
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

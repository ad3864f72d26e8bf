import { type Command, Option } from 'commander'
import { keyStatuses } from '../../domain/key-refusal.ts'
import { anyKey, type KeyFilter, keyWords } from '../../domain/search/key-filter.ts'
import type { KeySelection } from '../control/change-keys-operation.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { keyIdArgument } from './options.ts'

export type FilterOptions = {
  readonly cellar?: string
  readonly find?: string
  readonly status?: KeyFilter['status']
  readonly expiring?: '7d' | '30d' | 'never'
  readonly unused?: '30d' | '90d' | 'never'
  readonly nearLimit?: boolean
  readonly refusedToday?: boolean
  readonly rotation?: boolean
}

/** Together they narrow the list down. */
export const addKeyFilterOptions = (command: Command): Command =>
  command
    .option('--cellar <id>', 'only keys of this cellar')
    .option('--find <words>', 'only keys with each of these words in the label, the note or the id')
    .addOption(new Option('--status <status>', 'only keys with this status').choices(keyStatuses))
    .addOption(
      new Option('--expiring <time>', 'only keys that expire within this time').choices(['7d', '30d', 'never']),
    )
    .addOption(new Option('--unused <time>', 'only keys unused for this time').choices(['30d', '90d', 'never']))
    .option('--near-limit', 'only keys that used at least 80 % of their limit in the busiest minute of 24 hours')
    .option('--refused-today', 'only keys with refused readings today')
    .option('--rotation', 'only the old and new keys of rotations that go on')

export const keyFilterOf = (options: FilterOptions): KeyFilter => ({
  ...anyKey,
  cellar: options.cellar ?? null,
  words: keyWords(options.find ?? ''),
  status: options.status ?? 'all',
  expires: withoutUnit(options.expiring),
  unused: withoutUnit(options.unused),
  nearLimit: options.nearLimit === true,
  refusedToday: options.refusedToday === true,
  rotation: options.rotation === true,
})

const units = { '7d': '7', '30d': '30', '90d': '90', never: 'never' } as const

const withoutUnit = <Time extends keyof typeof units>(time: Time | undefined): (typeof units)[Time] | null =>
  time === undefined ? null : units[time]

export type SelectionOptions = FilterOptions & {
  readonly allMatching?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export const addSelection = (command: Command, yesFor = 'change all keys'): Command =>
  addKeyFilterOptions(
    command
      .argument('[key-ids...]', 'the ids of the keys: the 8 characters after "clr_"', (text, before: string[] = []) => [
        ...before,
        keyIdArgument(text),
      ])
      .option('--all-matching', 'instead of ids: all keys that the following options find'),
  )
    .option('--dry-run', 'change nothing, and list the keys that would be changed')
    .option('--yes', yesFor)

export const selectionOf = (keyIds: readonly string[], options: SelectionOptions): KeySelection => {
  const filter = keyFilterOf(options)
  if (options.allMatching !== true) {
    if (!Bun.deepEquals(filter, anyKey)) throw wrong('to change all keys that a filter finds, add --all-matching')
    if (keyIds.length === 0) throw wrong('no key is given. Give ids of keys, or use --all-matching')
    return { keyIds: [...keyIds] }
  }
  if (keyIds.length > 0) throw wrong('give ids of keys or --all-matching, not both')
  return { filter }
}

const wrong = (why: string): CommandFailed => new CommandFailed(`Nothing was changed: ${why}`, exitCodes.usage)

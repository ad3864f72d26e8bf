/** Words of the command line that more than one command takes, and how each is read. */
import { InvalidArgumentError, Option } from 'commander'
import { parseDurationMs, parseLimit, parseOverlap } from '../../domain/amounts.ts'
import { eventData, type Limit } from '../../domain/events.ts'
import { parseExpiry } from '../../domain/expiry.ts'
import { parseTimestamp } from '../../domain/reading/timestamp.ts'
import type { Typed } from '../../domain/text.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'

/** For text that may be left out; `instead` is what is then taken for it. */
export const textOption = (flags: string, description: string, instead = 'none'): Option =>
  new Option(flags, description).default('', instead)

export const jsonFlag = ['--json', 'print JSON lines on stdout, and nothing else'] as const
export type JsonOption = { readonly json?: boolean }

export const acceptSchemaFlag = [
  '--accept-changed-schema',
  "accept tables, indexes or triggers of the log's file that this program did not make, and record it in the log",
] as const

export const durationOption = (text: string): number => parsedValue(parseDurationMs(text, 'duration'))
/** For what can be lifted by a word. It stays one until `orNull`: commander takes `null` for no value. */
export const orNone =
  <T>(parse: (text: string) => T, word = 'none') =>
  (text: string): T | 'none' =>
    text === word ? 'none' : parse(text)
export const orNull = <T>(value: T | 'none'): T | null => (value === 'none' ? null : value)
export const limitOption = (text: string): Limit => parsedValue(parseLimit(text))
export const overlapOption = (text: string): number => parsedValue(parseOverlap(text))
export const expiryOption = (text: string): number => parsedValue(parseExpiry(text))

const parsedValue = <T>(typed: Typed<T>): T => {
  if (typed.ok) return typed.value
  throw new InvalidArgumentError(typed.refusal.rule)
}

/**
 * A key's id, also as the dashboard shows it, `clr_7Qp2mZ4k_…`. More of a key is refused in words that do not repeat it, as
 * commander's own would.
 */
export const keyIdArgument = (text: string): string => {
  const [, keyId] = /^clr_([0-9A-Za-z]{8})(?:_…?)?$/.exec(text) ?? []
  if (keyId === undefined && /^(?:clr_)?[0-9A-Za-z]{8}_./.test(text)) {
    throw new CommandFailed(
      'The id of a key is only the 8 characters after "clr_", and more than that was given. A key on a command line can be read in the list of processes and in the shell’s history: if others can look there, revoke it.',
      exitCodes.usage,
    )
  }
  return keyId ?? text
}

export const keyIdWords = 'the id of the key: the 8 characters after "clr_"'

/** An instant for which something is asked, in ms. */
export const instantOption = (text: string): number => {
  const parsed = parseTimestamp(text)
  if (typeof parsed === 'number') return parsed
  throw new InvalidArgumentError('It must be an instant in UTC like 2026-03-01T10:14:07Z.')
}

export const numberOption =
  ({ max }: { readonly max: number }) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= max) return value
    throw new InvalidArgumentError(`It must be a number over 0, at most ${max}.`)
  }

export const countOption =
  ({ max }: { readonly max: number }) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value > 0 && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
  }

export const positionOption = (text: string): number => {
  const position = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(position)) return position
  throw new InvalidArgumentError('It must be a position as "log read" prints it, a whole number.')
}

export const eventTypeOption = (text: string): string => {
  if (Object.hasOwn(eventData, text)) return text
  throw new InvalidArgumentError(`It must be one of ${Object.keys(eventData).join(', ')}.`)
}

import { InvalidArgumentError, Option } from 'commander'
import { parseDurationMs, parseLimit, parseOverlap } from '../../domain/amounts.ts'
import { instantText } from '../../domain/calendar.ts'
import { type EventType, eventTypes, isEventType, type Limit } from '../../domain/events.ts'
import { parseExpiry } from '../../domain/expiry.ts'
import { parseActor } from '../../domain/search/event-filter.ts'
import { parseInstantNear } from '../../domain/search/near-instant.ts'
import { meaningsOf } from '../../domain/search/what-to-find.ts'
import type { Typed } from '../../domain/text.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'

/** The help shows `instead` as the default, because `''`, the value of a missing option, is invisible. */
export const textOption = (flags: string, description: string, instead = 'none'): Option =>
  new Option(flags, description).default('', instead)

export const jsonFlag = ['--json', 'print JSON lines on stdout, and nothing else'] as const
export type JsonOption = { readonly json?: boolean }

export const acceptSchemaFlag = [
  '--accept-changed-schema',
  'use the log file even if its tables, indexes or triggers were changed, and record this in the log',
] as const

export const acceptMissingFlag = [
  '--accept-missing-events',
  'use a log whose last events are missing, and record this in the log',
] as const

export const durationOption = (text: string): number => parsedValue(parseDurationMs(text, 'duration'))
/**
 * Commander takes `null` for a missing option. So `orNull` turns 'none' into `null` only after commander has read all
 * options.
 */
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
 * Accepts the id of a key, or `clr_7Qp2mZ4k_…`. For a whole key, the error is our own, because commander's would print the
 * secret.
 */
export const keyIdArgument = (text: string): string => {
  const [, keyId] = /^clr_([0-9A-Za-z]{8})(?:_…?)?$/.exec(text) ?? []
  if (keyId === undefined) assertNoWholeKey(text)
  return keyId ?? text
}

const assertNoWholeKey = (text: string): void => {
  if (/^(?:clr_)?[0-9A-Za-z]{8}_[^…]/.test(text)) {
    throw new CommandFailed(
      'Cannot use this as the id of a key: the id is only the 8 characters after "clr_". A whole key on a command line is visible in the process list and in the shell’s history. If others can read these, revoke the key.',
      exitCodes.usage,
    )
  }
}

export const keyIdWords = 'the id of the key: the 8 characters after "clr_"'

/** Returns ms since 1970. */
export const instantOption =
  (now: () => number) =>
  (text: string): number =>
    parsedValue(parseInstantNear(text, now()))

export const actorOption = (text: string): string => {
  assertNoWholeKey(text)
  return parsedValue(parseActor(text))
}

/** The process that looks the text up finds out again what it means. */
export const whatArgument =
  (now: () => number) =>
  (text: string): string => {
    assertNoWholeKey(text)
    if (meaningsOf(text).length > 0) return text
    const near = parseInstantNear(text, now())
    if (near.ok) return instantText(near.value)
    throw new InvalidArgumentError(
      'It must be a receipt like readings-7Qp2mZ4k@976, a position, the id of an event or a request, ' +
        'the id of a key like clr_7Qp2mZ4k, or an instant like 2026-03-01T10:14:07Z, 10:14 or "yesterday 18:00".',
    )
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
  throw new InvalidArgumentError('It must be a whole number: a position from "log read".')
}

export const eventTypeOption = (text: string): EventType => {
  if (isEventType(text)) return text
  throw new InvalidArgumentError(`It must be one of ${eventTypes.join(', ')}.`)
}

import type { AttentionKind, AttentionLine, LineScope } from '../../src/domain/attention/attention-lines.ts'
import type { EventData, EventType } from '../../src/domain/events.ts'
import {
  cannotSay,
  type Names,
  type Part,
  quoted,
  type Sentence,
  type Sentences,
  say,
  strong,
} from '../log/sentence-parts.ts'
import { countOf, countText } from '../parts/quantity.ts'
import { dateText, durationWords } from '../parts/time-words.ts'
import type { AttentionRow, PastPageView } from './attention-types.ts'

type AttentionEventType = Extract<
  EventType,
  `Attention${string}` | `Webhook${string}` | `Delivery${string}` | 'SilenceRuleSet'
>

export const attentionSentences: Sentences<AttentionEventType> = {
  AttentionChanged: ({ data }, { names }) => {
    const { began, ended } = data
    const where = placeOf(data.cellar, began[0] ?? ended[0], names)
    const first = began[0] ?? ended[0]
    if (first === undefined) return say`What needs attention ${where} was recorded again.`
    const others = began.length + ended.length - 1
    const more = others === 0 ? '' : `, and ${countOf(others, 'other line', 'other lines')} changed`
    if (began.length > 0) return say`Needs attention ${where}: ${lineSentence(first, names)}${more}.`
    return first.isPart === true || first.hasParts === true
      ? say`Changed ${where}: ${lineSentence(first, names)}${more}.`
      : say`No longer needs attention ${where}: ${lineSentence(first, names)}${more}.`
  },
  AttentionRested: ({ data, recordedAt }, { who, names }) =>
    data.untilMs <= recordedAt
      ? say`${who} ended the rest of a line ${placeOf(data.cellar, data, names)}: ${kindWords[data.kind]}${scopeOf(data)}.`
      : say`${who} put a line ${placeOf(data.cellar, data, names)} to rest until ${dateText(data.untilMs)}: ${kindWords[data.kind]}${scopeOf(data)}.`,
  WebhookSet: ({ data }, { who, names }) => {
    const { webhookId, kinds, url } = data
    const what = kinds.length === 0 ? 'everything' : kinds.map((kind) => kindWords[kind]).join(', ')
    return say`${who} set webhook ${webhookOf(webhookId, names)} to ${quoted(url)}, for ${what}.`
  },
  WebhookRemoved: ({ data }, { who, names }) => say`${who} removed webhook ${webhookOf(data.webhookId, names)}.`,
  DeliveryBegun: ({ data: { webhookId, of, attempt, node } }, { names }) => {
    const what = of === null ? 'a test' : `attempt ${countText(attempt)} to send a message`
    return say`Node ${quoted(node)} began ${what} to webhook ${webhookOf(webhookId, names)}.`
  },
  DeliveryEnded: ({ data: { webhookId, attempt, outcome, status } }, { names }) =>
    say`Attempt ${countText(attempt)} to send to webhook ${webhookOf(webhookId, names)}: ${outcomeWords[outcome]}${status === null ? '' : `, with status ${status}`}.`,
  SilenceRuleSet: ({ data, stream }, { who, names }) => {
    const { rack, keg, after } = data
    const kegs = keg === null ? say`kegs` : say`kegs named ${quoted(keg)}`
    const cellar = names.cellarOfStream(stream)
    const of = say`${kegs}${rack === null ? '' : say` of rack ${quoted(rack)}`} ${placeOf(cellar, undefined, names)}`
    if (after === null) return say`${who} removed the rule for silence of ${of}.`
    if (after === 'never') return say`${who} allowed ${of} to be silent.`
    return say`${who} set that ${of} count as silent after ${strong(durationWords(after))}.`
  },
}

const webhookOf = (webhookId: string, names: Names): Part => ({
  kind: 'webhook',
  webhookId,
  host: names.webhookHost(webhookId),
})

const outcomeWords: Readonly<Record<EventData<'DeliveryEnded'>['outcome'], string>> = {
  delivered: 'delivered',
  failed: 'failed',
  unknown: 'it is not known whether it was delivered',
  given_up: 'given up',
}

const placeOf = (
  cellar: string | null,
  line: Pick<AttentionLine, 'node'> | undefined,
  names: Pick<Names, 'cellarTitle'>,
): Sentence => {
  if (cellar !== null) return say`in ${{ kind: 'cellar', cellar, title: names.cellarTitle(cellar) ?? cellar }}`
  return line?.node === undefined ? say`in a cellar` : say`on node ${quoted(line.node)}`
}

const scopeOf = ({ rack, keg }: Pick<AttentionLine, 'rack' | 'keg'>): Sentence => {
  if (rack === undefined) return []
  return keg === undefined ? say` (rack ${quoted(rack)})` : say` (rack ${quoted(rack)}, keg ${quoted(keg)})`
}

/** As the beginning of a page's line. */
export const lineStatement = ({ line, keyLabel }: Pick<AttentionRow, 'line' | 'keyLabel'>): Sentence =>
  asBeginning(lineSentence(line, { keyLabel: () => keyLabel }))

/** Like `In Gin cellar: all 20 kegs are silent`. */
export const placedStatement = ({ cellar, cellarTitle, line, keyLabel }: AttentionRow): Sentence => {
  const where = placeOf(cellar, line, { cellarTitle: () => cellarTitle })
  return say`${asBeginning(where)}: ${lineSentence(line, { keyLabel: () => keyLabel })}`
}

const asBeginning = ([first, ...others]: Sentence): Sentence => {
  if (first?.kind !== 'text') return first === undefined ? others : [first, ...others]
  return [{ ...first, text: capitalised(first.text) }, ...others]
}

/** Without a full stop. */
export const lineSentence = (line: AttentionLine, names: Pick<Names, 'keyLabel'>): Sentence =>
  line.isGone === true ? say`${kindSentence(line, names)}, and its readings were deleted` : kindSentence(line, names)

const kindSentence = (line: AttentionLine, names: Pick<Names, 'keyLabel'>): Sentence => {
  const { kind, rack, keg, dueMs = 0, count = 0 } = line
  switch (kind) {
    case 'silent':
      if (line.isPart === true) return say`${silentOf(line)} is now part of a wider silence`
      if (line.hasParts === true) return say`${silentOf(line)} is no longer silent as a whole`
      if (rack === undefined) return say`all ${strong(countOf(count, 'keg', 'kegs'))} are silent`
      if (keg === undefined) return say`rack ${quoted(rack)} is silent, with ${countOf(count, 'keg', 'kegs')}`
      return say`${silentOf(line)} is silent`
    case 'key_expires':
      return say`${keyOf(line, names)} is in use and expires on ${dateText(dueMs)}`
    case 'key_at_limit':
      return say`${keyOf(line, names)} is at its limit, with ${countOf(count, 'refusal', 'refusals')} in an hour`
    case 'key_refused':
      return say`requests with ${keyOf(line, names)} are refused, ${countOf(count, 'time', 'times')} in an hour`
    case 'keys_unused':
      return say`${countOf(count, 'key was', 'keys were')} not used for 90 days`
    case 'rotation_hangs':
      return say`the new key of ${keyOf(line, names)} is still not in use`
    case 'refusals_rise':
      return say`many more refusals than usual, ${countOf(count, 'refusal', 'refusals')} in an hour`
    case 'disk_fills':
      return say`the disk is full on ${dateText(dueMs)} at this rate`
    case 'check_failed':
      return say`the last check of the log did not find it sound`
    case 'backup_old':
      return say`no backup was made for a week`
    case 'certificate_ends':
      return say`the certificate ends on ${dateText(dueMs)}`
    default:
      return cannotSay(kind)
  }
}

const silentOf = ({ rack, keg }: LineScope): Sentence => {
  if (rack === undefined) return say`the cellar`
  return keg === undefined ? say`rack ${quoted(rack)}` : say`rack ${quoted(rack)}, keg ${quoted(keg)}`
}

const keyOf = ({ keyId = '' }: LineScope, names: Pick<Names, 'keyLabel'>): Part => ({
  kind: 'key',
  keyId,
  label: names.keyLabel(keyId),
})

/** Like `Rack “r”, keg “k” in Gin cellar`, or `Old backups on node “a”`. */
export const scopeSentence = ({ scope, cellar, cellarTitle, keyLabel }: Omit<PastPageView, 'past'>): Sentence => {
  const { kind, rack, keg, keyId } = scope
  const where = placeOf(cellar, scope, { cellarTitle: () => cellarTitle })
  if (rack !== undefined) return say`Rack ${quoted(rack)}${keg === undefined ? '' : say`, keg ${quoted(keg)}`} ${where}`
  const key = keyId === undefined ? '' : say` (${keyOf(scope, { keyLabel: () => keyLabel })})`
  return say`${capitalised(kindWords[kind])}${key} ${where}`
}

/** Within a sentence. */
export const kindWords: Readonly<Record<AttentionKind, string>> = {
  silent: 'silence',
  key_expires: 'keys that expire',
  key_at_limit: 'keys at their limit',
  key_refused: 'refused requests',
  keys_unused: 'unused keys',
  rotation_hangs: 'unfinished rotations',
  refusals_rise: 'many refusals',
  disk_fills: 'full disks',
  check_failed: 'failed checks of the log',
  backup_old: 'old backups',
  certificate_ends: 'certificates that end',
}

export const capitalised = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

import type { TSchema } from '@sinclair/typebox'
import { durationTyped } from '../../domain/amounts.ts'
import { instantText } from '../../domain/calendar.ts'
import { type By, declarationOf, isEventType, type Limit } from '../../domain/events.ts'
import { assertNever } from '../../domain/refusal.ts'
import { visibleJson, visibleText } from '../../hidden-characters.ts'
import { keyLimitDefault } from '../../limits.ts'
import type {
  AttentionView,
  CellarView,
  EventView,
  HistoryView,
  KeyView,
  Line,
  LinkView,
  OperatorView,
  StateView,
  UnchangedKeyView,
  WebhookView,
} from './lines.ts'

export const jsonText = (line: Line): string => visibleJson(line.value)

/** Fixed widths, because events are printed before the widest cell is known. */
export const eventText = (event: EventView): string =>
  [
    visibleText(event.position).padStart(8),
    visibleText(event.recordedAt),
    visibleText(`${event.stream}@${event.revision}`).padEnd(34),
    visibleText(event.type).padEnd(18),
    visibleJson(event.data),
  ].join('  ')

/** With times and durations as people read them, and with an empty line after it. */
export const eventFields = (event: EventView): string => {
  const properties = isEventType(event.type) ? declarationOf(event.type).data.properties : {}
  const { by, requestId } = event.metadata
  const said = Object.entries(event.data).map(([name, value]): [string, string] => [
    visibleText(name),
    valueText(value, titleOf(properties[name])),
  ])
  const fields = [
    ['event', event.type],
    ['time', event.recordedAt],
    ['by', byText(by)],
    ...said,
    ['receipt', `${event.stream}@${event.revision}`],
    ['position', event.position],
    ['request', requestId],
    ['id', event.id],
  ] as const
  return `${formatFields(fields)}\n`
}

/** Of a field that can be `null`, the title is that of its other type. */
const titleOf = (schema: TSchema | undefined): string => schema?.title ?? schema?.['anyOf']?.[0]?.title ?? ''

const valueText = (value: unknown, title: string): string => {
  if (typeof value === 'string') return value === '' ? 'none' : value
  if (value === null) return 'none'
  if (typeof value === 'number' && title === 'ms since 1970') return instantText(value)
  if (typeof value === 'number' && title === 'ms') return durationTyped(value)
  return JSON.stringify(value)
}

export const cellarFields = ({ cellar, title, createdAt, policy, units, silence }: CellarView): string => {
  const { limit, readingAgeMsMax, readingAheadMsMax, retentionMs } = policy
  return formatFields([
    ['cellar', cellar],
    ['title', title],
    ['created', createdAt],
    ['default limit per key', limit === null ? `${limitText(keyLimitDefault)} (the default)` : limitText(limit)],
    ['maximum age of a reading', readingAgeMsMax === null ? 'no maximum' : durationTyped(readingAgeMsMax)],
    ['maximum time in the future', readingAheadMsMax === null ? 'no maximum' : durationTyped(readingAheadMsMax)],
    ['readings are kept', retentionMs === null ? 'for ever' : `for ${durationTyped(retentionMs)}`],
    ['units', unitsText(units)],
    ['silent after', silenceText(silence)],
  ])
}

const unitsText = (units: CellarView['units']): string =>
  Object.entries(units)
    .map(([keg, unit]) => `${keg}: ${unit}`)
    .join(', ') || 'none'

const silenceText = (rules: CellarView['silence']): string =>
  rules
    .map(({ rack, keg, after }) => {
      const where = [rack === null ? 'all racks' : `rack ${rack}`, keg === null ? 'all kegs' : `keg ${keg}`]
      return `${where.join(', ')}: ${after === 'never' ? after : durationTyped(after)}`
    })
    .join('; ') || 'ten usual pauses'

export const cellarTable = (cellars: readonly CellarView[]): string =>
  formatTable(
    ['CELLAR', 'TITLE', 'KEYS', 'CREATED'],
    cellars.map((cellar) => [cellar.cellar, cellar.title, String(cellar.keys), cellar.createdAt]),
  )

const keyFields = (key: KeyView): string =>
  formatFields([
    ['id', key.id],
    ...(key.key === undefined ? [] : [['key', key.key] as const]),
    ['cellar', key.cellar],
    ['label', key.label],
    ['note', key.note],
    ['status', key.status],
    ['limit', limitText(key.limit)],
    ['expires', key.expiresAt ?? 'never'],
    ['created', key.createdAt],
    ['last used', key.lastUsedAt ?? 'never'],
    ...(key.predecessor === undefined ? [] : [['rotated from', key.predecessor] as const]),
    ...(key.successor === undefined ? [] : [['rotated to', key.successor] as const]),
  ])

export const keysText = (lines: readonly Line[]): string => keysOf(lines).map(keyFields).join('\n\n')

/** The fields of one key, or a table of several, and below it the keys that were not changed. */
export const changedKeysText = (lines: readonly Line[]): string => {
  const [keys, unchanged] = [keysOf(lines), unchangedOf(lines)]
  return [
    ...(keys.length === 0 ? [] : [keys.length === 1 ? keysText(lines) : keyTable(keys)]),
    ...(unchanged.length === 0 ? [] : [unchangedTable(unchanged)]),
  ].join('\n\n')
}

const unchangedOf = (lines: readonly Line[]): readonly UnchangedKeyView[] =>
  lines.flatMap((line) => (line.kind === 'unchanged_key' ? [line.value] : []))

const unchangedTable = (keys: readonly UnchangedKeyView[]): string =>
  formatTable(
    ['ID', 'CELLAR', 'LABEL', 'NOT CHANGED, BECAUSE'],
    keys.map(({ id, cellar, label, reason }) => [id, cellar ?? '-', label ?? '-', reason]),
  )

export const keysOf = (lines: readonly Line[]): readonly KeyView[] =>
  lines.flatMap((line) => (line.kind === 'key' ? [line.value] : []))

export const keyTable = (keys: readonly KeyView[]): string =>
  formatTable(
    ['ID', 'CELLAR', 'LABEL', 'STATUS', 'LIMIT', 'EXPIRES', 'CREATED', 'LAST USED'],
    keys.map((key) => [
      key.id,
      key.cellar,
      key.label,
      key.status,
      limitText(key.limit),
      key.expiresAt ?? 'never',
      key.createdAt,
      key.lastUsedAt ?? 'never',
    ]),
  )

export const historyTable = (history: readonly HistoryView[]): string =>
  formatTable(
    ['WHEN', 'EVENT', 'BY', 'CHANGED', 'STATUS AFTER', 'POSITION'],
    history.map((row) => [row.recordedAt, row.type, byText(row.by), row.changes.join('; '), row.status, row.position]),
  )

export const stateText = (state: StateView): string =>
  visibleText(`At ${state.at} key ${state.key} was ${state.reason}`)

export const operatorFields = ({ email, role, addedAt }: OperatorView): string =>
  formatFields([
    ['email', email],
    ['role', role ?? 'none: access was removed'],
    ['added', addedAt ?? '-'],
  ])

export const operatorTable = (operators: readonly OperatorView[]): string =>
  formatTable(
    ['EMAIL', 'ROLE', 'ADDED'],
    operators.map(({ email, role, addedAt, invitation }) =>
      invitation === undefined
        ? [email, role ?? 'none', addedAt ?? '-']
        : [email, invitation.role, `invited, until ${invitation.expiresAt}`],
    ),
  )

export const linkText = (link: LinkView): string => visibleText(link.url)

const byText = (by: By): string => {
  switch (by.kind) {
    case 'operator':
      return by.session?.linkMadeBy ? `${by.email} (${linkMakerText(by.session.linkMadeBy)})` : by.email
    case 'key':
      return `key ${by.keyId}`
    case 'cli':
      return 'command line'
    case 'system':
      return 'service'
    default:
      return assertNever(by)
  }
}

const linkMakerText = (madeBy: string): string =>
  `password set with a one-time link from ${madeBy === 'cli' ? 'the command line' : madeBy}`

const limitText = (limit: Limit): string => `${limit.readings}/${limit.windowMs / 1_000}`

/** By the width on a terminal, where some characters take two columns. */
export const formatTable = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = [head, ...rows].map((row) => row.map(visibleText))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ''))))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(cell)))
      .join('  ')
      .trimEnd()
  return cells.map(line).join('\n')
}

export const formatFields = (fields: readonly (readonly [name: string, value: string])[]): string => {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${visibleText(value)}`).join('\n')
}

export const attentionTable = (lines: readonly Line[]): string => {
  const views = lines.flatMap((line): readonly AttentionView[] => (line.kind === 'attention' ? [line.value] : []))
  return formatTable(
    ['SINCE', 'WHAT', 'CELLAR', 'RACK', 'KEG', 'KEY', 'NODE', 'COUNT', 'DUE', 'RESTS UNTIL'],
    views.map(({ since, what, cellar, rack, keg, key, node, count, due, restsUntil }) => [
      since,
      what,
      ...[cellar, rack, keg, key, node, count === null ? null : String(count), due, restsUntil].map(
        (one) => one ?? '-',
      ),
    ]),
  )
}

const webhooksIn = (lines: readonly Line[]): readonly WebhookView[] =>
  lines.flatMap((line) => (line.kind === 'webhook' ? [line.value] : []))

const webhookState = ({ state, failingSince }: WebhookView): string =>
  state === 'failing' ? `${state} since ${failingSince}` : state

export const webhookTable = (lines: readonly Line[]): string =>
  formatTable(
    ['ID', 'ADDRESS', 'KINDS', 'STATE', 'WAITING', 'LAST ATTEMPT'],
    webhooksIn(lines).map((webhook) => [
      webhook.id,
      webhook.url,
      webhook.kinds.join(', ') || 'all',
      webhookState(webhook),
      String(webhook.waiting),
      webhook.lastAttempt ?? 'never',
    ]),
  )

export const webhookFields = (lines: readonly Line[]): string =>
  webhooksIn(lines)
    .map((webhook) =>
      formatFields([
        ['id', webhook.id],
        ['address', webhook.url],
        ['kinds', webhook.kinds.join(', ') || 'all'],
        ['state', webhookState(webhook)],
        ...(webhook.trouble === null ? [] : [['trouble', webhook.trouble] as const]),
        ...(webhook.secret === undefined ? [] : [['secret', webhook.secret] as const]),
      ]),
    )
    .join('\n\n')

/** Makes docs/events.md from the declarations of the events. */
import type { TSchema } from '@sinclair/typebox'
import type { Declared, StreamKind } from '../../../src/domain/events/declare-event.ts'
import { declarationOf, type EventType, eventTypes } from '../../../src/domain/events.ts'

/** Names of streams, as docs/protocol.md, "Streams and identity", has them too. */
export const streamNames: Readonly<Record<StreamKind, string>> = {
  cellarbook: '`cellarbook-log`',
  cellar: '`cellar-<digest>`',
  key: '`key-<id>`',
  readings: '`readings-<id>`',
  refusals: '`refusals-<id>` and `refusals-node`',
  operator: '`operator-<digest>`',
  'operator-setup': '`operator-setup`',
  signins: '`signins-node`',
  exports: '`exports-log`',
  attention: '`attention-<digest>`, `attention-nodes`, `attention-rests`, `attention-webhooks` and `attention-to-<id>`',
  records: 'any stream of records',
  purged: 'any stream whose old events were deleted',
}

const streamKinds = Object.keys(streamNames).filter((kind): kind is StreamKind => kind in streamNames)

const intro = `# Events

Every event that the log can contain. This page is made from the declarations in \`src/domain/events/\`, and a test compares both:
\`UPDATE_EVENTS_PAGE=1 bun test test/events-document.test.ts\` writes it again. [protocol.md](protocol.md), "Streams and identity", says
how streams are named.

Each event also has an id, \`recordedAt\` (ms since 1970) and metadata. The metadata names who asked for the event (\`by\`), the request
(\`requestId\` and \`correlationId\`) and the cause (\`causationId\`). Exports and pages replace hashes by \`[redacted]\`.
`

export const eventsPage = (): string => [intro, ...streamKinds.map(sectionOf)].join('\n')

const sectionOf = (stream: StreamKind): string => {
  const types = eventTypes.filter((type) => declarationOf(type).in[0] === stream)
  return [`## In ${streamNames[stream]}`, ...types.map((type) => `\n${eventText(type)}`), ''].join('\n')
}

const eventText = (type: EventType): string => {
  const declared = declarationOf(type)
  const rows = rowsOf(declared.data)
  const table = ['', '| field | type | meaning |', '| --- | --- | --- |', ...rows]
  return [`### ${type}`, '', declared.data.description, '', marksOf(declared), ...(rows.length > 0 ? table : [])].join(
    '\n',
  )
}

const marksOf = (declared: Declared): string => {
  const also = declared.in.slice(1).map((stream) => ` Also in ${streamNames[stream]}.`)
  const by =
    declared.by.length === 0 ? 'Never stored.' : `Written by: ${declared.by.map((each) => writers[each]).join(', ')}.`
  const shown = declared.shown === undefined ? '' : ` ${shownWords[declared.shown]}`
  return `${by}${also.join('')}${shown}${declared.mayTakeAway === true ? ' A fence follows if the key loses a right.' : ''}`
}

const writers: Readonly<Record<Declared['by'][number], string>> = {
  operator: 'an operator',
  key: 'a key',
  cli: 'the command line',
  system: 'the service',
}

const shownWords: Readonly<Record<NonNullable<Declared['shown']>, string>> = {
  internal: 'Internal: the history of a key leaves it out unless everything is asked for.',
  placeholder: 'It stands in place of another event.',
}

/** Fields of fields follow as `policy.limit` and `samples[].code`. */
const rowsOf = (schema: TSchema, path = ''): readonly string[] =>
  Object.entries<TSchema>(schema['properties'] ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [`| \`${at}\` | ${typeOf(field)} | ${field.description ?? ''} |`, ...rowsOfInner(field, at)]
  })

const rowsOfInner = (field: TSchema, at: string): readonly string[] => {
  const [only, none] = partsOf(field)
  if (only !== undefined && none?.['type'] === 'null') return rowsOfInner(only, at)
  return field['type'] === 'array' ? rowsOf(field['items'], `${at}[]`) : rowsOf(field, at)
}

const partsOf = (field: TSchema): readonly TSchema[] => field['anyOf'] ?? []

const typeOf = (field: TSchema): string => {
  const parts = partsOf(field)
  if (parts.length > 0) return parts.map(typeOf).join(' or ')
  if ('const' in field) return `\`${field['const']}\``
  return field.title ?? (field['type'] === 'array' ? 'list' : String(field['type']))
}

import type { EventKind } from '../../src/domain/events/declare-event.ts'
import type { By, EventType } from '../../src/domain/events.ts'
import { changesOf } from '../../src/domain/search/event-changes.ts'
import { kindOf } from '../../src/domain/search/event-filter.ts'
import { nothingBefore } from '../../src/domain/search/state-before.ts'
import { eventView } from '../../src/export/event-view.ts'
import { EventPage } from '../../views/log/event-page.tsx'
import { eventKindsShown } from '../../views/log/kind-mark.tsx'
import { FoundPage } from '../../views/log/list/found-page.tsx'
import { LogPage } from '../../views/log/list/log-page.tsx'
import type {
  EventPageView,
  EventRow,
  ExplainedSample,
  LogListView,
  LogQuery,
  LogRow,
  RefusalCount,
} from '../../views/log/log-types.ts'
import { RefusalPage } from '../../views/log/refusal-page.tsx'
import { sentenceOf as sentenceOfEvent } from '../../views/log/sentence.ts'
import type { Part, Sentence } from '../../views/log/sentence-parts.ts'
import { paths } from '../../views/paths.ts'
import type { Shell } from '../../views/types.ts'
import { everyEvent } from '../support/logs/every-event.ts'

type Field = 'cellar' | 'title' | 'label' | 'reason' | 'rack' | 'keg' | 'unit' | 'email' | 'browser' | 'typed' | 'fault'
type Texts = (field: Field) => string

const minute = 60_000
const id = '019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3'

const noQuery: LogQuery = {
  kind: null,
  unknownKind: '',
  type: '',
  actor: '',
  cellar: '',
  rack: '',
  key: '',
  from: '',
  to: '',
  at: '',
  before: null,
  after: null,
  isPaused: false,
}

const sentenceOf = (texts: Texts, words: string): Sentence => {
  const key: Part = { kind: 'key', keyId: '7Qp2abCd', label: texts('label') }
  return [
    { kind: 'operator', email: texts('email') },
    { kind: 'text', text: ` ${words} ` },
    key,
    { kind: 'text', text: ' of ' },
    { kind: 'cellar', cellar: texts('cellar'), title: texts('title') },
    { kind: 'text', text: ': ' },
    { kind: 'typed', text: texts('reason') },
    { kind: 'text', text: ', to ' },
    { kind: 'strong', text: '600 readings in 60 seconds' },
    { kind: 'text', text: '.' },
  ]
}

export const sampleRefusalRows = (texts: Texts, nowMs: number): readonly EventRow[] => [
  { ...eventRow(texts, nowMs, 0), kind: 'refusals', stream: 'refusals-7Qp2abCd', whyHref: paths.refusedRequest(id) },
]

export const sampleRefusalCounts = (texts: Texts): readonly RefusalCount[] => [
  {
    keyId: '7Qp2abCd',
    label: texts('label'),
    code: 'RATE_LIMITED',
    words: 'over the limit',
    count: 1_204,
    href: paths.log({ kind: 'refusals', key: '7Qp2abCd' }),
  },
]

const eventRow = (texts: Texts, nowMs: number, at: number): EventRow => ({
  row: 'event',
  position: 90_000 - at,
  at: nowMs - at * 9 * 3_600_000,
  kind: (['keys', 'refusals', 'cellars', 'operators', 'log', 'readings'] as const)[at % 6] ?? 'keys',
  stream: 'key-7Qp2abCd',
  revision: at === 1 ? null : 40 - at,
  sentence: sentenceOf(texts, 'lowered the limit of'),
  period: at % 6 === 1 ? { firstAt: nowMs - 20_000, lastAt: nowMs - 10_000 } : null,
  by:
    at % 3 === 0
      ? { kind: 'person', by: { kind: 'operator', email: texts('email') }, href: paths.log({ actor: texts('email') }) }
      : at % 3 === 1
        ? { kind: 'key', keyId: '7Qp2abCd', label: texts('label'), href: paths.key('7Qp2abCd') }
        : { kind: 'other', by: { kind: 'system' }, href: paths.log({ actor: 'system' }) },
  whyHref: at % 6 === 1 ? paths.refusedRequest(id) : null,
})

const rowsOf = (texts: Texts, nowMs: number): readonly LogRow[] => [
  { row: 'instant', position: 90_001, at: nowMs },
  ...Array.from({ length: 8 }, (_, at) => at).flatMap((at): LogRow[] => [
    eventRow(texts, nowMs, at),
    {
      row: 'minute',
      position: 90_000 - at,
      at: nowMs - (nowMs % minute) - at * 9 * 3_600_000,
      cellar: at === 3 ? null : { id: texts('cellar'), title: texts('title') },
      count: 2_381 - at,
      href: at === 3 ? null : paths.log({ kind: 'readings', cellar: texts('cellar') }),
    },
    {
      row: 'stretch',
      position: 89_900 - at,
      newestPosition: 90_000 - at,
      at: nowMs - (nowMs % minute) - at * 9 * 3_600_000 - 19 * minute,
      lastMinute: nowMs - (nowMs % minute) - at * 9 * 3_600_000 - minute,
      cellar: at === 3 ? null : { id: texts('cellar'), title: texts('title') },
      count: 214 + at,
      href: paths.log({ kind: 'readings', cellar: texts('cellar') }),
    },
  ]),
]

export const sampleLogList = (texts: Texts, nowMs: number): LogListView => ({
  query: noQuery,
  faults: {},
  rows: rowsOf(texts, nowMs),
  end: { kind: 'page_full' },
  newerHref: null,
  olderHref: paths.log({ before: 89_000 }),
  index: { kind: 'current' },
  bars: {
    bars: Array.from({ length: 60 }, (_, at) => ({
      at: nowMs - (nowMs % minute) - (59 - at) * minute,
      accepted: Math.round(2_000 + 900 * Math.sin(at / 6)),
      refused: at > 43 && at < 50 ? 400 : 0,
      href: paths.log({ from: 'x', to: 'y' }),
    })),
    barMs: minute,
    isChosen: false,
  },
  about: null,
  rackKeys: null,
  exported: { list: 'events', filter: {} },
  cellars: [{ id: texts('cellar'), title: texts('title') }],
  types: ['KeyCreated', 'KeyRevoked'],
})

const eventOf = (texts: Texts, nowMs: number): EventPageView => ({
  kind: 'keys',
  type: 'KeyLimitChanged',
  stream: 'key-7Qp2abCd',
  revision: 4,
  position: 18_204_117,
  at: nowMs - 6 * minute,
  sentence: sentenceOf(texts, 'lowered the limit of'),
  by: { kind: 'person', by: { kind: 'operator', email: texts('email') }, href: paths.log({ actor: texts('email') }) },
  session: { id: 'a91c77f0', from: { at: nowMs - 8 * minute, address: '192.0.2.7', browser: texts('browser') } },
  requestId: id,
  changes: [
    { field: 'limit', from: { readings: 6_000, windowMs: minute }, to: { readings: 600, windowMs: minute } },
    { field: 'label', from: texts('label'), to: texts('label') },
  ],
  after: {
    of: 'key',
    state: {
      status: 'active',
      expiresAt: null,
      decidedBy: { at: nowMs - 9 * minute, by: { kind: 'cli' }, reason: '' },
    },
  },
  inForceAt: nowMs - 6 * minute + 18,
  sameRequest: {
    events: [
      {
        words: sentenceOf(texts, 'changed'),
        place: 'readings-7Qp2abCd@900',
        href: paths.event('readings-7Qp2abCd', 900),
      },
    ],
    count: 3,
    listHref: paths.log({ actor: texts('email'), from: '2026-03-01' }),
    isComplete: false,
  },
  inStream: { before: paths.event('key-7Qp2abCd', 3), after: paths.event('key-7Qp2abCd', 5) },
  inLog: { before: paths.event('cellar-x', 3), after: null },
  keg: { cellar: texts('cellar'), rack: texts('rack'), keg: texts('keg') },
  about: { words: 'All of the key', name: texts('label'), href: paths.log({ key: '7Qp2abCd' }) },
  samples: [],
  json: JSON.stringify({ stream: 'key-7Qp2abCd', data: { label: 'x' } }, null, 2),
})

const linkedOperator = (texts: Texts): By => ({
  kind: 'operator',
  email: texts('email'),
  session: { id: 'a91c77f0', linkMadeBy: texts('email') },
})

const sampleOf = (texts: Texts, nowMs: number): ExplainedSample => ({
  requestId: id,
  at: nowMs - 5 * minute,
  status: 400,
  code: 'INVALID_TIMESTAMP',
  sentence: sentenceOf(texts, 'sent a reading of'),
  rule: 'timestamp must have the form YYYY-MM-DDThh:mm:ssZ.',
  key: { id: '7Qp2abCd', label: texts('label'), cellar: texts('cellar') },
  rack: texts('rack'),
  keg: texts('keg'),
  keyThen: {
    status: 'suspended',
    expiresAt: null,
    decidedBy: { at: nowMs - 9 * minute, by: linkedOperator(texts), reason: texts('reason') },
  },
  limitThen: { words: '600 readings in 60 seconds', used: 600 },
  changed: [
    {
      at: nowMs - 6 * minute,
      words: sentenceOf(texts, 'lowered the limit of'),
      by: { kind: 'other', by: { kind: 'cli' }, href: paths.log({ actor: 'cli' }) },
      href: paths.event('key-7Qp2abCd', 4),
    },
  ],
  around: {
    from: nowMs - 5 * minute,
    to: nowMs - 4 * minute,
    refusals: sentenceOf(texts, 'was refused'),
    href: paths.event('refusals-7Qp2abCd', 3),
  },
  remedy: {
    words: 'Check the clock of the device.',
    link: { words: 'Go to the cellar’s rules', href: '/cellars/x/settings' },
  },
})

const typeOfKind: Readonly<Record<EventKind, EventType>> = {
  readings: 'ReadingAccepted',
  refusals: 'ReadingsRefused',
  keys: 'KeyRotated',
  cellars: 'CellarPolicyChanged',
  operators: 'OperatorRoleChanged',
  attention: 'AttentionChanged',
  log: 'LogExported',
}

/** The list and an event of each kind, with the sentence and the changes of a real event. */
const pagesOfKinds = (texts: Texts, shell: Shell) =>
  eventKindsShown.flatMap((kind) => {
    const event = everyEvent(() => texts('reason')).find(({ type }) => type === typeOfKind[kind])
    if (event === undefined) throw new Error(`There is no sample of ${kind}`)
    const list = sampleLogList(texts, shell.nowMs)
    const sentence = sentenceOfEvent(event, nothingBefore, {
      keyLabel: () => texts('label'),
      cellarTitle: () => texts('title'),
      cellarOfStream: () => texts('cellar'),
      emailOfStream: () => texts('email'),
      unitOf: () => texts('unit'),
      webhookHost: () => texts('title'),
    })
    const shown: EventPageView = {
      ...eventOf(texts, shell.nowMs),
      kind: kindOf(event),
      type: event.type,
      sentence,
      changes: changesOf(event, nothingBefore),
      json: JSON.stringify(eventView(event), null, 2),
    }
    return [
      { name: `log-${kind}`, html: LogPage({ shell, list: { ...list, query: { ...noQuery, kind } } }) },
      { name: `event-${kind}`, html: EventPage({ shell, event: shown }) },
    ]
  })

/** Every state of the pages about the event log. */
export const logPages = (texts: Texts, shell: Shell) => {
  const { nowMs } = shell
  const list = sampleLogList(texts, nowMs)
  const event = eventOf(texts, nowMs)
  const filtered: LogListView = {
    ...list,
    query: {
      ...noQuery,
      kind: 'keys',
      type: 'KeyCreated',
      actor: texts('typed'),
      cellar: texts('typed'),
      rack: texts('typed'),
      key: texts('typed'),
      from: texts('typed'),
      to: texts('typed'),
      at: texts('typed'),
    },
    newerHref: paths.log({ after: 90_001 }),
    end: { kind: 'time_over', position: 89_000, atMs: nowMs - 3_600_000 },
    about: { words: 'Page of the key', name: texts('label'), href: paths.key('7Qp2abCd') },
    rackKeys: 2,
    exported: { list: 'events', filter: { key: texts('typed'), since: '2026-03-01T12:00:00.000Z', readings: 'no' } },
    bars: null,
  }
  const fault = texts('fault')
  const faults = { actor: fault, cellar: fault, key: fault, from: fault, to: fault, at: fault, type: fault }
  return [
    ...pagesOfKinds(texts, shell),
    { name: 'log', html: LogPage({ shell, list }) },
    { name: 'log-paused', html: LogPage({ shell, list: { ...list, query: { ...noQuery, isPaused: true } } }) },
    { name: 'log-filtered', html: LogPage({ shell, list: filtered }) },
    { name: 'log-refused', html: LogPage({ shell, list: { ...filtered, faults, rows: [] } }) },
    {
      name: 'log-nothing',
      html: LogPage({ shell, list: { ...filtered, rows: [], end: { kind: 'complete' }, olderHref: null } }),
    },
    {
      name: 'log-index-behind',
      html: LogPage({ shell, list: { ...list, index: { kind: 'behind', read: 4_120, of: 1_284_009 }, bars: null } }),
    },
    { name: 'log-index-late', html: LogPage({ shell, list: { ...list, index: { kind: 'late' } } }) },
    {
      name: 'log-no-index',
      html: LogPage({ shell, list: { ...list, index: { kind: 'none', why: texts('fault') }, bars: null } }),
    },
    {
      name: 'log-found',
      html: FoundPage({
        shell,
        found: {
          typed: texts('typed'),
          choices: [
            { what: 'The key', name: texts('label'), href: paths.log({ key: '7Qp2abCd' }) },
            { what: 'The cellar', name: texts('title'), href: paths.log({ cellar: texts('cellar') }) },
          ],
          missing: [texts('fault')],
        },
      }),
    },
    {
      name: 'log-not-found',
      html: FoundPage({ shell, found: { typed: texts('typed'), choices: [], missing: [texts('fault')] } }),
    },
    { name: 'event', html: EventPage({ shell, event }) },
    {
      name: 'event-samples',
      html: EventPage({
        shell,
        event: {
          ...event,
          kind: 'refusals',
          type: 'ReadingsRefused',
          session: { id: 'a91c77f0', from: null },
          changes: [{ field: 'refused', code: 'RATE_LIMITED', count: 14 }],
          sameRequest: { events: [], count: 0, isComplete: true, listHref: null },
          inStream: { before: null, after: null },
          samples: [
            {
              at: nowMs - minute,
              code: 'INVALID_NAME',
              words: 'a name is invalid',
              rack: texts('rack'),
              keg: texts('keg'),
              requestId: id,
              href: paths.refusedRequest(id),
            },
          ],
        },
      }),
    },
    { name: 'refused-sample', html: RefusalPage({ shell, explained: { kind: 'sample', ...sampleOf(texts, nowMs) } }) },
    {
      name: 'refused-summaries',
      html: RefusalPage({
        shell,
        explained: {
          kind: 'summaries',
          requestId: id,
          at: nowMs - minute,
          goOnHref: null,
          summaries: [
            {
              key: { id: '7Qp2abCd', label: texts('label') },
              from: nowMs - 2 * minute,
              to: nowMs - minute,
              refusals: sentenceOf(texts, 'was refused'),
              href: paths.event('refusals-7Qp2abCd', 3),
            },
          ],
        },
      }),
    },
    {
      name: 'refused-unknown',
      html: RefusalPage({
        shell,
        explained: {
          kind: 'summaries',
          requestId: id,
          at: nowMs,
          goOnHref: paths.refusedRequest(id, 7),
          summaries: [],
        },
      }),
    },
    {
      name: 'refused-no-id',
      html: RefusalPage({ shell, explained: { kind: 'not_an_id', requestId: texts('typed') } }),
    },
  ]
}

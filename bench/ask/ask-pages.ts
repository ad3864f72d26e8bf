import { instantText } from '../../src/domain/calendar.ts'
import { eventKinds } from '../../src/domain/events/declare-event.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { systemEntropy } from '../../src/entropy.ts'
import type { LogQuery } from '../../views/log/log-types.ts'
import { paths } from '../../views/paths.ts'
import { newOperators, useLink } from '../load/new-operators.ts'
import type { EmptyService } from '../servers.ts'
import { type Answered, type AskedAbout, type Question, refusedIdOf } from './asked-about.ts'

export type PageParts = {
  readonly service: EmptyService
  readonly about: AskedAbout
  /** The id of the key with the long history. */
  readonly longKey: string
  /** The last position of the log. */
  readonly last: number
}

const hourMs = 3_600_000

/** A page by its name, and its path in each round. */
type Asked = readonly [name: string, pathOf: (round: number) => string]

/** Pages of the dashboard, as a signed-in auditor gets them over HTTP. A redirect is followed, and counts with the page. */
export const askedPages = async (parts: PageParts): Promise<readonly Question[]> => {
  const { service } = parts
  const emptyCellar = `empty-${Date.now()}`
  await service.ask({ op: 'create_cellar', cellar: emptyCellar, title: '' })
  const [auditor] = await newOperators(service, 1, 'auditor')
  if (auditor === undefined) throw new Error('Cannot ask: there is no operator')
  const cookie = await useLink(auditor)
  const pages = [
    ...listPages(parts.about, { ...parts, emptyCellar }),
    ...turnedPages(parts.about, parts),
    ...eventPages(parts.about, parts),
    ...refusalPages(parts.about),
    ...foundPages(parts.about, auditor.email),
    ...keyAndCellarPages(parts.about, parts.longKey),
  ]
  return pages.map(([name, pathOf]) => ({ name, ask: (round) => answerOf(`${service.url}${pathOf(round)}`, cookie) }))
}

const log = (name: string, queryOf: (round: number) => Partial<LogQuery>): Asked => [
  `Log: ${name}`,
  (round) => paths.log(queryOf(round)),
]

type OfList = Pick<PageParts, 'longKey'> & { readonly emptyCellar: string }

const listPages = (
  { cellar, key, actor, type, any, refusal }: AskedAbout,
  { longKey, emptyCellar }: OfList,
): readonly Asked[] => [
  log('no filter', () => ({})),
  ...eventKinds.map((kind) => log(`kind ${kind}`, () => ({ kind }))),
  log('a type', (round) => ({ type: type(round) })),
  log('an actor', (round) => ({ actor: actor(round) })),
  log('an actor without events', (round) => ({ actor: `nobody-${round}@example.org` })),
  log('the command line', () => ({ actor: 'cli' })),
  log('a cellar', (round) => ({ cellar: cellar(round) })),
  log('a key', (round) => ({ key: key(round) })),
  log('a key with a long history', () => ({ key: longKey })),
  log('refusals of a key with a long history', () => ({ kind: 'refusals', key: longKey })),
  log('a type that a key does not have', (round) => ({ type: 'KeyRevoked', key: key(round) })),
  log('an actor in a cellar', (round) => ({ actor: actor(round), cellar: cellar(round) })),
  log('an actor, a cellar and a type', (round) => ({
    actor: actor(round),
    cellar: cellar(round),
    type: type(round),
  })),
  log('readings of a cellar', (round) => ({ kind: 'readings', cellar: cellar(round) })),
  log('readings of a cellar without readings', () => ({ kind: 'readings', cellar: emptyCellar })),
  log('readings of a key', (round) => ({ kind: 'readings', key: key(round) })),
  log('readings by a key', (round) => ({ kind: 'readings', actor: `clr_${key(round)}` })),
  log('an hour', (round) => hourOf(any(round))),
  log('refusals in an hour', (round) => ({ kind: 'refusals', ...hourOf(refusal(round)) })),
  log('a cellar in an hour', (round) => ({ cellar: cellar(round), ...hourOf(any(round)) })),
  log('an actor in an hour', (round) => ({ actor: actor(round), ...hourOf(any(round)) })),
  log('readings of a cellar in an hour', (round) => ({
    kind: 'readings',
    cellar: cellar(round),
    ...hourOf(any(round)),
  })),
  log('readings of a key in 10 days', (round) => ({
    kind: 'readings',
    key: key(round),
    ...spanOf(any(round), 240 * hourMs),
  })),
  log('refusals in the last 2 days', () => ({ kind: 'refusals', from: instantText(Date.now() - 48 * hourMs) })),
]

/** Older and newer pages, and old instants. */
const turnedPages = (
  { any, change, cellar, key, actor }: AskedAbout,
  { last }: Pick<PageParts, 'last'>,
): readonly Asked[] => [
  log('an instant', (round) => ({ at: instantText(any(round).recordedAt) })),
  log('refusals at an instant', (round) => ({ kind: 'refusals', at: instantText(any(round).recordedAt) })),
  log('a cellar at an instant', (round) => ({ cellar: cellar(round), at: instantText(any(round).recordedAt) })),
  log('readings of a cellar at an instant', (round) => ({
    kind: 'readings',
    cellar: cellar(round),
    at: instantText(any(round).recordedAt),
  })),
  log('readings of a key at an instant', (round) => ({
    kind: 'readings',
    key: key(round),
    at: instantText(any(round).recordedAt),
  })),
  log('older', (round) => ({ before: change(round).position })),
  log('newer', (round) => ({ after: change(round).position })),
  log('older, of yesterday', (round) => ({ before: last - 1_000 * (1 + round) })),
  log('newer, of yesterday', (round) => ({ after: last - 1_000 * (1 + round) })),
  log('older readings by minute', (round) => ({ kind: 'readings', before: last - 1_000 * (1 + round) })),
  log('older, of an actor', (round) => ({ actor: actor(round), before: change(round).position })),
  log('newer, of a cellar', (round) => ({ cellar: cellar(round), after: change(round).position })),
  log('older readings of a cellar', (round) => ({
    kind: 'readings',
    cellar: cellar(round),
    before: change(round).position,
  })),
  log('newer readings of a key', (round) => ({ kind: 'readings', key: key(round), after: change(round).position })),
]

const eventPages = (
  { change, reading, refusal }: AskedAbout,
  { longKey }: Pick<PageParts, 'longKey'>,
): readonly Asked[] => {
  const page = ({ stream, revision }: RecordedEvent): string => paths.event(stream, revision)
  return [
    ['event of a key', (round) => page(change(round))],
    ['event of a key with a long history', (round) => paths.event(`key-${longKey}`, 50 + 7 * round)],
    ['a late event of it', (round) => paths.event(`key-${longKey}`, 4_000 + 7 * round)],
    ['a reading', (round) => page(reading(round))],
    ['a summary of refusals', (round) => page(refusal(round))],
    ['a summary of the key with a long history', (round) => paths.event(`refusals-${longKey}`, round)],
    ['a sign-in', (round) => paths.event('signins-node', round)],
    ['no such event', (round) => paths.event(reading(round).stream, 10_000_000 + round)],
  ]
}

const refusalPages = ({ refusal, any }: AskedAbout): readonly Asked[] => [
  ['refused request of a sample', (round) => paths.refusedRequest(refusedIdOf(refusal(round)))],
  ['refused request that is only counted', (round) => paths.refusedRequest(newId(refusal(round).recordedAt - 5_000))],
  ['request of any instant', (round) => paths.refusedRequest(newId(any(round).recordedAt))],
  ['request of this minute', () => paths.refusedRequest(newId(Date.now()))],
  ['request from before the log', () => paths.refusedRequest(newId(Date.now() - 3_000 * hourMs))],
]

const newId = (atMs: number): string => systemEntropy.requestId(atMs)

const foundPages = ({ change, reading, refusal, any, key, cellar }: AskedAbout, email: string): readonly Asked[] => {
  const find = (name: string, whatOf: (round: number) => string): Asked => [
    `find ${name}`,
    (round) => paths.found(whatOf(round)),
  ]
  return [
    find('a receipt', (round) => `${reading(round).stream}@${reading(round).revision}`),
    find('a position', (round) => String(any(round).position)),
    find('a reading’s request id', (round) => reading(round).metadata.requestId),
    find('a change’s event id', (round) => change(round).id),
    find('a change’s request id', (round) => change(round).metadata.requestId),
    find('a refused request’s id', (round) => refusedIdOf(refusal(round))),
    find('an unknown request id', (round) => newId(any(round).recordedAt)),
    find('an unknown event id', () => systemEntropy.uuid()),
    find('a key', key),
    find('a public prefix', (round) => `clr_${key(round)}`),
    find('a cellar', cellar),
    find('an e-mail', () => email),
    find('an old instant', (round) => instantText(any(round).recordedAt)),
    find('3 minutes ago', () => '3 minutes ago'),
    find('a word', () => 'harvest'),
  ]
}

const keyAndCellarPages = ({ key, cellar, any }: AskedAbout, longKey: string): readonly Asked[] => [
  ['key', (round) => paths.key(key(round))],
  ['key with a long history', () => paths.key(longKey)],
  ['older history of it', (round) => paths.key(longKey, 20 + round)],
  ['key at an instant', (round) => atOf(key(round), any(round))],
  ['key with a long history at an instant', (round) => atOf(longKey, any(round))],
  ['cellar', (round) => paths.cellar(cellar(round))],
  ['keys of a cellar', (round) => paths.keys(cellar(round))],
  ['keys of all cellars', () => paths.allKeys()],
  ['keys by a prefix', (round) => paths.allKeys({ words: [`clr_${key(round).toLowerCase()}`], status: 'all' })],
  ['keys by a word, by label', () => paths.allKeys({ words: ['press'], sort: 'label' })],
  ['keys by last use', () => paths.allKeys({ sort: 'used' })],
  ['keys by share of limit', () => paths.allKeys({ sort: 'busiest' })],
  ['keys near their limit', () => paths.allKeys({ nearLimit: true })],
  ['keys refused today', () => paths.allKeys({ refusedToday: true, status: 'all' })],
  ['keys unused for 30 days', () => paths.allKeys({ unused: '30', sort: 'expires' })],
  ['keys in rotation', () => paths.allKeys({ rotation: true })],
  ['far page of keys', () => paths.allKeys({ page: 150 })],
  ['settings of a cellar', (round) => paths.settings(cellar(round))],
  ['cellar at an instant', (round) => paths.cellarThen(cellar(round), instantText(any(round).recordedAt))],
  [
    'cellar of the long history at an instant',
    (round) => paths.cellarThen('cellar-0', instantText(any(round).recordedAt)),
  ],
  ['cellars', () => paths.cellars],
]

const atOf = (keyId: string, { recordedAt }: RecordedEvent): string =>
  paths.keyAt(keyId, instantText(recordedAt)).replace(/#.*/, '')

const spanOf = ({ recordedAt }: RecordedEvent, ms: number) => ({
  from: instantText(recordedAt),
  to: instantText(recordedAt + ms),
})

const hourOf = (event: RecordedEvent) => spanOf(event, hourMs)

/** A page that offers to go on has looked only at a part of the log, within its time. */
const answerOf = async (url: string, cookie: string): Promise<Answered> => {
  const answer = await fetch(url, { headers: { Cookie: cookie } })
  const text = await answer.text()
  if (answer.status !== 200 && answer.status !== 404)
    throw new Error(`Cannot measure: ${url} was answered with ${answer.status}`)
  if (/Go on searching|The search took too long/.test(text)) return 'offers_to_go_on'
  return answer.status === 200 && !text.includes('Nothing in the log matches') ? 'found' : 'nothing'
}

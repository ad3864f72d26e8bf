/** Asks a service everything whose true answer is known. A question has the same words for each copy of the folder. */

import { instantText } from '../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { snapshotOf } from '../../support/snapshot.ts'
import type { MadeFolders } from './made-folders.ts'
import type { OpenedNode } from './opened-node.ts'

/** `refused`: the service cannot answer, and says why. */
export type Answer = { readonly said: string } | { readonly refused: string } | { readonly bug: string }
export type Answers = ReadonlyMap<string, Answer>

const headersShown = ['X-Receipt', 'Idempotent-Replayed', 'RateLimit', 'RateLimit-Policy', 'Location']

const answerOf = async (response: Response): Promise<Answer> => {
  const body = await response.text()
  const text = `${response.status} ${headersShown.map((name) => response.headers.get(name)).join(' ')} ${body}`
  if (response.status === 503) return { refused: text }
  if (response.status >= 500) return { bug: text }
  return { said: withoutChance(text) }
}

/** Request ids and form tokens are new for each answer. */
const withoutChance = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '(id)')
    .replaceAll(/name="_csrf" value="[^"]*"/g, '')

type Place = Pick<MadeFolders, 'keys' | 'repeats' | 'cookie' | 'endMs'>

/** Asks what devices and people ask. `times`: also compares what depends on the time of the answer. */
export const askOverHttp = async (
  url: string,
  place: Place,
  { times }: { readonly times: boolean },
): Promise<Answers> => {
  const answers = new Map<string, Answer>()
  let isWindowTrue = times
  const ask = async (question: string, path: string, init: RequestInit): Promise<void> => {
    const answer = await answerOf(await fetch(`${url}${path}`, { ...init, redirect: 'manual' }))
    if ('said' in answer) {
      const said = isWindowTrue ? answer.said : withoutWindow(answer.said)
      answers.set(question, { said: times ? said : withoutTimes(said) })
    } else answers.set(question, answer)
  }
  const { keys, repeats, cookie, endMs } = place
  const post = (path: string, key: string, body: string, more: Readonly<Record<string, string>> = {}) =>
    [
      `/api/v1/ingest${path}`,
      { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...more }, body },
    ] as const

  if (times) for (const path of pagesOf(place)) await ask(`GET ${path}`, path, { headers: { Cookie: cookie } })
  for (const { name, key, cellar } of keys) {
    const reading = JSON.stringify({ cellar, rack: 'rack-0', keg: 'keg-0', value: 1, timestamp: instantText(endMs) })
    await ask(`check with "${name}"`, ...post('/check', key, reading))
    await ask(`post with "${name}"`, ...post('', key, reading))
  }
  // From here on, a reading that was refused above leaves more room.
  isWindowTrue = false
  for (const { path, key, body, idempotencyKey } of repeats) {
    await ask(`repeat "${idempotencyKey}"`, ...post(path, key, body, { 'Idempotency-Key': idempotencyKey }))
  }
  for (const { name, key, cellar } of keys) {
    const reading = JSON.stringify({ cellar, rack: 'rack-0', keg: 'keg-0', value: 2, timestamp: instantText(endMs) })
    await ask(`post again with "${name}"`, ...post('', key, reading))
  }
  return answers
}

const withoutTimes = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)')
const withoutWindow = (text: string): string => text.replaceAll(/"default";r=\d+;t=\d+/g, '(left)')

const pagesOf = ({ keys }: Place): readonly string[] => [
  '/cellars',
  ...[...new Set(keys.map(({ cellar }) => cellar))].flatMap((cellar) => [
    `/cellars/${cellar}/readings`,
    `/cellars/${cellar}/settings`,
    ...['', '?status=revoked', '?status=suspended'].map((status) => `/cellars/${cellar}/keys${status}`),
  ]),
  ...keys.map(({ keyId }) => `/keys/${keyId}`),
  '/operators',
  '/account',
]

/** Asks what the projections know, before other questions change that. */
export const askProjections = ({ service }: OpenedNode, known: readonly RecordedEvent[], endMs: number): Answers => {
  const { projections } = service.core
  const { position, ...snapshot } = snapshotOf(projections, known, endMs)
  const said = (value: unknown): Answer => ({ said: JSON.stringify(value) })
  return new Map(Object.entries(snapshot).map(([name, value]) => [`projection of ${name}`, said(value)]))
}

/** Reads everything up to the position `last`, in each way that the log can be read. */
export const readEverything = async (log: EventLog, streams: readonly string[], last: number): Promise<Answers> => {
  const answers = new Map<string, Answer>()
  const ask = async (question: string, read: () => Promise<string>): Promise<void> => {
    answers.set(question, await read().then((said) => ({ said }), notRead))
  }
  for (const stream of streams) {
    for (const direction of ['forwards', 'backwards'] as const) {
      await ask(`read "${stream}" ${direction}`, async () => {
        const events = await log.read(stream, { direction, limit: readPageEventsMax })
        const kept = events.filter(({ position }) => position <= last)
        return textOf(kept.slice(0, readPageEventsMax - newEventsMax))
      })
    }
  }
  await ask('read the log', async () => textOf(await eventsIn(log, last)))
  return answers
}

/** The questions store at most this many events in a stream. */
const newEventsMax = 500

const notRead = (cause: unknown): Answer => {
  const isTold = cause instanceof Error && ['Outage', 'DamagedLog', 'UndecodableEvent'].includes(cause.name)
  return isTold
    ? { refused: `${cause.name}: ${cause.message}` }
    : { bug: String(cause instanceof Error ? cause.stack : cause) }
}

export const eventsIn = async (log: EventLog, last: number): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (let from = 0; ; ) {
    const page = await log.readAll({ from, limit: readPageEventsMax })
    events.push(...page.filter(({ position }) => position <= last))
    const end = page.at(-1)?.position
    if (end === undefined || end >= last) return events
    from = end
  }
}

/** A difference names the place of the first event that differs. */
const textOf = (events: readonly RecordedEvent[]): string => events.map((event) => JSON.stringify(event)).join('\n')

import type { RecordedEvent } from '../../src/domain/events.ts'
import { kindOf } from '../../src/domain/search/event-filter.ts'
import { readingsCategory } from '../../src/domain/stream-names.ts'
import type { AskQueries } from '../../src/log/ask-index/queries/ask-queries.ts'
import type { PlaceFilter } from '../../src/log/ask-index.ts'
import type { EmptyService } from '../servers.ts'
import { emailOf, operators } from './asked-log.ts'

/** One question, asked again and again about other events. `ask` returns how much it found. */
export type LookUp = { readonly name: string; ask(round: number): number | Promise<number> }

export type LookUpParts = {
  readonly queries: AskQueries
  readonly service: EmptyService
  /** Events to ask about. */
  readonly samples: readonly RecordedEvent[]
}

const placesWanted = 100
const hourMs = 3_600_000

/** Questions to `ask.db` alone, then the newest 100 places of filters, then questions to the service. */
export const askedLookUps = ({ queries, service, samples }: LookUpParts): readonly LookUp[] => {
  const changes = samplesIn(samples, (event) => kindOf(event) === 'keys')
  const readings = samplesIn(samples, ({ stream }) => stream.startsWith(`${readingsCategory}-`))
  const refusals = samplesIn(samples, (event) => kindOf(event) === 'refusals')
  const any = samplesIn(samples, () => true)
  const hourOf = (round: number): number => Math.floor(any(round).recordedAt / hourMs)
  const keyOf = (round: number): string => readings(round).stream.slice(`${readingsCategory}-`.length)
  const cellarOf = (round: number): string => {
    const { data } = readings(round)
    return 'cellar' in data ? data.cellar : ''
  }
  const actorOf = (round: number): string => emailOf(round % operators)
  const typeOf = (round: number) => changes(round).type
  const find = (name: string, filter: (round: number) => Partial<PlaceFilter>): LookUp => ({
    name: `newest 100: ${name}`,
    ask: (round) => found(queries, filter(round)),
  })
  const inService = (name: string, whatOf: (round: number) => string): LookUp => ({
    name: `log find: ${name}`,
    ask: (round) =>
      service.ask({ op: 'find_in_log', what: whatOf(round) }).then(
        (lines) => lines.length,
        () => 0,
      ),
  })
  return [
    { name: 'places of an event id', ask: (round) => whole(queries.placesOfId(changes(round).id)).length },
    {
      name: 'places of a request id',
      ask: (round) => whole(queries.placesOfId(changes(round).metadata.requestId)).length,
    },
    { name: 'position of a minute', ask: (round) => queries.positionOfMinute(60 * hourOf(round))?.position ?? 0 },
    { name: 'counts of a cellar, 24 h by minute', ask: (round) => minutesOf(queries, cellarOf(round)) },
    { name: 'counts of all cellars, 24 h by minute', ask: () => minutesOf(queries, null) },
    {
      name: 'counts of a key, 30 days by hour',
      ask: (round) => whole(queries.hourCounts(keyOf(round), 0, hourOf(0) + 9_999)).length,
    },
    {
      name: 'refusals of a cellar, 24 h',
      ask: (round) => whole(queries.refusalsOfCellar(cellarOf(round), nowHour() - 24, 50)).length,
    },
    {
      name: 'refusals of a cellar, 30 days',
      ask: (round) => whole(queries.refusalsOfCellar(cellarOf(round), 0, 50)).length,
    },
    { name: 'racks seen of a key', ask: (round) => whole(queries.seenRacks(keyOf(round), 50)).length },
    find('all', () => ({})),
    find('a kind', (round) => ({ kind: (['keys', 'cellars', 'refusals', 'log'] as const)[round % 4] ?? 'keys' })),
    find('a type', (round) => ({ type: typeOf(round) })),
    find('an actor', (round) => ({ actor: actorOf(round) })),
    find('a cellar', (round) => ({ cellar: cellarOf(round) })),
    find('a key', (round) => ({ key: keyOf(round) })),
    find('a stream', (round) => ({ stream: changes(round).stream })),
    find('an actor and a cellar', (round) => ({ actor: actorOf(round), cellar: cellarOf(round) })),
    find('an actor, a cellar and a type', (round) => ({
      actor: actorOf(round),
      cellar: cellarOf(round),
      type: typeOf(round),
    })),
    find('an actor and a key', (round) => ({ actor: actorOf(round), key: keyOf(round) })),
    find('an actor and refusals (none)', (round) => ({ actor: actorOf(round), kind: 'refusals' })),
    find('a cellar and refusals', (round) => ({ cellar: cellarOf(round), kind: 'refusals' })),
    find('before an instant', (round) => ({ until: any(round).recordedAt })),
    find('an actor in an hour', (round) => ({ actor: actorOf(round), ...anHourOf(any(round)) })),
    find('a cellar and a type in an hour', (round) => ({
      cellar: cellarOf(round),
      type: typeOf(round),
      ...anHourOf(any(round)),
    })),
    inService('a receipt', (round) => `${readings(round).stream}@${readings(round).revision}`),
    inService('a position', (round) => String(any(round).position)),
    inService('a reading’s request id', (round) => readings(round).metadata.requestId),
    inService('a change’s event id', (round) => changes(round).id),
    inService('a change’s request id', (round) => changes(round).metadata.requestId),
    inService('a refused request’s id', (round) => refusedIdOf(refusals(round))),
    inService('a key', keyOf),
    inService('an instant', (round) => new Date(any(round).recordedAt).toISOString()),
  ]
}

type Samples = (round: number) => RecordedEvent

const samplesIn = (samples: readonly RecordedEvent[], isWanted: (event: RecordedEvent) => boolean): Samples => {
  const wanted = samples.filter(isWanted)
  return (round) => {
    const sample = wanted[(round * 7) % wanted.length]
    if (sample === undefined) throw new Error('Cannot ask: the log has no event to ask about')
    return sample
  }
}

const refusedIdOf = (event: RecordedEvent): string =>
  event.type === 'ReadingsRefused' ? (event.data.samples[0]?.requestId ?? event.id) : event.id

const nowHour = (): number => Math.floor(Date.now() / hourMs)

const minutesOf = (queries: AskQueries, cellar: string | null): number =>
  whole(queries.minuteCounts(cellar, (nowHour() - 24) * 60, (nowHour() + 1) * 60)).length

const anHourOf = ({ recordedAt }: RecordedEvent) => ({ since: recordedAt, until: recordedAt + hourMs })

const anyPlace: PlaceFilter = {
  stream: null,
  kind: null,
  type: null,
  actor: null,
  key: null,
  cellar: null,
  since: null,
  until: null,
}

const found = (queries: AskQueries, filter: Partial<PlaceFilter>): number =>
  whole(queries.find({ ...anyPlace, ...filter }, { direction: 'backwards', from: null, limit: placesWanted })).places
    .length

const whole = <T>(steps: Generator<unknown, T>): T => {
  while (true) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

import type { RecordedEvent } from '../../src/domain/events.ts'
import { anyEvent, type LogFilter } from '../../src/domain/search/event-filter.ts'
import type { AskStatements } from '../../src/log/ask-index/queries/ask-statements.ts'
import { hourCountsOf, minuteCountsOf } from '../../src/log/ask-index/queries/counts-by-time.ts'
import { keyDaysOf } from '../../src/log/ask-index/queries/key-days.ts'
import { keyLoadsOf } from '../../src/log/ask-index/queries/key-loads.ts'
import { searchPlaces } from '../../src/log/ask-index/queries/place-search.ts'
import { placesOfId } from '../../src/log/ask-index/queries/places-of-id.ts'
import { positionOfMinute } from '../../src/log/ask-index/queries/positions-recorded.ts'
import { racksOfKeys } from '../../src/log/ask-index/queries/racks-of-keys.ts'
import { refusalsOfCellar } from '../../src/log/ask-index/queries/refusals-of-cellar.ts'
import type { EmptyService } from '../servers.ts'
import { type AskedAbout, type Question, refusedIdOf } from './asked-about.ts'

export type LookUpParts = {
  readonly index: AskStatements
  readonly service: EmptyService
  readonly about: AskedAbout
}

const placesWanted = 100
const hourMs = 3_600_000

/** Questions to `ask.db` alone, then the newest 100 places of filters, then questions to the service. */
export const askedLookUps = (parts: LookUpParts): readonly Question[] =>
  lookUps(parts).map(({ name, ask }) => ({
    name,
    ask: async (round) => ((await ask(round)) > 0 ? 'found' : 'nothing'),
  }))

/** `ask` returns how much it found. */
type LookUp = { readonly name: string; ask(round: number): number | Promise<number> }

const lookUps = ({ index, service, about }: LookUpParts): readonly LookUp[] => {
  const { change, reading, refusal, any, key, cellar, actor, type } = about
  const hourOf = (round: number): number => Math.floor(any(round).recordedAt / hourMs)
  const find = (name: string, filter: (round: number) => Partial<LogFilter>): LookUp => ({
    name: `newest 100: ${name}`,
    ask: (round) => found(index, filter(round)),
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
    { name: 'places of an event id', ask: (round) => whole(placesOfId(index, change(round).id)).length },
    {
      name: 'places of a request id',
      ask: (round) => whole(placesOfId(index, change(round).metadata.requestId)).length,
    },
    { name: 'position of a minute', ask: (round) => positionOfMinute(index, 60 * hourOf(round))?.position ?? 0 },
    { name: 'counts of a cellar, 24 h by minute', ask: (round) => minutesOf(index, cellar(round)) },
    { name: 'counts of all cellars, 24 h by minute', ask: () => minutesOf(index, null) },
    {
      name: 'counts of a key, 30 days by hour',
      ask: (round) => whole(hourCountsOf(index, key(round), { from: nowHour() - 720, to: nowHour() + 1 })).length,
    },
    { name: 'loads of all keys, 24 h', ask: () => loadsOf(index, null) },
    { name: 'loads of the keys of a cellar, 24 h', ask: (round) => loadsOf(index, cellar(round)) },
    {
      name: 'hours and racks of 50 keys, 24 h',
      ask: (round) =>
        whole(keyDaysOf(index, { keyIds: keysFrom(key, round, 50), fromHour: nowHour() - 23, toHour: nowHour() + 1 }))
          .length,
    },
    { name: 'racks of 20 keys', ask: (round) => whole(racksOfKeys(index, keysFrom(key, round, 20))).racks.length },
    {
      name: 'refusals of a cellar, 24 h',
      ask: (round) =>
        whole(refusalsOfCellar(index, { cellar: cellar(round), fromHour: nowHour() - 24, limit: 50 })).length,
    },
    {
      name: 'refusals of a cellar, 30 days',
      ask: (round) => whole(refusalsOfCellar(index, { cellar: cellar(round), fromHour: 0, limit: 50 })).length,
    },
    find('all', () => ({})),
    find('a kind', (round) => ({ kind: (['keys', 'cellars', 'refusals', 'log'] as const)[round % 4] ?? 'keys' })),
    find('a type', (round) => ({ type: type(round) })),
    find('an actor', (round) => ({ actor: actor(round) })),
    find('a cellar', (round) => ({ cellar: cellar(round) })),
    find('a key', (round) => ({ key: key(round) })),
    find('a stream', (round) => ({ stream: change(round).stream })),
    find('an actor and a cellar', (round) => ({ actor: actor(round), cellar: cellar(round) })),
    find('an actor, a cellar and a type', (round) => ({
      actor: actor(round),
      cellar: cellar(round),
      type: type(round),
    })),
    find('an actor and a key', (round) => ({ actor: actor(round), key: key(round) })),
    find('an actor and refusals (none)', (round) => ({ actor: actor(round), kind: 'refusals' })),
    find('a cellar and refusals', (round) => ({ cellar: cellar(round), kind: 'refusals' })),
    find('before an instant', (round) => ({ until: any(round).recordedAt })),
    find('an actor in an hour', (round) => ({ actor: actor(round), ...anHourOf(any(round)) })),
    find('a cellar and a type in an hour', (round) => ({
      cellar: cellar(round),
      type: type(round),
      ...anHourOf(any(round)),
    })),
    inService('a receipt', (round) => `${reading(round).stream}@${reading(round).revision}`),
    inService('a position', (round) => String(any(round).position)),
    inService('a reading’s request id', (round) => reading(round).metadata.requestId),
    inService('a change’s event id', (round) => change(round).id),
    inService('a change’s request id', (round) => change(round).metadata.requestId),
    inService('a refused request’s id', (round) => refusedIdOf(refusal(round))),
    inService('a key', key),
    inService('an instant', (round) => new Date(any(round).recordedAt).toISOString()),
  ]
}

const nowHour = (): number => Math.floor(Date.now() / hourMs)

const loadsOf = (index: AskStatements, cellar: string | null): number =>
  whole(keyLoadsOf(index, { fromHour: nowHour() - 23, todayHour: nowHour() - 23, cellar })).busiest.length

const keysFrom = (key: (round: number) => string, round: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => key(round + at))

const minutesOf = (index: AskStatements, cellar: string | null): number =>
  whole(minuteCountsOf(index, cellar, { from: (nowHour() - 24) * 60, to: (nowHour() + 1) * 60 })).length

const anHourOf = ({ recordedAt }: RecordedEvent) => ({ since: recordedAt, until: recordedAt + hourMs })

const found = (index: AskStatements, filter: Partial<LogFilter>): number =>
  whole(searchPlaces(index, { ...anyEvent, ...filter }, { direction: 'backwards', from: null, limit: placesWanted }))
    .places.length

const whole = <T>(steps: Generator<unknown, T>): T => {
  while (true) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

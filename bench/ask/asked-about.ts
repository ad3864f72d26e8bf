import type { EventType, RecordedEvent } from '../../src/domain/events.ts'
import { kindOf } from '../../src/domain/search/event-filter.ts'
import { readingsCategory } from '../../src/domain/stream-names.ts'
import { emailOf, operators } from './asked-log.ts'

export type Answered = 'found' | 'nothing' | 'offers_to_go_on'

/** One question, asked again and again about other events. */
export type Question = { readonly name: string; ask(round: number): Promise<Answered> }

/** What a question of a round is about. Each round asks about other events. */
export type AskedAbout = {
  readonly change: (round: number) => RecordedEvent
  readonly reading: (round: number) => RecordedEvent
  readonly refusal: (round: number) => RecordedEvent
  readonly any: (round: number) => RecordedEvent
  /** Returns the id of a key that posted. */
  readonly key: (round: number) => string
  readonly cellar: (round: number) => string
  /** Returns an e-mail. */
  readonly actor: (round: number) => string
  readonly type: (round: number) => EventType
}

export const askedAbout = (samples: readonly RecordedEvent[]): AskedAbout => {
  const change = samplesIn(samples, (event) => kindOf(event) === 'keys')
  const reading = samplesIn(samples, ({ stream }) => stream.startsWith(`${readingsCategory}-`))
  return {
    change,
    reading,
    refusal: samplesIn(samples, (event) => kindOf(event) === 'refusals'),
    any: samplesIn(samples, () => true),
    key: (round) => reading(round).stream.slice(`${readingsCategory}-`.length),
    cellar: (round) => {
      const { data } = reading(round)
      return ('cellar' in data ? data.cellar : null) ?? ''
    },
    actor: (round) => emailOf(round % operators),
    type: (round) => change(round).type,
  }
}

const samplesIn = (samples: readonly RecordedEvent[], isWanted: (event: RecordedEvent) => boolean) => {
  const wanted = samples.filter(isWanted)
  return (round: number): RecordedEvent => {
    const sample = wanted[(round * 7) % wanted.length]
    if (sample === undefined) throw new Error('Cannot ask: the log has no event to ask about')
    return sample
  }
}

/** Returns the id of a refused request that its summary has among its samples. */
export const refusedIdOf = (event: RecordedEvent): string =>
  event.type === 'ReadingsRefused' ? (event.data.samples[0]?.requestId ?? event.id) : event.id

import type { MachineClock } from '../../clock.ts'
import type { AskReader } from '../../derived/ask/ask-reader.ts'
import type { DerivedStore } from '../../derived/derived-store.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { askTurnMs, readPageEventsMax } from '../../limits.ts'
import type { AskQuestions, EventPlace } from '../../log/ask-index.ts'
import type { Ask } from '../core.ts'
import type { Host } from '../host.ts'

type AskParts = {
  readonly host: Pick<Host, 'log' | 'schedule'>
  readonly store: Pick<DerivedStore, 'progress' | 'upTo'>
  readonly reader: Pick<AskReader, 'ask' | 'inSteps'>
} & Pick<MachineClock, 'passedMs'>

export const createAsk = (parts: AskParts): Ask => {
  const { host, store, reader } = parts
  const inTurns = turnsOf(parts)
  return {
    progress: () => store.progress('ask'),
    upTo: () => store.upTo('ask'),
    find: (filter, page) => inTurns((index) => index.find(filter, page)),
    placesOfId: (id) => inTurns((index) => index.placesOfId(id)),
    placeAt: (position) => reader.ask((index) => index.placeAt(position)),
    minuteCounts: (cellar, from, to) => inTurns((index) => index.minuteCounts(cellar, from, to)),
    hourCounts: (key, from, to) => inTurns((index) => index.hourCounts(key, from, to)),
    refusalsOfCellar: (cellar, from, limit) => inTurns((index) => index.refusalsOfCellar(cellar, from, limit)),
    seenRacks: (key, limit) => inTurns((index) => index.seenRacks(key, limit)),
    racksLike: (pattern, limit) => inTurns((index) => index.racksLike(pattern, limit)),
    positionOfMinute: (minute) => reader.ask((index) => index.positionOfMinute(minute)),
    eventsAt: (places) => eventsAt(host, places),
  }
}

/**
 * Returns a function that asks a question in steps. In each turn of the event loop, only one question takes steps, for `askTurnMs`.
 * With one step in each turn, it would wait for hundreds of turns, because most steps take less than a tenth of a millisecond.
 */
const turnsOf = ({ host, reader, passedMs }: AskParts) => {
  let last: Promise<void> = Promise.resolve()
  const nextTurn = (): Promise<void> => {
    last = last.then(() => new Promise((resolve) => host.schedule.soon(resolve)))
    return last
  }
  return async <T>(begin: (index: AskQuestions) => Generator<void, T>): Promise<T> => {
    const steps = reader.inSteps(begin)
    while (true) {
      await nextTurn()
      const beganMs = passedMs()
      do {
        const step = steps.next()
        if (step.done === true) return step.value
      } while (passedMs() - beganMs < askTurnMs)
    }
  }
}

/** Reads neighbours in a stream together. */
const eventsAt = async (host: AskParts['host'], places: readonly EventPlace[]): Promise<readonly RecordedEvent[]> => {
  const pages = await Promise.all(rangesOf(places).map((range) => readRange(host, range)))
  const byPosition = new Map(pages.flat().map((event) => [event.position, event]))
  return places.flatMap(({ position }) => byPosition.get(position) ?? [])
}

type Range = { readonly stream: string; readonly first: number; last: number }

const rangesOf = (places: readonly EventPlace[]): readonly Range[] => {
  const ranges: Range[] = []
  const open = new Map<string, Range>()
  for (const { stream, revision } of places.toSorted((a, b) => a.revision - b.revision)) {
    const range = open.get(stream)
    if (range !== undefined && revision <= range.last + 1 && revision - range.first < readPageEventsMax) {
      range.last = revision
      continue
    }
    const next = { stream, first: revision, last: revision }
    open.set(stream, next)
    ranges.push(next)
  }
  return ranges
}

const readRange = ({ log }: AskParts['host'], { stream, first, last }: Range): Promise<readonly RecordedEvent[]> =>
  log.read(stream, { from: first, limit: last - first + 1 })

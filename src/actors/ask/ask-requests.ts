import type { MachineClock } from '../../clock.ts'
import type { AskReader } from '../../derived/ask/ask-reader.ts'
import type { DerivedStore } from '../../derived/derived-store.ts'
import { askTurnMs } from '../../limits.ts'
import type { AskQuestions } from '../../log/ask-index.ts'
import type { Ask } from '../core.ts'
import type { Host } from '../host.ts'
import { eventsAt } from '../search/events-at.ts'

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
    eventsAt: (places) => eventsAt(host.log, places),
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

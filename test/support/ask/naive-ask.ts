import type { Ask, AskProgress } from '../../../src/actors/search/ask-db.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { allEvents, askFromLog } from './ask-from-log.ts'
import { MemoryAskIndex } from './memory-ask-index.ts'

/** Answers like `ask.db`: `upTo` computes it anew from the whole log. Default of `progress`: it holds the whole log. */
export const naiveAsk = (
  log: EventLog,
  progress: () => Partial<AskProgress> = () => ({}),
): Ask & { readonly calls: () => number } => {
  let events: readonly RecordedEvent[] = []
  let index = new MemoryAskIndex()
  let calls = 0
  return {
    calls: () => calls,
    progress: () => ({ position: events.at(-1)?.position ?? null, isBehind: false, trouble: null, ...progress() }),
    upTo: async () => {
      events = await allEvents(log)
      index = MemoryAskIndex.holding(askFromLog(events))
    },
    find: async (filter, page) => {
      calls += 1
      return lastStep(index.find(filter, page))
    },
    eventsAt: async (wanted) =>
      wanted.flatMap(({ position }) => events.find((event) => event.position === position) ?? []),
    placesOfId: async (id) => lastStep(index.placesOfId(id)),
    placeAt: async (position) => index.placeAt(position),
    minuteCounts: async (cellar, from, to) => lastStep(index.minuteCounts(cellar, from, to)),
    hourCounts: async (key, from, to) => lastStep(index.hourCounts(key, from, to)),
    refusalsOfCellar: async (cellar, from, limit) => lastStep(index.refusalsOfCellar(cellar, from, limit)),
    racksLike: async (pattern, limit) => lastStep(index.racksLike(pattern, limit)),
    seenRacks: async (key, limit) => lastStep(index.seenRacks(key, limit)),
    positionOfMinute: async (minute) => index.positionOfMinute(minute),
  }
}

const lastStep = <T>(steps: Generator<unknown, T>): T => {
  while (true) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

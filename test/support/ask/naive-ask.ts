import type { Ask } from '../../../src/actors/search/ask-db.ts'
import type { ModelProgress } from '../../../src/derived/follower-messages.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { allEvents, askFromLog } from './ask-from-log.ts'
import { MemoryAskIndex } from './memory-ask-index.ts'

/** Answers like `ask.db`, anew from the whole log each time. Default of `progress`: it holds the whole log. */
export const naiveAsk = (
  log: EventLog,
  progress: () => Partial<ModelProgress> = () => ({}),
): Ask & { readonly calls: () => number } => {
  let calls = 0
  const index = async (): Promise<MemoryAskIndex> => MemoryAskIndex.holding(askFromLog(await allEvents(log)))
  return {
    calls: () => calls,
    progress: async () => {
      const position = (await allEvents(log)).at(-1)?.position ?? null
      return { position, isBehind: false, trouble: null, ...progress() }
    },
    find: async (filter, page) => {
      calls += 1
      return lastStep((await index()).find(filter, page))
    },
    placesOfId: async (id) => lastStep((await index()).placesOfId(id)),
    placeAt: async (position) => (await index()).placeAt(position),
    minuteCounts: async (cellar, from, to) => lastStep((await index()).minuteCounts(cellar, from, to)),
    hourCounts: async (key, from, to) => lastStep((await index()).hourCounts(key, from, to)),
    refusalsOfCellar: async (cellar, from, limit) => lastStep((await index()).refusalsOfCellar(cellar, from, limit)),
    keyLoads: async (wanted) => lastStep((await index()).keyLoads(wanted)),
    keyDays: async (wanted) => lastStep((await index()).keyDays(wanted)),
    racksOfKeys: async (keyIds) => lastStep((await index()).racksOfKeys(keyIds)),
    keysOfRack: async (rack, keys) => lastStep((await index()).keysOfRack(rack, keys)),
    positionOfMinute: async (minute) => (await index()).positionOfMinute(minute),
  }
}

const lastStep = <T>(steps: Generator<unknown, T>): T => {
  while (true) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

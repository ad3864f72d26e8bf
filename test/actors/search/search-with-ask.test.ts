import { expect, test } from 'bun:test'
import type { Ask } from '../../../src/actors/search/ask-db.ts'
import { type LogSearch, searchLog } from '../../../src/actors/search/search-log.ts'
import { anyEvent, type LogFilter } from '../../../src/domain/search/event-filter.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import { readsOf } from '../../support/ask/reads-of.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { freshKeyStream, keySuspended, startMs } from '../../support/logs/sample-events.ts'

const minuteMs = 60_000

const found = async (search: LogSearch, filter: LogFilter, pageEvents: number) => {
  const page = { direction: 'forwards', from: null, pageEvents } as const
  return (await Array.fromAsync(searchLog(search, filter, page))).flatMap(({ events }) => events)
}

/** A log with one event of each time, and the file `ask.db` of it. The times are ms after `startMs`. */
const asked = async (times: readonly number[], use: (parts: Parts) => Promise<void>): Promise<void> => {
  const log = createMemoryLog()
  for (const ms of times) await log.append(freshKeyStream(), 'none', [keySuspended('', startMs + ms)])
  const derived = derivedHere(log, { clock: { now: () => startMs } })
  derived.store.start()
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  derived.store.published(last?.position ?? -1)
  await derived.whole()
  let finds = 0
  const ask = derived.ask()
  const find: Ask['find'] = (...parameters) => {
    finds += 1
    return ask.find(...parameters)
  }
  try {
    await use({ log, ask: { ...ask, find }, finds: () => finds })
  } finally {
    await derived.store.stop()
    derived.remove()
  }
}

type Parts = { readonly log: ReturnType<typeof createMemoryLog>; readonly ask: Ask; readonly finds: () => number }

test('searchLog() yields events that follow those of a clock that was ahead', async () => {
  const ahead = [10, 11, 12].map((minutes) => minutes * minuteMs)
  await asked([0, ...ahead, minuteMs, 2 * minuteMs], async ({ log, ask }) => {
    const filter: LogFilter = { ...anyEvent, kind: 'keys', until: startMs + 3 * minuteMs }
    const wanted = await found(readsOf({ log, ask: null }), filter, 2)
    expect(wanted.map(({ recordedAt }) => recordedAt - startMs)).toEqual([0, minuteMs, 2 * minuteMs])
    expect(await found(readsOf({ log, ask }), filter, 2)).toEqual(wanted)
  })
})

test('searchLog() ends ask.db after a thousand later events in a row', async () => {
  const later = Array.from({ length: 3 * readPageEventsMax }, (_, index) => minuteMs + index)
  await asked([0, ...later], async ({ log, ask, finds }) => {
    const filter: LogFilter = { ...anyEvent, kind: 'keys', until: startMs + 1 }
    expect(await found(readsOf({ log, ask }), filter, readPageEventsMax / 2)).toHaveLength(1)
    expect(finds()).toBe(1)
  })
})

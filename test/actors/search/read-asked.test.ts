import { expect, test } from 'bun:test'
import { createAsk } from '../../../src/actors/ask/ask-requests.ts'
import type { Ask } from '../../../src/actors/core.ts'
import { systemSchedule } from '../../../src/actors/schedule.ts'
import { readAsked } from '../../../src/actors/search/read-asked.ts'
import { type EventFilter, noFilter, readFiltered } from '../../../src/actors/search/read-filtered.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { freshKeyStream, keySuspended, startMs } from '../../support/logs/sample-events.ts'

const minuteMs = 60_000
const flat = async (pages: AsyncGenerator<readonly RecordedEvent[]>) => (await Array.fromAsync(pages)).flat()

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
  const ask = createAsk({
    host: { log, schedule: systemSchedule },
    store: derived.store,
    reader: derived.ask,
    passedMs: () => performance.now(),
  })
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

test('readAsked() yields events that follow those of a clock that was ahead', async () => {
  const ahead = [10, 11, 12].map((minutes) => minutes * minuteMs)
  await asked([0, ...ahead, minuteMs, 2 * minuteMs], async ({ log, ask }) => {
    const filter: EventFilter = { ...noFilter, kind: 'keys', until: startMs + 3 * minuteMs }
    const wanted = await flat(readFiltered(log, filter, 2))
    expect(wanted.map(({ recordedAt }) => recordedAt - startMs)).toEqual([0, minuteMs, 2 * minuteMs])
    expect(await flat(readAsked({ log, ask }, filter, 2))).toEqual(wanted)
  })
})

test('readAsked() ends after a thousand later events in a row', async () => {
  const later = Array.from({ length: 3 * readPageEventsMax }, (_, index) => minuteMs + index)
  await asked([0, ...later], async ({ log, ask, finds }) => {
    const filter: EventFilter = { ...noFilter, kind: 'keys', until: startMs + 1 }
    expect(await flat(readAsked({ log, ask }, filter, readPageEventsMax / 2))).toHaveLength(1)
    expect(finds()).toBe(3)
  })
})

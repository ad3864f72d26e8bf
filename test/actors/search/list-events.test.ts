import { expect, test } from 'bun:test'
import { listEvents } from '../../../src/actors/search/list-events.ts'
import type { LogFilter } from '../../../src/domain/search/event-filter.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'
import { storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { reading, startMs } from '../../support/logs/sample-events.ts'

const keys = 40
const rounds = 20
const minuteMs = 60_000
const cellar = 'wine-berlin1'

/** The readings of the cellar in the first 15 minutes. */
const filter: LogFilter = {
  stream: null,
  kind: 'readings',
  type: null,
  actor: null,
  key: null,
  cellar,
  since: null,
  until: startMs + 15 * minuteMs,
}

/** One reading of each key in each minute. */
const fill = async (log: EventLog): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    for (let key = 0; key < keys; key += 1) {
      const stream = readingsStream(`key${key}`)
      const events = [reading(stream, { cellar, value: round }, startMs + round * minuteMs)]
      await log.append(stream, round === 0 ? 'none' : round - 1, events)
    }
  }
}

/** `calls` counts the reads of the log. */
const counted = (log: EventLog) => {
  const counts = { calls: 0 }
  const watched: EventLog = {
    ...log,
    read: (...parameters) => {
      counts.calls += 1
      return log.read(...parameters)
    },
    readAll: (...parameters) => {
      counts.calls += 1
      return log.readAll(...parameters)
    },
  }
  return { counts, log: watched }
}

test('listEvents() begins at the minute of ask.db in EventStoreDB, with few reads', async () => {
  const stored = await openAt(await storeUrl())
  try {
    await fill(stored)
    const ask = naiveAsk(stored)
    const { log, counts } = counted(stored)
    const parts = { log, ask, cellarOfKey: async () => cellar, isOver: () => false }
    const { events } = await listEvents(parts, filter, { direction: 'backwards', from: null, limit: keys })
    const wanted = Array.from({ length: keys }, (_, at) => [readingsStream(`key${keys - 1 - at}`), 14])
    expect(events.map(({ stream, revision }) => [stream, revision])).toEqual(wanted)
    expect(counts.calls).toBeLessThanOrEqual(6)
  } finally {
    await stored.close()
  }
})

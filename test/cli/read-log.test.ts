import { afterEach, describe, expect, test } from 'bun:test'
import { type LogFilter, readLog } from '../../src/cli/control/read-log.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { logReadPageEvents } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { isEmbedded, openFreshLog } from '../support/logs/engine.ts'
import { startService } from '../support/test-service.ts'

const everything: LogFilter = { stream: null, type: null, from: null }

const readAll = async (log: EventLog, filter: LogFilter): Promise<readonly RecordedEvent[]> =>
  Array.fromAsync(readLog(log, filter))

const opened: EventLog[] = []
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
})

/** Fills a log so that the readings of two keys alternate over several pages. */
const filledLog = async (): Promise<{ readonly log: EventLog; readonly keyIds: readonly [string, string] }> => {
  const log = await openFreshLog()
  opened.push(log)
  const service = await startService({ log })
  const [first, second] = [await service.createKey(), await service.createKey()]
  const reading = { cellar: 'wine-berlin', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  for (let count = 0; count < logReadPageEvents * 2; count++) {
    const { keyId } = count % 3 === 0 ? second : first
    await service.core.keys.accept(keyId, reading, crypto.randomUUID())
  }
  await service.stop()
  return { log, keyIds: [first.keyId, second.keyId] }
}

describe('readLog()', () => {
  test('gives the same events as a plain filter over the whole log', async () => {
    const { log, keyIds } = await filledLog()
    const all = await log.readAll({ limit: 1_000 })
    expect(all.length).toBeGreaterThan(logReadPageEvents * 2)
    const streams = [null, `readings-${keyIds[0]}`, `readings-${keyIds[1]}`, `key-${keyIds[0]}`, 'key-none']
    const places = [0, 1, 7, logReadPageEvents, logReadPageEvents + 1, all.length - 2, all.length - 1]
    // A separate store accepts only positions of events. The embedded log accepts any position.
    const elsewhere = isEmbedded ? [0, all.length + 9] : []
    const positions = [null, ...places.map((index) => all[index]?.position ?? 0), ...elsewhere]
    for (const stream of streams) {
      for (const type of [null, 'ReadingAccepted', 'KeyCreated']) {
        for (const from of positions) {
          const expected = all.filter(
            (event) =>
              (stream === null || event.stream === stream) &&
              (type === null || event.type === type) &&
              (from === null || event.position > from),
          )
          expect(await readAll(log, { stream, type, from })).toEqual(expected)
        }
      }
    }
  })

  test('ends at the last event of its start, even if events follow quickly', async () => {
    const { log, keyIds } = await filledLog()
    const before = (await log.readAll({ limit: 1_000 })).length
    const service = await startService({ log })
    const reading = { cellar: 'wine-berlin', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    let read = 0
    for await (const _ of readLog(log, everything)) {
      read++
      await service.core.keys.accept(keyIds[0], reading, crypto.randomUUID())
    }
    expect(read).toBe(before)
    await service.stop()
  })

  test('reads one page at a time and frees the event loop between pages', async () => {
    const { log } = await filledLog()
    let turns = 0
    let isReading = true
    const tick = (): void => {
      turns++
      if (isReading) setImmediate(tick)
    }
    setImmediate(tick)
    const pages: number[] = []
    const watched: EventLog = {
      ...log,
      read: (stream, options) => log.read(stream, options),
      readAll: async (options) => {
        pages.push(options.limit)
        return log.readAll(options)
      },
    }
    await readAll(watched, { ...everything, type: 'KeyRevoked' })
    isReading = false
    expect(pages.slice(1).every((limit) => limit === logReadPageEvents)).toBe(true)
    expect(turns).toBeGreaterThanOrEqual(pages.length - 2)
    expect(pages.length).toBeGreaterThan(3)
  })
})

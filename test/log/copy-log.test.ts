import { afterEach, describe, expect, test } from 'bun:test'
import type { NewEvent, RecordedEvent } from '../../src/domain/events.ts'
import { logStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { copyAppendBytesMax, copyAppendEventsMax, copyLog } from '../../src/log/copy-log.ts'
import { DamagedLog, type EventLog, Outage } from '../../src/log/event-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { eventsToAppend } from '../../src/log/storable.ts'
import { newFolder } from '../support/cellarbook.ts'
import { storeUrl } from '../support/logs/engine.ts'
import { openAt } from '../support/logs/event-store-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import {
  cellarRenamed,
  freshCellarStream,
  freshKeyStream,
  hostileNumbers,
  hostileTexts,
  keySuspended,
  reading,
} from '../support/logs/sample-events.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { manualClock } from '../support/time/manual-clock.ts'

const [one, two] = ['readings-aaaaaaaa', 'readings-bbbbbbbb']

const open: EventLog[] = []
const folders: ReturnType<typeof newFolder>[] = []
afterEach(async () => {
  for (const log of open.splice(0)) await log.close()
  for (const folder of folders.splice(0)) folder.remove()
})

const memory = (): EventLog => {
  const log = createMemoryLog()
  open.push(log)
  return log
}

const sqlite = (): EventLog => {
  const folder = newFolder()
  folders.push(folder)
  const log = openSqliteLog({ dataDir: folder.path })
  open.push(log)
  return log
}

const naming = () => ({ clock: manualClock(), entropy: seededEntropy(7) })
const copy = (from: EventLog, to: EventLog) =>
  copyLog({ from, to, ...naming(), wait: async () => {}, onProgress: () => {} })

/** Writes readings of two keys between other changes. One stream is sealed, and one is truncated. */
const fill = async (log: EventLog): Promise<void> => {
  await ensureLogCreated(log, manualClock(), seededEntropy(1))
  const [cellar, key] = [freshCellarStream(), freshKeyStream()]
  await log.append(cellar, 'none', [cellarRenamed('Wine')])
  await log.append(key, 'none', [keySuspended('first')])
  const readings = (stream: string, count: number) =>
    Array.from({ length: count }, (_, index) => reading(stream, { value: index }))
  await log.append(one, 'none', readings(one, 700))
  await log.append(two, 'none', readings(two, 2))
  await log.append(one, 699, readings(one, copyAppendEventsMax))
  await log.append(key, 0, [keySuspended('second'), keySuspended('third')])
  const hostile = [
    ...hostileTexts.map((text) => reading(two, { rack: text })),
    ...hostileNumbers.map((value) => reading(two, { value })),
  ]
  await log.append(two, 1, hostile)
  const sealed: NewEvent = { ...keySuspended(), type: 'ReadingsSealed', data: { reason: 'revoked' } }
  await log.append(two, hostile.length + 1, [sealed])
  await log.append(cellar, 0, [cellarRenamed('Berlin')])
  await log.truncate(one, 650)
}

const everything = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (let from: number | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.readAll({
      ...(from === null ? {} : { from }),
      limit: readPageEventsMax,
    })
    const last = page.at(-1)
    if (last === undefined) return events
    events.push(...page)
    from = last.position
  }
}

/** Groups events by stream. Positions are left out, because each engine numbers events in its own way. */
const streamsOf = (events: readonly RecordedEvent[]) =>
  Map.groupBy(
    events.filter(({ stream }) => stream !== logStream).map(({ position: _, ...event }) => event),
    ({ stream }) => stream,
  )

const engines = [
  { title: 'memory to SQLite', from: memory, to: sqlite },
  { title: 'SQLite to memory', from: sqlite, to: memory },
]

describe('copyLog()', () => {
  for (const { title, from, to } of engines) {
    test(`keeps ids, revisions, times and content, from ${title}`, async () => {
      const [source, target] = [from(), to()]
      await fill(source)
      await copy(source, target)
      expect(streamsOf(await everything(target))).toEqual(streamsOf(await everything(source)))
    })
  }

  test('keeps the order of all events but readings between two changes', async () => {
    const [source, target] = [memory(), memory()]
    await fill(source)
    await copy(source, target)
    const order = (events: readonly RecordedEvent[]) =>
      events.filter(({ type, stream }) => type !== 'ReadingAccepted' && stream !== logStream).map(({ id }) => id)
    const [before, after] = [await everything(source), await everything(target)]
    expect(order(after).filter((id) => order(before).includes(id))).toEqual(order(before))
    const isBarrier = (event: RecordedEvent) => event.type !== 'ReadingAccepted' && event.stream !== logStream
    for (const [index, barrier] of before.entries()) {
      if (!isBarrier(barrier)) continue
      const place = after.findIndex(({ id }) => id === barrier.id)
      const idsBefore = (events: readonly RecordedEvent[], end: number) =>
        new Set(
          events
            .slice(0, end)
            .filter(({ type }) => type === 'ReadingAccepted')
            .map(({ id }) => id),
        )
      expect(idsBefore(after, place)).toEqual(idsBefore(before, index))
    }
  })

  test('keeps purged revisions empty, and appends continue behind them', async () => {
    const [source, target] = [memory(), sqlite()]
    await fill(source)
    await copy(source, target)
    const [first] = await target.read(one, { limit: 1 })
    expect(first?.revision).toBe(650)
    const end = 699 + copyAppendEventsMax
    expect(await target.append(one, end, [reading(one)])).toMatchObject({ outcome: 'written' })
  })

  test('appends no more at once than an engine takes', async () => {
    const gone = 2 * copyAppendEventsMax + 1
    const keyed = (more: Partial<NewEvent['metadata']>): NewEvent => {
      const event = reading(one)
      return { ...event, metadata: { ...event.metadata, ...more } }
    }
    const idempotency = { keyHash: 'ab'.repeat(32), bodyHash: 'cd'.repeat(32), batch: null }
    for (const metadata of [{ idempotency }, { requestId: 'r'.repeat(2_000) }]) {
      const [source, target] = [memory(), memory()]
      await ensureLogCreated(source, manualClock(), seededEntropy(1))
      const readings = Array.from({ length: gone }, () => reading(one))
      await source.append(one, 'none', readings)
      await source.append(one, gone - 1, [keyed(metadata), reading(one)])
      await source.truncate(one, gone)
      const appends: (readonly NewEvent[])[] = []
      const counting: EventLog = {
        ...passingLog(target),
        append: (stream, expected, events) => {
          if (stream === one) appends.push(eventsToAppend(events))
          return target.append(stream, expected, events)
        },
      }
      await copy(source, counting)
      expect(appends.length).toBeGreaterThan(2)
      for (const events of appends) {
        expect(events.length).toBeLessThanOrEqual(copyAppendEventsMax)
        expect(JSON.stringify(events).length).toBeLessThanOrEqual(copyAppendBytesMax)
      }
      const vacant = appends.flat().filter(({ type }) => type === 'RevisionVacant')
      expect(vacant).toHaveLength(gone)
      expect(vacant.some(({ metadata: { idempotency } }) => idempotency !== undefined)).toBe(false)
      expect(streamsOf(await everything(target))).toEqual(streamsOf(await everything(source)))
    }
  })

  test('copies batches with refused items to every engine', async () => {
    const folder = newFolder()
    folders.push(folder)
    const before = openSqliteLog({ dataDir: folder.path })
    await fill(before)
    const bounds = { readingAgeMsMax: 5, readingAheadMsMax: null, retentionMs: null }
    const refusals = { rejected: 999, rules: 1, atMs: 7, bounds }
    const hashes = { keyHash: 'ab'.repeat(32), bodyHash: 'cd'.repeat(32) }
    const stream = 'readings-cccccccc'
    const keyed = reading(stream)
    const metadata = { ...keyed.metadata, idempotency: { ...hashes, batch: { accepted: 1, refusals } } }
    await before.append(stream, 'none', [{ ...keyed, metadata }])
    await before.close()
    const source = openSqliteLog({ dataDir: folder.path })
    open.push(source)
    const eventStore = await openAt(await storeUrl())
    open.push(eventStore)
    const digests = [await copy(source, sqlite()), await copy(source, eventStore), await copy(eventStore, sqlite())]
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(1)
    expect(await eventStore.read(stream, { limit: 1 })).toMatchObject([{ metadata }])
  })

  test('continues after an interruption at any append, and writes nothing twice', async () => {
    const source = memory()
    await fill(source)
    const whole = streamsOf(await everything(source))
    let appends = 0
    const counted = memory()
    const counting: EventLog = {
      ...passingLog(counted),
      append: (...args) => {
        appends += 1
        return counted.append(...args)
      },
    }
    await copy(source, counting)
    expect(appends).toBeGreaterThan(8)
    for (let cut = 0; cut < appends; cut += 1) {
      const target = memory()
      let left = cut
      const dying: EventLog = {
        ...passingLog(target),
        append: async (...args) => {
          if (left === 0) throw new Error('the process died')
          left -= 1
          return target.append(...args)
        },
      }
      await expect(copy(source, dying)).rejects.toThrow('the process died')
      await copy(source, target)
      expect([cut, streamsOf(await everything(target))]).toEqual([cut, whole])
    }
  })

  test('writes an append with a lost answer once', async () => {
    const [source, target] = [memory(), memory()]
    await fill(source)
    let isLost = false
    const lossy: EventLog = {
      ...passingLog(target),
      append: async (...args) => {
        const result = await target.append(...args)
        isLost = !isLost
        if (isLost && args[0] !== logStream) throw new Outage('the answer was lost', 'unknown', 'unavailable')
        return result
      },
    }
    await copy(source, lossy)
    expect(streamsOf(await everything(target))).toEqual(streamsOf(await everything(source)))
  })

  test('goes on when any read of either log fails', async () => {
    const [source, target] = [memory(), memory()]
    await fill(source)
    const failingOnce = (log: EventLog): EventLog => {
      let isAway = false
      const flaky = async <T>(read: () => Promise<T>): Promise<T> => {
        isAway = !isAway
        if (isAway) throw new Outage('the leader died', 'not_written', 'unavailable')
        return read()
      }
      return {
        ...passingLog(log),
        read: (...asked) => flaky(() => log.read(...asked)),
        readAll: (...asked) => flaky(() => log.readAll(...asked)),
      }
    }
    await copy(failingOnce(source), failingOnce(target))
    expect(streamsOf(await everything(target))).toEqual(streamsOf(await everything(source)))
  })

  test('does not read a damaged source again', async () => {
    const source = memory()
    await fill(source)
    let reads = 0
    const damaged: EventLog = {
      ...passingLog(source),
      readAll: async () => {
        reads += 1
        throw new DamagedLog({ stream: null, revision: null, position: 7 }, 'a bit was flipped')
      },
    }
    await expect(copy(damaged, memory())).rejects.toThrow('a bit was flipped')
    expect(reads).toBe(1)
  })

  test('gives the copy its own id, which is valid when it is finished', async () => {
    const [source, target] = [memory(), memory()]
    await fill(source)
    const dying: EventLog = {
      ...passingLog(target),
      truncate: async () => Promise.reject(new Error('the process died')),
    }
    await expect(copy(source, dying)).rejects.toThrow('the process died')
    const name = (log: EventLog) => ensureLogCreated(log, manualClock(), seededEntropy(3))
    await expect(name(target)).rejects.toMatchObject({ name: 'UnfinishedCopy' })
    await copy(source, target)
    expect(await name(target)).not.toBe(await name(source))
  })

  test('refuses an empty source, and a target with other events', async () => {
    const [source, other, target] = [memory(), memory(), memory()]
    await fill(source)
    await fill(other)
    await expect(copy(source, other)).rejects.toMatchObject({ name: 'NotACopy' })
    const [cellars] = [memory()]
    await cellars.append(freshCellarStream(), 'none', [cellarRenamed('x')])
    await expect(copy(source, cellars)).rejects.toMatchObject({ name: 'NotACopy' })
    await copy(source, target)
    await expect(copy(source, target)).rejects.toMatchObject({ name: 'NotACopy' })
    await expect(copy(memory(), memory())).rejects.toMatchObject({ name: 'CopyRefused' })
  })

  test('refuses a copy with a changed or an extra event', async () => {
    const source = memory()
    await fill(source)
    const faults: ((log: EventLog) => EventLog)[] = [
      (log) => ({
        ...passingLog(log),
        readAll: async (options) =>
          (await log.readAll(options)).map((event) =>
            event.type === 'ReadingAccepted' && Object.is(event.data.value, -0)
              ? { ...event, data: { ...event.data, value: 0 } }
              : event,
          ),
      }),
      (log) => ({
        ...passingLog(log),
        readAll: async (options) => (await log.readAll(options)).filter(({ type }) => type !== 'ReadingsSealed'),
      }),
    ]
    for (const fault of faults) {
      await expect(copy(source, fault(memory()))).rejects.toMatchObject({ name: 'CopyRefused' })
    }
    const extra = memory()
    await copy(source, { ...passingLog(extra), truncate: () => Promise.reject(new Error('cut off')) }).catch(() => {})
    await extra.append(freshKeyStream(), 'none', [keySuspended()])
    await expect(copy(source, extra)).rejects.toThrow('it has streams that the source lacks')
  })

  test('copies a copy', async () => {
    const [source, middle, target] = [memory(), sqlite(), memory()]
    await fill(source)
    const first = await copy(source, middle)
    const second = await copy(middle, target)
    expect(second.digest).toBe(first.digest)
  })
})

/** Tests that a subscription returns each reading of each node once, in the order of the log. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eventsOfItems, itemCount, type LogItem, ReadingRun } from '../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { type EventLog, Outage } from '../../src/log/event-log.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { columnsOf } from '../support/logs/columns-of.ts'
import { openAt } from '../support/logs/event-store-log.ts'
import { startMs } from '../support/logs/sample-events.ts'

setDefaultTimeout(600_000)

const opened: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const { stop } of opened.splice(0).reverse()) await stop()
})

const openOver = async (server: LogServer): Promise<EventLog> => {
  const log = await openAt(server.url, '')
  opened.push({ stop: () => log.close() })
  return log
}
const start = async (): Promise<{ server: LogServer; log: EventLog }> => {
  const server = await startLogServer()
  opened.push(server)
  return { server, log: await openOver(server) }
}

const point = (value: number, keg = 'temperature') => {
  return { cellar: 'c', rack: 'rack-1', keg, value, timestamp: '2026-03-01T11:59:58Z' }
}

/** A single reading, a batch of `batch` readings with an idempotency key, and again a single reading. */
const runOf = (keyId: string, batch = 3): ReadingRun => {
  const columns = columnsOf(
    Array.from({ length: batch }, (_, index) => point(index === 1 ? -0 : index, `keg"${index}`)),
  )
  const hashes = { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32) }
  const requests = [point(-1), columns, point(0.1)].map((readings, index) => ({
    requestId: crypto.randomUUID(),
    readings,
    idempotency: index === 1 ? { ...hashes, batch: { accepted: batch, refusals: null } } : null,
  }))
  return new ReadingRun(keyId, startMs, requests)
}

/** The items of a subscription. `until` resolves when it has delivered this number of events. */
class Followed {
  readonly items: LogItem[] = []
  #wanted = 0
  #resolve: () => void = () => {}

  constructor(log: EventLog, after: number | null = null) {
    const onEvents = (items: readonly LogItem[]): void => {
      this.items.push(...items)
      if (this.#count >= this.#wanted) this.#resolve()
    }
    log.subscribe({ after, categories: ['readings'] }, { onEvents })
  }

  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = count
      this.#resolve = resolve
      if (this.#count >= count) resolve()
    })
  }

  get events() {
    return eventsOfItems(this.items)
  }

  get #count(): number {
    return this.items.reduce((sum, item) => sum + itemCount(item), 0)
  }
}

const readAll = async (log: EventLog) => {
  const all = []
  for (let from = -1; ; ) {
    const page = await log.readAll(from < 0 ? { limit: readPageEventsMax } : { from, limit: readPageEventsMax })
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined) return all
    from = last.position
  }
}

const appendUntilKnown = async (log: EventLog, run: ReadingRun, expected: 'none' | number): Promise<void> => {
  for (;;) {
    try {
      const { outcome } = await log.append(readingsStream(run.keyId), expected, run)
      if (outcome === 'conflict') throw new Error('the append is a conflict')
      return
    } catch (cause) {
      if (!(cause instanceof Outage)) throw cause
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

describe('the subscription of a node', () => {
  test('returns the readings of both nodes in the order of the log', async () => {
    const { server, log } = await start()
    const other = await openOver(server)
    const both = [new Followed(log), new Followed(other)]
    const runs = 20
    const write = async (writer: EventLog, keyId: string): Promise<void> => {
      for (let at = 0; at < runs; at += 1) {
        const run = runOf(keyId, 1 + (at % 5))
        const stored = await log.read(readingsStream(keyId), { direction: 'backwards', limit: 1 })
        await appendUntilKnown(writer, run, stored[0]?.revision ?? 'none')
      }
    }
    await Promise.all([write(log, 'k1'), write(other, 'k2')])
    const stored = await readAll(log)
    for (const followed of both) {
      await followed.until(stored.length)
      expect(followed.events).toEqual(stored)
    }
  })

  test('returns each reading once when connections are cut within runs', async () => {
    const { server, log } = await start()
    const followed = new Followed(log)
    let answers = 0
    server.faults.ofAnswer = (bytes, to) => {
      answers += 1
      if (to === 'read' && answers % 97 === 0) setImmediate(() => server.cutConnections())
      return bytes
    }
    let next = 0
    for (let at = 0; at < 15; at += 1) {
      const run = runOf('k1', 40)
      await appendUntilKnown(log, run, next === 0 ? 'none' : next - 1)
      next += run.count
    }
    server.faults.ofAnswer = (bytes) => bytes
    await followed.until(next)
    expect(followed.events).toEqual(await readAll(log))
  })

  test('returns a run once that was stored by an earlier try', async () => {
    const { server, log } = await start()
    const followed = new Followed(log)
    server.faults.ofAppend = () => ({ isWritten: true, ends: 'cut' })
    const [run, next] = [runOf('k1'), runOf('k1')]
    expect(await log.append('readings-k1', 'none', run).catch((cause: Outage) => cause.outcome)).toBe('unknown')
    server.faults.ofAppend = () => null
    await appendUntilKnown(log, run, 'none')
    await appendUntilKnown(log, next, run.count - 1)
    await followed.until(run.count + next.count)
    expect(followed.events).toEqual(await readAll(log))
  })

  test('returns each reading once when the event before it was deleted', async () => {
    const { server, log } = await start()
    const followed = new Followed(log)
    const [before, run, next] = [runOf('k1'), runOf('k1'), runOf('k1')]
    await log.append('readings-k1', 'none', before)
    await followed.until(before.count)
    server.faults.isCutOff = true
    await log.append('readings-k1', before.count - 1, run)
    await log.truncate('readings-k1', before.count)
    server.state.scavenge()
    server.faults.dropSubscriptions()
    server.faults.isCutOff = false
    // A subscription that loses a reading also gets this many events, and so fails the comparison.
    await log.append('readings-k1', before.count + run.count - 1, next)
    await followed.until(before.count + run.count + 1)
    expect(followed.events.slice(before.count)).toEqual(await readAll(log))
  })
})

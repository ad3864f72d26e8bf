/** Tests how many appends the log sends at once, and which server of a cluster it chooses. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { NewEvent } from '../../src/domain/events.ts'
import { type AppendResult, type EventLog, Outage } from '../../src/log/event-log.ts'
import { eventStoreAppendsOutMax } from '../../src/log/eventstoredb/appends.ts'
import { startLogCluster } from '../support/log-server/cluster.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { caughtUp, collect } from '../support/logs/collector.ts'
import { openAt, untilHealth } from '../support/logs/event-store-log.ts'
import { freshKeyStream, keySuspended, keySuspensions } from '../support/logs/sample-events.ts'

setDefaultTimeout(600_000)

const opened: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const { stop } of opened.splice(0).reverse()) await stop()
})

const openOver = async (url: string): Promise<EventLog> => {
  const log = await openAt(url, '')
  opened.push({ stop: () => log.close() })
  return log
}
const start = async (): Promise<{ server: LogServer; log: EventLog }> => {
  const server = await startLogServer()
  opened.push(server)
  return { server, log: await openOver(server.url) }
}

const append = async (
  log: EventLog,
  stream: string,
  events: readonly NewEvent[] = [keySuspended()],
): Promise<AppendResult | Outage> => {
  try {
    return await log.append(stream, 'none', events)
  } catch (error) {
    if (error instanceof Outage) return error
    throw error
  }
}
const untilReachable = (log: EventLog): Promise<void> =>
  new Promise((resolve) => {
    const subscription = log.subscribe(
      { after: null, categories: ['cellarbook'] },
      {
        onEvents: () => {},
        onCaughtUp: () => {
          subscription.unsubscribe()
          resolve()
        },
      },
    )
  })
const untilWritten = async (log: EventLog): Promise<void> => {
  const [stream, events] = [freshKeyStream(), [keySuspended()]]
  let answer = await append(log, stream, events)
  while (answer instanceof Outage) {
    await untilReachable(log)
    answer = await append(log, stream, events)
  }
  expect(answer.outcome).toMatch(/written$/)
}
/** Makes appends wait at the server until `open`. `until` resolves when `count` appends have arrived. */
const gateOf = (server: LogServer) => {
  const opening = Promise.withResolvers<void>()
  const gate = {
    arrived: 0,
    until: (count: number) => new Promise<void>((resolve) => waiting.push({ count, resolve })),
  }
  const waiting: { count: number; resolve: () => void }[] = []
  server.faults.beforeAppend = () => {
    gate.arrived += 1
    for (const { count, resolve } of waiting) if (gate.arrived >= count) resolve()
    return opening.promise
  }
  const open = (): void => {
    server.faults.beforeAppend = null
    opening.resolve()
  }
  return Object.assign(gate, { open })
}

describe('appends that are many', () => {
  test('are open up to the bound, and one at a time for each stream', async () => {
    const { server, log } = await start()
    const gate = gateOf(server)
    const stream = freshKeyStream()
    const [first, second] = keySuspensions(2)
    if (first === undefined || second === undefined) throw new Error('no events')
    const same = [log.append(stream, 'none', [first]), log.append(stream, 0, [second])]
    const others = Array.from({ length: eventStoreAppendsOutMax + 20 }, () => append(log, freshKeyStream()))
    await gate.until(eventStoreAppendsOutMax)
    // The server answers this read, so an append sent before it would have arrived by now.
    await log.read(stream, { limit: 1 })
    expect(gate.arrived).toBe(eventStoreAppendsOutMax)
    gate.open()
    expect(await Promise.all(same)).toMatchObject([{ outcome: 'written' }, { outcome: 'written' }])
    expect((await Promise.all(others)).every(({ outcome }) => outcome === 'written')).toBe(true)
  })

  test('are unknown if open when the connection is cut, and not written if waiting', async () => {
    const { server, log } = await start()
    const gate = gateOf(server)
    const count = eventStoreAppendsOutMax + 36
    const answers = Array.from({ length: count }, () => append(log, freshKeyStream()))
    await gate.until(eventStoreAppendsOutMax)
    server.cutConnections()
    const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome)
    expect(outcomes.filter((outcome) => outcome === 'unknown')).toHaveLength(eventStoreAppendsOutMax)
    expect(outcomes.filter((outcome) => outcome === 'not_written')).toHaveLength(36)
    gate.open()
    await untilReachable(log)
    expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
  })

  test('do not wait for a lost answer of another stream', async () => {
    const { server, log } = await start()
    const stream = freshKeyStream()
    server.faults.ofAppend = (asked) => (asked.stream === stream ? { isWritten: true, ends: 'silence' } : null)
    const lost = append(log, stream)
    for (let count = 0; count < 20; count += 1) {
      expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
    }
    // Other answers came in time, so the log keeps the connection.
    expect(log.health()).toEqual({ ok: true })
    expect(await lost).toMatchObject({ outcome: 'unknown' })
  })
})

describe('a server that', () => {
  test('is silent while nobody appends is noticed', async () => {
    const { server, log } = await start()
    await collect(log, { after: null }).until(caughtUp)
    server.silence()
    await untilHealth(log, false)
    expect(await append(log, freshKeyStream())).toMatchObject({ name: 'Outage', outcome: 'not_written' })
    server.speak()
  })

  test('is not ready yet when the log is opened is waited for', async () => {
    const server = await startLogServer()
    opened.push(server)
    let asked = 0
    server.faults.isReady = () => {
      asked += 1
      return asked > 3
    }
    const log = await openOver(server.url)
    expect(asked).toBeGreaterThan(3)
    expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
  })

  test('takes smaller appends only is not asked again', async () => {
    const { server, log } = await start()
    server.faults.appendBytesMax = 100
    const large = keySuspended('x'.repeat(101))
    const stream = freshKeyStream()
    expect(await append(log, stream, [large])).toMatchObject({ name: 'Outage', outcome: 'not_written' })
    expect(server.state.stream(stream)).toBeNull()
    expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
  })

  test('never gets an append that no server takes: that is a bug', async () => {
    const { server, log } = await start()
    const stream = freshKeyStream()
    const failure = await append(log, stream, keySuspensions(5_000)).catch((cause: unknown) => cause)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(Outage)
    expect(server.state.stream(stream)).toBeNull()
  })
})

describe('in a cluster the log', () => {
  const startCluster = async () => {
    const cluster = await startLogCluster()
    opened.push(cluster)
    const [first, second, third] = cluster.servers
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few servers')
    return { cluster, first, second, third }
  }
  /** Returns a set that collects the indexes of the servers that get appends. */
  const writersOf = (servers: readonly LogServer[]) => {
    const asked = new Set<number>()
    for (const [index, { faults }] of servers.entries()) {
      faults.ofAppend = () => {
        asked.add(index)
        return null
      }
    }
    return asked
  }

  test('given only a follower uses the leader that it names', async () => {
    const { cluster, second } = await startCluster()
    const asked = writersOf(cluster.servers)
    const log = await openOver(second.url)
    expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
    expect([...asked]).toEqual([0])
  })

  test('uses a new leader when the old one is killed or becomes a follower', async () => {
    const { cluster, first, second, third } = await startCluster()
    const asked = writersOf(cluster.servers)
    const log = await openOver(cluster.url)
    expect(await append(log, freshKeyStream())).toMatchObject({ outcome: 'written' })
    await first.kill()
    cluster.elect(second)
    await untilWritten(log)
    cluster.elect(third)
    await untilWritten(log)
    expect([...asked]).toEqual([0, 1, 2])
  })

  test('refuses appends without a leader, and still reads', async () => {
    const { cluster, second } = await startCluster()
    const log = await openOver(cluster.url)
    const stream = freshKeyStream()
    await append(log, stream)
    cluster.depose()
    expect(await append(log, freshKeyStream())).toMatchObject({ name: 'Outage', outcome: 'not_written' })
    cluster.elect(second)
    await untilWritten(log)
    expect(await log.read(stream, { limit: 1 })).toHaveLength(1)
  })
})

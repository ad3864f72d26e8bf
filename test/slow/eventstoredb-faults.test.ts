/**
 * Faults of the connection and of the store. Whatever fails, each event must be stored once, and every promise must
 * settle.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb'
import type { NewEvent } from '../../src/domain/events.ts'
import { derivedId } from '../../src/domain/uuid.ts'
import { type EventLog, Outage } from '../../src/log/event-log.ts'
import { eventStoreAppendsOutMax } from '../../src/log/eventstoredb/appends.ts'
import { eventStoreReadMsMax } from '../../src/log/eventstoredb/eventstoredb-bounds.ts'
import { logQueueReadingsMax } from '../../src/log/queue-room.ts'
import { startLogCluster } from '../support/log-server/cluster.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { caughtUp, collect, hasEvents } from '../support/logs/collector.ts'
import { freshPrefix, openAt, untilHealth } from '../support/logs/event-store-log.ts'
import {
  freshKeyStream,
  freshReadingsStream,
  keySuspended,
  keySuspensions,
  reading,
  startMs,
} from '../support/logs/sample-events.ts'

const slowMs = 60_000
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const opened = async (): Promise<{ readonly server: LogServer; readonly log: EventLog }> => {
  const server = await startLogServer()
  ends.push(() => server.stop())
  return { server, log: await openedAt(server.url) }
}
const openedAt = async (url: string): Promise<EventLog> => {
  const log = await openAt(url)
  ends.push(() => log.close())
  return log
}

const outageOf = async (answer: Promise<unknown>): Promise<Outage> => {
  const failure = await answer.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (failure instanceof Outage) return failure
  throw new Error('there was no outage', { cause: failure })
}
/** Repeats the same append until its outcome is known, like an actor. */
const untilKnown = async <T>(append: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await append()
    } catch (error) {
      if (!(error instanceof Outage)) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

test(
  'a full store refuses appends, and health says so until it stores readings again',
  async () => {
    const { server, log } = await opened()
    server.faults.ofAppend = () => ({ isWritten: false, ends: 'no_space' })
    const stream = freshReadingsStream()
    const append = () => log.append(stream, 'none', [reading(stream)])
    expect(await outageOf(append())).toMatchObject({ outcome: 'not_written', reason: 'full' })
    expect(log.troubles?.()).toEqual([{ kind: 'full', why: 'No space left on device' }])
    expect(log.health()).toEqual({ ok: true })
    server.faults.ofAppend = () => null
    expect(await append()).toMatchObject({ outcome: 'written' })
    expect(log.troubles?.()).toEqual([])
  },
  slowMs,
)

describe('an append whose answer is lost', () => {
  for (const how of ['cut', 'clean_end', 'silence', 'timeout'] as const) {
    for (const isWritten of [true, false]) {
      test(
        `by ${how}, ${isWritten ? 'after' : 'before'} it was written, is unknown, and lies there once when it is made again`,
        async () => {
          const { server, log } = await opened()
          const stream = freshKeyStream()
          await log.append(stream, 'none', keySuspensions(1))
          let isFirst = true
          server.faults.ofAppend = () => {
            if (!isFirst) return null
            isFirst = false
            return { isWritten, ends: how }
          }
          const events = keySuspensions(2)
          expect(await outageOf(log.append(stream, 0, events))).toMatchObject({ outcome: 'unknown' })
          const result = await untilKnown(() => log.append(stream, 0, events))
          expect(['written', 'already_written']).toContain(result.outcome)
          const stored = await log.read(stream, { limit: 10 })
          expect(stored.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id))
          expect(await log.append(stream, 2, [keySuspended()])).toMatchObject({ outcome: 'written' })
        },
        slowMs,
      )
    }
  }

  test(
    'settles all open and waiting appends and stores each event once',
    async () => {
      const { server, log } = await opened()
      const rejections: unknown[] = []
      const note = (cause: unknown): unknown => rejections.push(cause)
      process.on('unhandledRejection', note)
      let judged = 0
      server.faults.ofAppend = () => {
        judged += 1
        return judged % 150 === 100 ? { isWritten: judged % 300 === 100, ends: 'cut' } : null
      }
      const streams = Array.from({ length: 500 }, freshReadingsStream)
      const appends = streams.map(async (stream) => {
        const event = reading(stream)
        await untilKnown(() => log.append(stream, 'none', [event]))
        return event.id
      })
      const ids = await Promise.all(appends)
      for (const [index, stream] of streams.entries()) {
        expect((await log.read(stream, { limit: 9 })).map(({ id }) => id)).toEqual([ids[index] ?? ''])
      }
      process.off('unhandledRejection', note)
      expect(rejections).toEqual([])
    },
    slowMs,
  )
})

describe('an unreachable store', () => {
  test(
    'refuses appends at once with the reason, and recovers with its server',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      await log.append(stream, 'none', keySuspensions(1))
      await server.kill()
      await untilHealth(log, false)
      expect(log.health()).toMatchObject({ why: expect.stringContaining('EventStoreDB is away') })
      // The append must be refused within this turn of the event loop, so it cannot have waited for the server.
      const refused = log.append(stream, 0, [keySuspended()])
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      refused.then(settle, settle)
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      expect(isSettled).toBe(true)
      expect(await outageOf(refused)).toMatchObject({ outcome: 'not_written', reason: 'unavailable' })
      expect(await outageOf(log.read(stream, { limit: 1 }))).toMatchObject({ outcome: 'not_written' })

      await server.restart()
      await untilHealth(log, true)
      expect(await log.append(stream, 0, [keySuspended()])).toMatchObject({ outcome: 'written' })
    },
    slowMs,
  )

  test(
    'is noticed when silent, and used again when it answers',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      const event = keySuspended()
      server.silence()
      expect(await outageOf(log.append(stream, 'none', [event]))).toMatchObject({ outcome: 'unknown' })
      await untilHealth(log, false)
      server.speak()
      await untilHealth(log, true)
      expect((await untilKnown(() => log.append(stream, 'none', [event]))).outcome).not.toBe('conflict')
      expect(await log.read(stream, { limit: 9 })).toHaveLength(1)
    },
    slowMs,
  )

  test(
    'gets no append while it starts',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      server.faults.isReady = () => false
      expect(await outageOf(log.append(stream, 'none', [keySuspended()]))).toMatchObject({ outcome: 'not_written' })
      await untilHealth(log, false)
      server.faults.isReady = () => true
      await untilHealth(log, true)
      expect(await log.append(stream, 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
    },
    slowMs,
  )

  test(
    'names its new leader through the old one',
    async () => {
      const cluster = await startLogCluster()
      ends.push(() => cluster.stop())
      const log = await openedAt(cluster.url)
      const stream = freshKeyStream()
      let revision = -1
      for (const server of [...cluster.servers, ...cluster.servers]) {
        cluster.elect(server)
        const event = keySuspended()
        const expected = revision < 0 ? 'none' : revision
        const result = await untilKnown(() => log.append(stream, expected, [event]))
        expect(result.outcome).not.toBe('conflict')
        revision += 1
      }
      expect(await untilKnown(() => log.read(stream, { limit: 99 }))).toHaveLength(revision + 1)
    },
    slowMs,
  )
})

test(
  'an event with a derived id gets the stored place if another node wrote it',
  async () => {
    const server = await startLogServer()
    ends.push(() => server.stop())
    const prefix = freshPrefix()
    const [one, other] = [await openAt(server.url, prefix), await openAt(server.url, prefix)]
    ends.push(
      () => one.close(),
      () => other.close(),
    )
    const stream = freshKeyStream()
    const event = { ...keySuspended('revoked', startMs), id: derivedId(stream, 'KeyRevoked') }
    const late = { ...event, recordedAt: startMs + 900 }
    expect(await one.append(stream, 'none', [event])).toMatchObject({ outcome: 'written' })
    expect(await other.append(stream, 'none', [late])).toMatchObject({ outcome: 'already_written', events: [event] })
  },
  slowMs,
)

describe('an append of several events, whose positions have to be read', () => {
  test(
    'waits until they are shown',
    async () => {
      const { server, log } = await opened()
      let left = 3
      server.faults.unindexed = () => (left-- > 0 ? 1 : 0)
      const events = keySuspensions(2)
      const result = await log.append(freshKeyStream(), 'none', events)
      expect(result).toMatchObject({ outcome: 'written', events: events.map(({ id }) => ({ id })) })
    },
    slowMs,
  )

  test(
    'is unknown, not unwritten, when they can not be read',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      let isReady = true
      server.faults.ofAppend = () => {
        isReady = false
        return null
      }
      server.faults.isReady = () => isReady
      const events = keySuspensions(2)
      expect(await outageOf(log.append(stream, 'none', events))).toMatchObject({ outcome: 'unknown' })
      server.faults.ofAppend = () => null
      isReady = true
      const again = await untilKnown(() => log.append(stream, 'none', events))
      expect(again).toMatchObject({ outcome: 'already_written', events: events.map(({ id }) => ({ id })) })
    },
    slowMs,
  )
})

describe('a read behind a conflict', () => {
  /** Prepares a late store: a conflict has named revision 1, but the next `reads` reads show only revision 0. */
  const beaten = async (reads: number) => {
    const { server, log } = await opened()
    const stream = freshKeyStream()
    const events = keySuspensions(2)
    await log.append(stream, 'none', events)
    const conflict = await log.append(stream, 'none', keySuspensions(1))
    expect(conflict).toEqual({ outcome: 'conflict', currentRevision: 1 })
    let left = reads
    server.faults.unindexed = () => (left-- > 0 ? 1 : 0)
    return { server, log, stream, ids: events.map(({ id }) => id) }
  }

  test(
    'waits until it finds the revision of the conflict, in either direction',
    async () => {
      for (const direction of ['forwards', 'backwards'] as const) {
        const { log, stream, ids } = await beaten(3)
        const events = await log.read(stream, { limit: 9, direction })
        expect(events.map(({ id }) => id).sort()).toEqual(ids.toSorted())
      }
    },
    slowMs,
  )

  test(
    'is an outage when that revision never appears',
    async () => {
      const { log, stream } = await beaten(Number.POSITIVE_INFINITY)
      const outage = await outageOf(log.read(stream, { limit: 9 }))
      expect(outage).toMatchObject({ outcome: 'not_written', message: expect.stringContaining('revision 1') })
      // The next read does not wait again: if a dead leader named the revision, its event may be lost for ever.
      expect(await log.read(stream, { limit: 9 })).toHaveLength(1)
    },
    slowMs,
  )

  test(
    'does not wait for a revision that a lost connection named',
    async () => {
      const { server, log, stream } = await beaten(Number.POSITIVE_INFINITY)
      await server.kill()
      await untilHealth(log, false)
      await server.restart()
      await untilHealth(log, true)
      expect(await log.read(stream, { limit: 9 })).toHaveLength(1)
    },
    slowMs,
  )
})

test(
  'a read waits while its server skips other events, and fails with its server',
  async () => {
    const { server, log } = await opened()
    await log.append(freshKeyStream(), 'none', keySuspensions(1))
    server.faults.beforeReadOfAll = () => Bun.sleep(eventStoreReadMsMax + 1_000)
    expect(await log.readAll({ direction: 'backwards', limit: 1 })).toHaveLength(1)
    const begun = Promise.withResolvers<void>()
    server.faults.beforeReadOfAll = () => {
      begun.resolve()
      return new Promise(() => {})
    }
    const outage = outageOf(log.readAll({ limit: 1 }))
    await begun.promise
    server.silence()
    expect(await outage).toMatchObject({ outcome: 'not_written' })
  },
  slowMs,
)

test(
  'a read ends with its link, even if the server still answers pings',
  async () => {
    const { server, log } = await opened()
    server.faults.beforeReadOfAll = () => new Promise(() => {})
    const outage = outageOf(log.readAll({ limit: 1 }))
    // Appends get no answer, so the log closes the connection, though the server still answers pings.
    server.faults.ofAppend = () => ({ isWritten: false, ends: 'silence' })
    await outageOf(log.append(freshKeyStream(), 'none', keySuspensions(1)))
    expect(await outage).toMatchObject({ outcome: 'not_written' })
  },
  slowMs,
)

describe('a right that is taken away from the user of a log', () => {
  test(
    'is named by health from the first denied append until it returns',
    async () => {
      const { server, log } = await opened()
      server.faults.denies = () => true
      const outage = await outageOf(log.append(freshKeyStream(), 'none', keySuspensions(1)))
      expect(outage).toMatchObject({ outcome: 'not_written' })
      await untilHealth(log, false)
      expect(log.health()).toMatchObject({ why: expect.stringContaining('Access Denied') })
      server.faults.denies = () => false
      await untilHealth(log, true)
      expect(await log.append(freshKeyStream(), 'none', keySuspensions(1))).toMatchObject({ outcome: 'written' })
    },
    slowMs,
  )

  test(
    'to write one stream does not affect other streams',
    async () => {
      const { server, log } = await opened()
      let isChecked = false
      server.faults.denies = (what) => {
        isChecked ||= what === 'all'
        return what === 'append'
      }
      await outageOf(log.append(freshKeyStream(), 'none', keySuspensions(1)))
      const look = async (): Promise<void> => {
        await turnOfTheLoop()
        expect(log.health()).toEqual({ ok: true })
      }
      while (!isChecked) await look()
      for (let turns = 0; turns < 1_000; turns += 1) await look()
      server.faults.denies = () => false
      expect(await log.append(freshKeyStream(), 'none', keySuspensions(1))).toMatchObject({ outcome: 'written' })
    },
    slowMs,
  )

  test(
    'to subscribe is named too, and the subscription then continues',
    async () => {
      const { server, log } = await opened()
      const collector = collect(log, { after: null })
      await collector.until(caughtUp)
      server.faults.denies = (what) => what === 'all'
      server.faults.dropSubscriptions()
      await untilHealth(log, false)
      expect(log.health()).toEqual({ ok: false, why: expect.stringContaining('nothing to the subscription') })
      await log.append(freshKeyStream(), 'none', keySuspensions(1))
      server.faults.denies = () => false
      await collector.until(hasEvents(1))
      expect(log.health()).toEqual({ ok: true })
    },
    slowMs,
  )
})

describe('the queue', () => {
  test(
    'takes readings up to its bounds, refuses the rest, and has room for changes',
    async () => {
      const { server, log } = await opened()
      const stuck = Promise.withResolvers<void>()
      server.faults.beforeAppend = () => stuck.promise
      const settle = (stream: string, events: readonly NewEvent[]): Promise<unknown> =>
        log.append(stream, 'none', events).then(
          ({ outcome }) => outcome,
          (cause: unknown) => cause,
        )
      const append = (events: number): Promise<unknown> => {
        const stream = freshReadingsStream()
        return settle(
          stream,
          Array.from({ length: events }, () => reading(stream)),
        )
      }
      const out = Array.from({ length: eventStoreAppendsOutMax }, () => append(1))
      const ofMany = Array.from({ length: Math.ceil(logQueueReadingsMax / 1_000) + 1 }, () => append(1_000))
      // The small appends fill the room that the large ones have left in the queue.
      const small = Array.from({ length: 1_000 }, () => append(1))
      const change = settle(freshKeyStream(), [keySuspended()])
      stuck.resolve()
      const isOverloaded = (what: unknown): boolean => what instanceof Outage && what.reason === 'overloaded'
      // On a slow machine, the outcome of the change can be unknown. But a full queue must never refuse it.
      expect(isOverloaded(await change)).toBe(false)
      const settled = await Promise.all(ofMany)
      const overloaded = settled.filter(isOverloaded)
      expect(overloaded.length).toBeGreaterThan(0)
      for (const outage of overloaded) expect(outage).toMatchObject({ outcome: 'not_written' })
      // The refused appends must come last: the queue takes appends in order until it is full.
      expect(settled.slice(-overloaded.length)).toEqual(overloaded)
      expect(isOverloaded((await Promise.all(small)).at(-1))).toBe(true)
      await Promise.all(out)
    },
    slowMs,
  )
})

describe('a subscription', () => {
  test(
    'continues where it was after every kind of end',
    async () => {
      const { server, log } = await opened()
      const stream = freshReadingsStream()
      const collector = collect(log, { after: null, categories: ['readings'] })
      await collector.until(caughtUp)
      let revision = -1
      const appendMore = async (): Promise<void> => {
        const events = Array.from({ length: 50 }, () => reading(stream))
        await untilKnown(() => log.append(stream, revision < 0 ? 'none' : revision, events))
        revision += events.length
      }
      const interruptions = [
        async () => server.faults.dropSubscriptions(),
        async () => server.cutConnections(),
        async () => {
          await server.kill()
          await untilHealth(log, false)
          await server.restart()
        },
      ]
      for (const interrupt of [...interruptions, ...interruptions]) {
        await appendMore()
        await interrupt()
        await appendMore()
      }
      // The subscription ends right after each append. It must deliver the events that it has already received.
      const forget = server.state.onAppended(() =>
        setImmediate(() => setImmediate(() => server.faults.dropSubscriptions())),
      )
      for (let turn = 0; turn < 20; turn++) {
        await appendMore()
        await collector.until(hasEvents(revision + 1))
      }
      forget()
      await collector.until(hasEvents(revision + 1))
      collector.subscription.unsubscribe()
      expect(collector.events.map((event) => event.revision)).toEqual(
        Array.from({ length: revision + 1 }, (_, at) => at),
      )
      expect(collector.told.filter((what) => what === 'caught_up')).toHaveLength(1)
    },
    slowMs,
  )

  test(
    'follows the connection to a new leader, even if the old one still answers',
    async () => {
      const cluster = await startLogCluster()
      ends.push(() => cluster.stop())
      const log = await openedAt(cluster.url)
      const collector = collect(log, { after: null, categories: ['readings'] })
      await collector.until(caughtUp)
      const stream = freshReadingsStream()
      const turns = 2 * cluster.servers.length
      for (let turn = 0; turn < turns; turn++) {
        const [old, next] = [cluster.leader(), cluster.servers[(turn + 1) % cluster.servers.length]]
        if (old === null || next === undefined) throw new Error('there are three, and one leads')
        old.faults.isCutOff = true
        next.faults.isCutOff = false
        cluster.elect(next)
        const event = reading(stream)
        await untilKnown(() => log.append(stream, turn === 0 ? 'none' : turn - 1, [event]))
        await collector.until(hasEvents(turn + 1))
      }
      collector.subscription.unsubscribe()
      expect(collector.events.map(({ revision }) => revision)).toEqual(Array.from({ length: turns }, (_, at) => at))
      expect(collector.told.filter((what) => what === 'caught_up')).toHaveLength(1)
      // After `unsubscribe`, no server may keep a subscription, neither the old leaders nor the last one. Otherwise
      // this loop never ends.
      for (const { faults } of cluster.servers) while (faults.subscriptions > 0) await turnOfTheLoop()
    },
    slowMs,
  )

  test(
    'that resumes at a scavenged event misses no later event',
    async () => {
      const { server, log } = await opened()
      const stream = freshReadingsStream()
      const first = await log.append(stream, 'none', [reading(stream)])
      if (first.outcome !== 'written') throw new Error('it was not written')
      await log.append(
        stream,
        0,
        Array.from({ length: 3 }, () => reading(stream)),
      )
      await log.truncate(stream, 1)
      server.state.scavenge()
      const collector = collect(log, { after: first.events[0]?.position ?? null })
      await collector.until(caughtUp)
      collector.subscription.unsubscribe()
      expect(collector.events.map((event) => event.revision)).toEqual([1, 2, 3])
    },
    slowMs,
  )

  test(
    'ends at an event of a newer version, which health names',
    async () => {
      const { server, log } = await opened()
      const other = await openAt(server.url, 'other-')
      const after = freshKeyStream()
      await other.append(after, 'none', [keySuspended()])
      const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value))
      server.state.append({
        stream: `other-${after}`,
        expected: 0,
        events: [
          {
            id: crypto.randomUUID(),
            type: 'KeySuspended',
            contentType: 'application/json',
            data: encode({ reason: 'r', newer: true }),
            metadata: encode({ schemaVersion: 99, recordedAt: 1, ...keySuspended().metadata }),
          },
        ],
      })
      const collector = collect(other, { after: null })
      await collector.until(({ told }) => told.some((what) => typeof what === 'object' && 'dropped' in what))
      expect(collector.events).toHaveLength(1)
      expect(other.health()).toMatchObject({ ok: false, why: expect.stringContaining('KeySuspended at revision 1') })
      expect(log.health()).toEqual({ ok: true })
      await other.close()
    },
    slowMs,
  )
})

describe('an answer that can not be read', () => {
  /** A protobuf field that claims 127 bytes, but has none. */
  const malformed = Buffer.from([0x0a, 0x7f])

  test(
    'fails its read only, and neither the connection nor the process',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      await log.append(stream, 'none', keySuspensions(2))
      server.faults.ofAnswer = (bytes, to) => (to === 'read' ? malformed : bytes)
      const outage = await outageOf(log.read(stream, { limit: 9 }))
      expect(outage).toMatchObject({ outcome: 'not_written', message: expect.stringContaining('what the server sent') })
      expect(log.health()).toEqual({ ok: true })
      server.faults.ofAnswer = (bytes) => bytes
      expect(await log.read(stream, { limit: 9 })).toHaveLength(2)
    },
    slowMs,
  )

  test(
    'is requested again, and health names it until it arrives complete',
    async () => {
      const { server, log } = await opened()
      const stream = freshReadingsStream()
      const collector = collect(log, { after: null, categories: ['readings'] })
      await collector.until(caughtUp)
      await log.append(stream, 'none', [reading(stream)])
      await collector.until(hasEvents(1))
      server.faults.ofAnswer = (bytes, to) => (to === 'read' ? malformed : bytes)
      await log.append(stream, 0, [reading(stream)])
      await untilHealth(log, false)
      expect(log.health()).toMatchObject({ why: expect.stringContaining('what the server sent') })
      server.faults.ofAnswer = (bytes) => bytes
      await collector.until(hasEvents(2))
      expect(log.health()).toEqual({ ok: true })
      collector.subscription.unsubscribe()
      expect(collector.events.map(({ revision }) => revision)).toEqual([0, 1])
    },
    slowMs,
  )

  test(
    'is named by health also when a subscription begins',
    async () => {
      const { server, log } = await opened()
      const stream = freshReadingsStream()
      await log.append(stream, 'none', [reading(stream)])
      const after = (await log.read(stream, { limit: 1 }))[0]?.position ?? null
      server.faults.ofAnswer = (bytes, to) => (to === 'read' ? malformed : bytes)
      const collector = collect(log, { after, categories: ['readings'] })
      await untilHealth(log, false)
      expect(log.health()).toMatchObject({ why: expect.stringContaining('what the server sent') })
      server.faults.ofAnswer = (bytes) => bytes
      await collector.until(caughtUp)
      expect(log.health()).toEqual({ ok: true })
      collector.subscription.unsubscribe()
    },
    slowMs,
  )

  test(
    'leaves the outcome of its append unknown',
    async () => {
      const { server, log } = await opened()
      const stream = freshKeyStream()
      await log.append(stream, 'none', keySuspensions(1))
      server.faults.ofAnswer = (bytes, to) => {
        const answer = to === 'append' ? BatchAppendResp.deserializeBinary(bytes) : null
        if (answer === null) return bytes
        answer.getError()?.getDetails()?.setValue(malformed)
        return Buffer.from(answer.serializeBinary())
      }
      expect(await outageOf(log.append(stream, 'none', keySuspensions(1)))).toMatchObject({ outcome: 'unknown' })
      server.faults.ofAnswer = (bytes, to) => (to === 'append' ? malformed : bytes)
      const events = keySuspensions(1)
      expect(await outageOf(log.append(stream, 0, events))).toMatchObject({ outcome: 'unknown' })
      server.faults.ofAnswer = (bytes) => bytes
      await untilKnown(() => log.append(stream, 0, events))
      const stored = await log.read(stream, { limit: 9 })
      expect(stored.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    },
    slowMs,
  )
})

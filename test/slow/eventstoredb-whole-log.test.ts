/** Reads of the whole log on EventStoreDB, which scans other programs' events, and shows truncated events until its scavenge. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax, retentionMarginMs } from '../../src/limits.ts'
import { copyLog } from '../../src/log/copy-log.ts'
import { type EventLog, type ReadAllOptions, StillSearching } from '../../src/log/event-log.ts'
import { eventStoreSearchWindowEvents } from '../../src/log/eventstoredb/requests.ts'
import { storeScansKeptMax } from '../../src/log/eventstoredb/store-reads.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { paths } from '../../views/paths.ts'
import { download, exportTests, lastEnd, revisionsIn } from '../http/dashboard/exports/downloading.ts'
import { signedIn } from '../http/dashboard/visitor.ts'
import { startLogCluster } from '../support/log-server/cluster.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { collect, hasEvents } from '../support/logs/collector.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshKeyStream, freshReadingsStream, keySuspended, reading } from '../support/logs/sample-events.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { type Service, testAsker, testCellar, validReading } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { until } from '../support/time/until.ts'

setDefaultTimeout(600_000)

const { start, cleanUp } = exportTests()

const startServer = async () => {
  const server = await startLogServer()
  cleanUp.push(() => server.stop())
  const prefix = freshPrefix()
  const open = async (): Promise<EventLog> => {
    const log = await openAt(server.url, prefix)
    cleanUp.push(() => log.close())
    return log
  }
  return { server, prefix, open }
}

const readingsOf = async ({ log }: Service): Promise<readonly number[]> => {
  const events = await log.readAll({ limit: 1_000 })
  return events.filter(({ type }) => type === 'ReadingAccepted').map(({ revision }) => revision)
}

test('purged readings leave exports and lists of both nodes before a scavenge', async () => {
  const dayMs = 24 * 3_600_000
  const clock = manualClock()
  const { server, open } = await startServer()
  const services = [await start({ log: await open(), clock }), await start({ log: await open(), clock })] as const
  const [service, other] = services
  const { key, keyId } = await service.createKey()
  const policy = { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: dayMs }
  expect(await service.core.cellars.changePolicy(testCellar, policy, testAsker)).toMatchObject({ ok: true })
  for (const days of [0, 0, 0, 1, 0]) {
    clock.advance(days * dayMs)
    expect((await service.post(validReading, key)).status).toBe(200)
  }
  for (const each of services) expect(await readingsOf(each)).toEqual([0, 1, 2, 3, 4])

  const noon = clock.now()
  for (const days of [0, 1]) {
    clock.set(noon - dayMs / 2 + days * dayMs + retentionMarginMs)
    await service.sweep()
  }
  expect(server.state.all.filter(({ type }) => type === 'ReadingAccepted')).toHaveLength(5)
  expect(await readingsOf(service)).toEqual([3, 4])
  // The other node receives the later cellar after the truncation.
  await service.core.cellars.create({ cellar: 'later', title: 'Later' }, testAsker)
  await until(() => other.core.projections.cellars.get('later') !== null)
  expect(await readingsOf(other)).toEqual([3, 4])

  for (const each of services) {
    const admin = await signedIn(each, 'admin')
    const { answer } = await download(each, admin, { list: 'readings', cellar: testCellar })
    expect(revisionsIn(await answer)).toEqual([3, 4])
    expect(await lastEnd(each)).toMatchObject({ phase: 'complete', rows: 2 })
    const { body } = await admin.get(paths.log({ kind: 'readings', cellar: testCellar }))
    const shown = [4, 3, 2, 1, 0].filter((revision) => body.includes(paths.event(readingsStream(keyId), revision)))
    expect(shown).toEqual([4, 3])
  }
})

test('log copy goes on when the leader of its source dies', async () => {
  const cluster = await startLogCluster()
  cleanUp.push(() => cluster.stop())
  const [source, target] = [await openAt(cluster.url, ''), createMemoryLog()]
  cleanUp.push(() => source.close())
  const naming = { clock: manualClock(), entropy: seededEntropy(1) }
  await ensureLogCreated(source, naming.clock, naming.entropy)
  const stream = freshReadingsStream()
  for (let next = 0; next < 2 * readPageEventsMax; next += 100) {
    const readings = Array.from({ length: 100 }, () => reading(stream))
    expect((await source.append(stream, next === 0 ? 'none' : next - 1, readings)).outcome).toBe('written')
  }
  const [leader, next] = cluster.servers
  if (leader === undefined || next === undefined) throw new Error('there is no cluster')
  let reads = 0
  leader.faults.beforeReadOfAll = async () => {
    reads += 1
    if (reads < 3) return
    await leader.kill()
    cluster.elect(next)
  }
  const copied = await copyLog({ from: source, to: target, ...naming, wait: Bun.sleep, onProgress: () => {} })
  expect([leader.isAlive, copied.events]).toEqual([false, 2 * readPageEventsMax])
})

/** Another program writes to the same store. */
const writeOthers = ({ state }: LogServer, count: number): void => {
  const event = { type: 'Other', contentType: 'application/json', data: new Uint8Array(), metadata: new Uint8Array() }
  const events = Array.from({ length: count }, () => ({ ...event, id: crypto.randomUUID() }))
  state.append({ stream: `other-${crypto.randomUUID()}`, expected: 'none', events })
}

/** Reads in these tests pass another program's event only after `release()`. */
const holdOthers = ({ faults }: LogServer) => {
  const held = Promise.withResolvers<void>()
  faults.passing = () => held.promise
  return { release: () => held.resolve() }
}

const append = async (log: EventLog, stream = freshKeyStream()): Promise<RecordedEvent> => {
  const result = await log.append(stream, 'none', [keySuspended()])
  const [event] = result.outcome === 'written' ? result.events : []
  if (event === undefined) throw new Error('the append failed')
  return event
}

/** `null`: the store is still searching. */
const within = async (log: EventLog, options: Omit<ReadAllOptions, 'msMax'>) => {
  try {
    return await log.readAll({ ...options, msMax: 20 })
  } catch (error) {
    if (error instanceof StillSearching) return null
    throw error
  }
}

const found = async (log: EventLog, options: Omit<ReadAllOptions, 'msMax'>) => {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const events = await within(log, options)
    if (events !== null) return events
  }
  return null
}

test('a read with a time bound returns what it has found, and goes on', async () => {
  const { server, open } = await startServer()
  const log = await open()
  const start = await append(log)
  const first = await append(log)
  writeOthers(server, 3)
  const last = await append(log)
  let reads = 0
  server.faults.beforeReadOfAll = async () => {
    reads += 1
  }
  const others = holdOthers(server)
  const backwards = { direction: 'backwards', limit: 5 } as const
  expect(await found(log, backwards)).toEqual([last])
  expect(await found(log, { limit: 5, from: start.position })).toEqual([first])
  const behind = [
    { ...backwards, from: last.position },
    { limit: 5, from: first.position },
  ]
  for (const options of [...behind, ...behind]) expect(await within(log, options)).toBeNull()
  // One read for what was near, and one for what was far, in each direction.
  expect(reads).toBe(4)
  others.release()
  const [earlier = backwards, later = backwards] = behind
  expect(await found(log, earlier)).toEqual([first, start])
  expect(await found(log, later)).toEqual([last])
  expect(reads).toBe(4)
})

test('searches that go on are bounded, and the oldest is begun anew', async () => {
  const { server, open } = await startServer()
  const log = await open()
  await append(log)
  writeOthers(server, 3)
  const { position } = await append(log)
  let reads = 0
  server.faults.beforeReadOfAll = async () => {
    reads += 1
  }
  const others = holdOthers(server)
  const searches = Array.from({ length: storeScansKeptMax + 1 }, (_, index) => index + 1)
  const search = (limit: number) => ({ direction: 'backwards', from: position, limit }) as const
  for (const limit of searches) expect(await within(log, search(limit))).toBeNull()
  expect(reads).toBe(storeScansKeptMax + 1)
  others.release()
  for (const limit of searches.toReversed()) expect(await found(log, search(limit))).toHaveLength(1)
  expect(reads).toBe(storeScansKeptMax + 2)
})

test('a node that follows the log reads its newest event without passing those of others', async () => {
  const { server, open } = await startServer()
  const log = await open()
  const events = [await append(log), await append(log)]
  const follower = collect(log, { after: null })
  await follower.until(hasEvents(2))
  writeOthers(server, 5 * eventStoreSearchWindowEvents)
  const held = Promise.withResolvers<void>()
  server.faults.passing = async (passed) => {
    if (passed > eventStoreSearchWindowEvents) await held.promise
  }
  const newest = { direction: 'backwards', limit: 1 } as const
  const expectNewest = async () => {
    for (const limit of [1, 2, 3, 4])
      expect(await log.readAll({ ...newest, limit })).toEqual(events.toReversed().slice(0, limit))
  }
  expect(await found(log, newest)).toEqual(events.slice(-1))
  await expectNewest()
  events.push(await append(log))
  expect(await found(log, newest)).toEqual(events.slice(-1))
  held.resolve()
  await expectNewest()
  await follower.until(hasEvents(3))
  await expectNewest()
  follower.subscription.unsubscribe()
})

test('the list of readings shows what the store has found, and offers to go on', async () => {
  const { server, open } = await startServer()
  const service = await start({ log: await open() })
  const { key, keyId } = await service.createKey()
  expect((await service.post(validReading, key)).status).toBe(200)
  writeOthers(server, 3)
  expect((await service.post(validReading, key)).status).toBe(200)
  const admin = await signedIn(service, 'admin')
  const others = holdOthers(server)
  const list = { kind: 'readings', cellar: testCellar } as const
  const shown = async (path: string) => {
    const { status, body } = await admin.get(path)
    const revisions = [1, 0].filter((revision) => body.includes(paths.event(readingsStream(keyId), revision)))
    const next = /href="([^"]*)"[^>]*>\s*Go on searching/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? null
    return { status, revisions, next }
  }
  const newest = await shown(paths.log(list))
  const next = newest.next ?? ''
  expect(newest).toEqual({ status: 200, revisions: [1], next })
  expect(await shown(next)).toEqual({ status: 200, revisions: [], next })
  const event = paths.event(readingsStream(keyId), 1)
  expect((await admin.get(event)).status).toBe(200)
  others.release()
  expect(await shown(next)).toEqual({ status: 200, revisions: [0], next: null })
})

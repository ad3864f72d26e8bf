/** Reads of the whole log on EventStoreDB, which scans other programs' events, and shows truncated events until its scavenge. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax, retentionMarginMs } from '../../src/limits.ts'
import { copyLog } from '../../src/log/copy-log.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { paths } from '../../views/paths.ts'
import { download, exportTests, lastEnd, revisionsIn } from '../http/dashboard/exports/downloading.ts'
import { signedIn } from '../http/dashboard/visitor.ts'
import { startLogCluster } from '../support/log-server/cluster.ts'
import { startLogServer } from '../support/log-server/server.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshReadingsStream, reading } from '../support/logs/sample-events.ts'
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
  const readings = Array.from({ length: readPageEventsMax }, () => reading(stream))
  for (const expected of ['none', readPageEventsMax - 1] as const) {
    const result = await source.append(
      stream,
      expected,
      readings.map((event) => ({ ...event, id: crypto.randomUUID() })),
    )
    expect(result.outcome).toBe('written')
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

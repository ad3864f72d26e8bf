import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordsKeptMs } from '../../../src/actors/cellar/record-retention.ts'
import { nodeRefusalsStream, refusalsStream } from '../../../src/domain/stream-names.ts'
import { retentionMarginMs, retentionMsMin } from '../../../src/limits.ts'
import { DamagedLog, type EventLog, Outage } from '../../../src/log/event-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { readingsRefused } from '../../support/logs/sample-events.ts'
import { asker, Cluster, cellar, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const dayMs = 24 * 3_600_000
const noonMs = Date.UTC(2026, 2, 1, 12)
/** Refusals of the first day may be purged from this time on. */
const dueMs = Date.UTC(2026, 2, 2) + recordsKeptMs.refusals + retentionMarginMs

/** Appends one refusal on the first day, and one on the second day. */
const refuseTwice = async (log: EventLog, stream: string): Promise<void> => {
  await log.append(stream, 'none', [readingsRefused(noonMs), readingsRefused(noonMs + dayMs)])
}
const shown = async (log: EventLog, stream: string): Promise<(string | number)[][]> =>
  (await log.read(stream, { limit: 100 })).map(({ revision, type }) => [revision, type])
const unpurged = [
  [0, 'ReadingsRefused'],
  [1, 'ReadingsRefused'],
]
const purgedOnce = [
  [1, 'ReadingsRefused'],
  [2, 'RecordsPurged'],
]

/** A clock may not jump a day ahead, so each day has a sweep. */
const sweepTo = async (cluster: Cluster, nodes: readonly TestNode[], ms: number): Promise<void> => {
  while (cluster.clock.now() < ms) {
    cluster.clock.set(Math.min(ms, cluster.clock.now() + dayMs / 2))
    for (const { core } of nodes) await core.sweep()
  }
}

const setRetention = (node: TestNode, retentionMs: number | null) =>
  node.schedule.until(node.core.cellars.changePolicy(cellar, { retentionMs }, asker))

describe('refusals of a key', () => {
  test('are purged by days after 30 days, and so are those of the node', async () => {
    const cluster = new Cluster()
    const nodes = [await cluster.open(), await cluster.open()]
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    const streams = [refusalsStream(await makeTestKey(node)), nodeRefusalsStream]
    for (const { late } of nodes) late.deliver()
    for (const stream of streams) await refuseTwice(cluster.log, stream)
    await sweepTo(cluster, nodes, dueMs - 1)
    for (const stream of streams) expect(await shown(cluster.log, stream)).toEqual(unpurged)
    await sweepTo(cluster, nodes, dueMs)
    for (const stream of streams) expect(await shown(cluster.log, stream)).toEqual(purgedOnce)
    expect(nodes.flatMap(({ bugs }) => bugs)).toEqual([])
  })

  test('are purged with the readings of the cellar, if those go earlier', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const stream = refusalsStream(await makeTestKey(node))
    await refuseTwice(cluster.log, stream)
    await setRetention(node, retentionMsMin)
    const earlierMs = Date.UTC(2026, 2, 2) + retentionMsMin + retentionMarginMs
    await sweepTo(cluster, [node], earlierMs - 1)
    expect(await shown(cluster.log, stream)).toEqual(unpurged)
    await sweepTo(cluster, [node], earlierMs)
    expect(await shown(cluster.log, stream)).toEqual(purgedOnce)
  })

  test('are purged soon after the cellar keeps its readings for a shorter time', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const stream = refusalsStream(await makeTestKey(node))
    await refuseTwice(cluster.log, stream)
    await sweepTo(cluster, [node], noonMs + 3 * dayMs)
    await node.core.sweep()
    expect(await shown(cluster.log, stream)).toEqual(unpurged)
    await setRetention(node, retentionMsMin)
    await node.core.sweep()
    expect((await shown(cluster.log, stream)).at(-1)).toEqual([2, 'RecordsPurged'])
    expect(await shown(cluster.log, stream)).toHaveLength(1)
  })

  test('are looked for once a day', async () => {
    const cluster = new Cluster()
    const read = new Map<string, number>()
    const log: EventLog = {
      ...passingLog(cluster.log),
      read: (stream, options) => {
        if (stream.startsWith('refusals-') && stream !== nodeRefusalsStream) {
          read.set(stream, (read.get(stream) ?? 0) + 1)
        }
        return cluster.log.read(stream, options)
      },
    }
    const node = await cluster.open({}, log)
    const keys = [await makeTestKey(node), await makeTestKey(node)]
    cluster.clock.advance(dayMs)
    for (let sweep = 0; sweep < 3; sweep += 1) await node.core.sweep()
    expect([...read]).toEqual(keys.map((keyId) => [refusalsStream(keyId), 1]))
    cluster.clock.advance(dayMs)
    await node.core.sweep()
    expect([...read.values()]).toEqual([2, 2])
  })

  const failing = (log: EventLog, error: () => Error | null): EventLog => ({
    ...passingLog(log),
    read: (stream, options) => {
      const thrown = stream.startsWith('refusals-') && stream !== nodeRefusalsStream ? error() : null
      return thrown === null ? log.read(stream, options) : Promise.reject(thrown)
    },
  })

  test('are purged by the next sweep after an outage', async () => {
    const cluster = new Cluster()
    let isAway = false
    const away = () => (isAway ? new Outage('away', 'not_written', 'unavailable') : null)
    const node = await cluster.open({}, failing(cluster.log, away))
    const stream = refusalsStream(await makeTestKey(node))
    await refuseTwice(cluster.log, stream)
    await sweepTo(cluster, [node], dueMs - 1)
    isAway = true
    await sweepTo(cluster, [node], dueMs)
    expect(await shown(cluster.log, stream)).toEqual(unpurged)
    isAway = false
    await node.core.sweep()
    expect(await shown(cluster.log, stream)).toEqual(purgedOnce)
  })

  test('are purged although those of another key are damaged', async () => {
    const cluster = new Cluster()
    let damaged = 1
    const place = { stream: null, revision: null, position: null }
    const damage = () => {
      damaged -= 1
      return damaged === 0 ? new DamagedLog(place, 'a test') : null
    }
    const node = await cluster.open({}, failing(cluster.log, damage))
    const keys = [await makeTestKey(node), await makeTestKey(node)]
    for (const key of keys) await refuseTwice(cluster.log, refusalsStream(key))
    await sweepTo(cluster, [node], dueMs - 1)
    damaged = 1
    await sweepTo(cluster, [node], dueMs)
    const all = await Promise.all(keys.map((key) => shown(cluster.log, refusalsStream(key))))
    expect(all.toSorted((a, b) => a.length - b.length || Number(a[0]?.[0]) - Number(b[0]?.[0]))).toEqual([
      unpurged,
      purgedOnce,
    ])
    expect(node.bugs).toEqual([])
  })
})

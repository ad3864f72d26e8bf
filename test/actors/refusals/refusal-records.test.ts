import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { RefusedRequest } from '../../../src/actors/core-interface.ts'
import { refusalAppendsAtOnce } from '../../../src/actors/refusals/refusal-records.ts'
import type { EventData } from '../../../src/domain/events.ts'
import { refusalSumsKeysMax } from '../../../src/domain/refusals/refusal-sums.ts'
import { nodeRefusalsStream, refusalsStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs, refusalSummaryMsMax } from '../../../src/limits.ts'
import { collect } from '../../support/logs/collector.ts'
import { Cluster, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const [tenSeconds, minute, tenMinutes] = [10_000, 60_000, 600_000]

/** After this time, a node has earned the bytes for summaries of 1,000 keys. */
const hour = 3_600_000

const pass = async ({ clock }: Cluster, nodes: readonly TestNode[], ms: number): Promise<void> => {
  for (let passedMs = 0; passedMs < ms; passedMs += heartbeatMs) {
    clock.advance(heartbeatMs)
    for (const { schedule } of nodes) await schedule.advance(heartbeatMs)
  }
}

const refuse = (node: TestNode, keyId: string | null, more: Partial<RefusedRequest> = {}): void =>
  node.core.refusals.note({
    keyId,
    requestId: 'request',
    atMs: node.core.clock.now(),
    code: 'INVALID_VALUE',
    refusal: { kind: 'invalid_value' },
    names: null,
    count: 1,
    ...more,
  })

const summariesIn = async (cluster: Cluster, stream: string): Promise<readonly EventData<'ReadingsRefused'>[]> =>
  (await cluster.log.read(stream, { limit: 1_000 })).flatMap((event) =>
    event.type === 'ReadingsRefused' ? [event.data] : [],
  )
const countsIn = async (cluster: Cluster, stream: string) =>
  (await summariesIn(cluster, stream)).map(({ counts }) => counts.map(({ count }) => count))
const allCounted = async (cluster: Cluster): Promise<number> => {
  const all = (await cluster.all()).flatMap((event) => (event.type === 'ReadingsRefused' ? event.data.counts : []))
  return all.reduce((sum, { count }) => sum + count, 0)
}

describe('summaries of refusals', () => {
  test('come after 10 s, a minute, and then every 10 minutes', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const comeAtMs: number[] = []
    const startMs = cluster.clock.now()
    const end = startMs + tenSeconds + minute + 2 * tenMinutes
    while (cluster.clock.now() < end) {
      refuse(node, 'a')
      await pass(cluster, [node], heartbeatMs)
      const { length } = await summariesIn(cluster, refusalsStream('a'))
      if (length > comeAtMs.length) comeAtMs.push(cluster.clock.now() - startMs)
    }
    expect(comeAtMs).toEqual([
      tenSeconds,
      tenSeconds + minute,
      tenSeconds + minute + tenMinutes,
      tenSeconds + minute + 2 * tenMinutes,
    ])
    expect(await allCounted(cluster)).toBe((end - startMs) / heartbeatMs)
    expect(node.bugs).toEqual([])
  })

  test('of two nodes share the stream of the key', async () => {
    const cluster = new Cluster()
    const [slow, fast] = [await cluster.open(), await cluster.open()]
    refuse(slow, 'a', { count: 2 })
    refuse(fast, 'a')
    const held = slow.faults.hold('before')
    cluster.clock.advance(tenSeconds)
    await slow.schedule.advance(heartbeatMs)
    expect(held.waiting).toBe(1)
    await fast.schedule.advance(heartbeatMs)
    // The slow node has seen an empty stream, so it meets a conflict.
    held.release()
    await slow.schedule.quiet()
    expect(await countsIn(cluster, refusalsStream('a'))).toEqual([[1], [2]])
    expect([...slow.bugs, ...fast.bugs]).toEqual([])
  })

  test('are not written twice when a crash hides the answer', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    refuse(node, 'a')
    node.faults.failAppend({ fault: 'unknown_written', thenAway: true })
    await pass(cluster, [node], tenSeconds)
    refuse(node, 'a')
    // The node dies here: nothing lets its timers go off any more.
    const next = await cluster.open()
    refuse(next, 'a')
    await pass(cluster, [next], tenSeconds)
    expect(await countsIn(cluster, refusalsStream('a'))).toEqual([[1], [1]])
  })

  test.each(['unknown_written', 'unknown_not_written'] as const)(
    'are written once when the answer is %s',
    async (fault) => {
      const cluster = new Cluster()
      const node = await cluster.open()
      refuse(node, 'a')
      node.faults.failAppend({ fault })
      await pass(cluster, [node], tenMinutes)
      expect(await countsIn(cluster, refusalsStream('a'))).toEqual([[1]])
    },
  )

  test('merge while the store is away, for 1,000 keys and the node', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    cluster.clock.advance(hour)
    node.faults.goAway()
    const keys = refusalSumsKeysMax + 500
    let noted = 0
    for (let awayMs = 0; awayMs < minute; awayMs += 5_000) {
      for (let key = 0; key < keys; key += 1) refuse(node, `key-${key}`)
      noted += keys
      await pass(cluster, [node], 5_000)
    }
    expect(await allCounted(cluster)).toBe(0)
    node.faults.comeBack()
    await pass(cluster, [node], tenMinutes)
    const events = (await cluster.all()).filter(({ type }) => type === 'ReadingsRefused')
    expect(new Set(events.map(({ stream }) => stream)).size).toBe(refusalSumsKeysMax + 1)
    expect(await allCounted(cluster)).toBe(noted)
    expect(await countsIn(cluster, refusalsStream('key-0'))).toEqual([[minute / 5_000]])
    expect(await countsIn(cluster, refusalsStream(`key-${keys - 1}`))).toEqual([])
    expect(node.bugs).toEqual([])
  })

  test('are appended a few at a time, and delay no reading', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    cluster.clock.advance(hour)
    const keyId = await makeTestKey(node)
    for (let key = 0; key < 100; key += 1) refuse(node, `key-${key}`)
    const held = node.faults.hold('before')
    await pass(cluster, [node], tenSeconds + minute)
    expect(held.waiting).toBe(refusalAppendsAtOnce)
    held.release()
    expect(await node.post(keyId)).toMatchObject([{ ok: true }])
    await node.schedule.quiet()
    expect(await allCounted(cluster)).toBe(100)
  })

  test.each([
    ['has earned room', hour, 21],
    ['has just started', 0, 1],
  ])('are written when the node stops and %s, due or not', async (_, ranMs, events) => {
    const cluster = new Cluster()
    const node = await cluster.open()
    cluster.clock.advance(ranMs)
    for (let key = 0; key < 20; key += 1) refuse(node, `key-${key}`)
    refuse(node, null, { code: 'KEY_UNKNOWN' })
    await node.schedule.until(node.core.drain())
    expect(await allCounted(cluster)).toBe(21)
    expect(await cluster.all()).toHaveLength(events)
    expect(await countsIn(cluster, nodeRefusalsStream)).toEqual([events === 1 ? [1, 20] : [1]])
  })

  test('come within their longest wait, whatever room there is', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    for (let key = 0; key < refusalSumsKeysMax; key += 1) refuse(node, `key-${key}`)
    await pass(cluster, [node], refusalSummaryMsMax)
    expect(await allCounted(cluster)).toBe(refusalSumsKeysMax)
    const waits = (await cluster.all()).flatMap(({ type, data, recordedAt }) =>
      type === 'ReadingsRefused' ? [recordedAt - data.from] : [],
    )
    expect(waits.length).toBeLessThan(refusalSumsKeysMax)
    expect(Math.max(...waits)).toBeLessThan(refusalSummaryMsMax)
    const [merged] = await summariesIn(cluster, nodeRefusalsStream)
    expect(merged?.samples).toEqual([])
  })

  test('do not keep a node from stopping while the store hangs', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    refuse(node, 'a')
    node.faults.hold('before')
    await node.schedule.until(node.core.drain())
    expect(await allCounted(cluster)).toBe(0)
  })

  test('wait while the log refuses readings', async () => {
    const cluster = new Cluster()
    let isFull = true
    const node = await cluster.open()
    Object.defineProperty(node.core.log, 'refusesReadings', { get: () => isFull })
    for (let rounds = 0; rounds < 3; rounds += 1) {
      refuse(node, 'a')
      await pass(cluster, [node], minute)
    }
    expect(await countsIn(cluster, refusalsStream('a'))).toEqual([])
    isFull = false
    await pass(cluster, [node], heartbeatMs)
    expect(await countsIn(cluster, refusalsStream('a'))).toEqual([[3]])
  })

  test('are lost if they cause a bug, and the next ones are written', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    cluster.clock.advance(hour)
    refuse(node, 'a', { count: 0.5 })
    for (let key = 0; key < 2 * refusalAppendsAtOnce; key += 1) refuse(node, `key-${key}`)
    await pass(cluster, [node], tenSeconds)
    expect(node.bugs).toHaveLength(1)
    expect(await allCounted(cluster)).toBe(2 * refusalAppendsAtOnce)
    refuse(node, 'a')
    await pass(cluster, [node], tenMinutes)
    expect(await countsIn(cluster, refusalsStream('a'))).toEqual([[1]])
  })

  test('count refusals because of an outage for the node', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    for (const kind of ['store_unavailable', 'storage_full', 'overloaded'] as const) {
      refuse(node, 'a', { code: kind, refusal: { kind } })
    }
    await pass(cluster, [node], tenSeconds)
    expect(await summariesIn(cluster, refusalsStream('a'))).toEqual([])
    expect(await summariesIn(cluster, nodeRefusalsStream)).toMatchObject([
      { counts: [{ count: 1 }, { count: 1 }, { count: 1 }], samples: [] },
    ])
  })

  test('do not reach a subscription that keys depend on', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const keyId = await makeTestKey(node)
    const lifecycle = collect(cluster.log, { after: null, categories: ['cellarbook', 'cellar', 'key', 'operator'] })
    refuse(node, keyId)
    await pass(cluster, [node], tenSeconds)
    await node.schedule.until(node.core.keys.suspend(keyId, '', { by: { kind: 'cli' }, requestId: 'request' }))
    await lifecycle.until(({ events }) => events.at(-1)?.type === 'KeySuspended')
    expect(lifecycle.events.map(({ type }) => type)).toEqual(['CellarCreated', 'KeyCreated', 'KeySuspended'])
    expect(await countsIn(cluster, refusalsStream(keyId))).toEqual([[1]])
  })
})

import { describe, expect, test } from 'bun:test'
import { openCore } from '../../../src/actors/open-core.ts'
import type { NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import type { FoldedTo } from '../../../src/domain/log-reference.ts'
import {
  bodyHash,
  type Idempotency,
  idempotencyKeyHash,
  type Refusals,
} from '../../../src/domain/reading/idempotency-key.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import {
  heartbeatMs,
  idempotencyMarginMs,
  idempotencyMarkMs,
  idempotencyMs,
  idempotencyStartMsMax,
  idempotencyStartPagesMax,
  idempotencyWaitingMax,
  idempotencyWrittenAtOnce,
  readPageEventsMax,
  storeRetryPauseMsMax,
} from '../../../src/limits.ts'
import type { EventLog, ExpectedRevision, ReadAllOptions } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { nextTurn } from '../../../src/log/pages-of-log.ts'
import { IndexBusy, IndexUnusable, type RepeatsChange, type RepeatsIndex } from '../../../src/log/repeats-index.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { lateLog } from '../../support/logs/late-log.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { createMemoryRepeatsIndex } from '../../support/logs/memory-repeats-index.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

const bytes = new TextEncoder().encode('body')

const idempotencyOf = (key: string, refusals: Refusals | null = null): Idempotency => ({
  keyHash: idempotencyKeyHash(key) ?? '',
  bodyHash: bodyHash(bytes),
  batch: { accepted: 1, refusals },
})

const bounds = { readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: null }
const judgement: Refusals = { kind: 'judgement', rejected: 999, rules: 1, atMs: 0, bounds }
const verdicts: Refusals = {
  kind: 'verdicts',
  items: Array.from({ length: 999 }, (_, index) => ({ index, refusal: { kind: 'invalid_value' } })),
}

/**
 * At most this number of batches with `verdicts` may wait to be written to the index. Each counts as 1,000 idempotency keys:
 * one, and one for each of its 999 refused items.
 */
const verdictsMax = Math.floor(idempotencyWaitingMax / 1_000)

/**
 * Appends readings as another node does: no node of the test knows them before it hears of them. Each reading has its own
 * idempotency key.
 */
const appendElsewhere = async (
  cluster: Cluster,
  keyId: string,
  { keys, refusals }: { readonly keys: readonly string[]; readonly refusals: Refusals | null },
): Promise<void> => {
  const stream = readingsStream(keyId)
  const [last] = await cluster.log.read(stream, { direction: 'backwards', limit: 1 })
  const events = keys.map((key): NewEvent<'ReadingAccepted'> => {
    const id = cluster.newId()
    const by = { kind: 'key', keyId } as const
    const metadata = {
      by,
      requestId: id,
      correlationId: id,
      causationId: id,
      idempotency: idempotencyOf(key, refusals),
    }
    return { id, type: 'ReadingAccepted', recordedAt: cluster.clock.now(), data: reading, metadata }
  })
  await cluster.log.append(stream, last?.revision ?? 'none', events)
}

const send = async (node: TestNode, cluster: Cluster, keyId: string, key = 'one') => {
  const idempotency = idempotencyOf(key)
  const request = { requestId: cluster.newId(), idempotency, refusal: null }
  const answer = await node.schedule.until(node.core.keys.acceptIdempotent(keyId, columnsOf([reading]), request))
  return answer.ok ? (answer.value.repeats === null ? 'stored' : 'repeated') : answer.refusal.kind
}

/** An index that fails as a file on a bad disk does. */
class FaultyIndex implements RepeatsIndex {
  readonly inner = createMemoryRepeatsIndex()
  readonly changes: RepeatsChange[] = []
  startedAnew = 0
  isDamaged = false
  /** Damage that only `check` finds. */
  isDamagedInside = false
  isBusy = false
  busyWrites = 0
  /** Writes wait until this promise resolves. `null`: writes do not wait. */
  held: Promise<void> | null = null

  get foldedTo(): FoldedTo | null {
    return this.inner.foldedTo
  }
  find(stream: string, keyHash: string) {
    this.#look()
    return this.inner.find(stream, keyHash)
  }
  async write(change: RepeatsChange): Promise<void> {
    this.#look()
    if (this.isBusy) {
      this.busyWrites += 1
      throw new IndexBusy('database or disk is full')
    }
    this.changes.push(change)
    await this.held
    await this.inner.write(change)
  }
  async check(): Promise<void> {
    if (this.isDamagedInside) await this.startAnew()
    this.isDamagedInside = false
  }
  async startAnew(): Promise<void> {
    this.startedAnew += 1
    this.isDamaged = false
    await this.inner.startAnew()
  }
  async close(): Promise<void> {}

  #look(): void {
    if (this.isDamaged) throw new IndexUnusable('the page is torn')
  }
}

const opened = async (options: Parameters<typeof makeTestKey>[1] = {}) => {
  const cluster = new Cluster()
  const index = new FaultyIndex()
  const node = await cluster.open({ idempotency: index })
  return { cluster, index, node, keyId: await makeTestKey(node, options) }
}

describe('the memory of idempotency keys', () => {
  test('moves to the index with the next heartbeat', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    node.late.deliver()
    expect(index.changes.flatMap(({ appends }) => appends)).toEqual([])
    await node.schedule.advance(heartbeatMs)
    expect(index.changes.at(-1)?.appends).toHaveLength(1)
    expect(index.foldedTo?.position).toBe((await cluster.all()).at(-1)?.position ?? 0)
    await node.schedule.advance(heartbeatMs)
    expect(index.changes).toHaveLength(1)
    expect(await send(node, cluster, keyId)).toBe('repeated')
  })

  test('marks in an idle index how far it folded', async () => {
    const { cluster, index, node, keyId } = await opened()
    await node.post(keyId, 10)
    node.late.deliver()
    await node.schedule.advance(idempotencyMarkMs)
    expect(index.changes.map(({ appends }) => appends.length)).toEqual([0])
    expect(index.foldedTo?.position).toBe((await cluster.all()).length)
    await node.schedule.advance(10 * idempotencyMarkMs)
    expect(index.changes).toHaveLength(1)
  })

  test('is in the index after a drain', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    node.late.deliver()
    await node.core.drain()
    expect(index.changes.at(-1)?.appends).toHaveLength(1)
    expect(index.foldedTo?.position).toBe((await cluster.all()).length)
  })

  test('forgets an entry that counts on no node', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    await node.core.drain()
    cluster.clock.advance(idempotencyMs + idempotencyMarginMs + 1)
    await (await cluster.open()).post(keyId)
    const later = await cluster.open({ idempotency: index })
    await send(later, cluster, keyId, 'two')
    await later.schedule.advance(heartbeatMs)
    const { forgetBeforeMs } = index.changes.at(-1) ?? { forgetBeforeMs: 0 }
    expect(forgetBeforeMs).toBe(cluster.clock.now() - idempotencyMs - idempotencyMarginMs)
    expect(index.inner.find(`readings-${keyId}`, idempotencyKeyHash('one') ?? '')).toBeNull()
  })

  test('forgets nothing early while a clock is ahead', async () => {
    const { cluster, index, node, keyId } = await opened()
    const other = await makeTestKey(node)
    await send(node, cluster, keyId)
    await node.schedule.advance(heartbeatMs)
    const ahead = 2 * idempotencyMs
    cluster.clock.advance(ahead)
    await send(node, cluster, other, 'other')
    node.late.deliver()
    await node.schedule.advance(idempotencyMarkMs)
    cluster.clock.advance(-ahead)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    await node.core.drain()
    for (const idempotency of [index, createMemoryRepeatsIndex()]) {
      cluster.clock.advance(ahead)
      const restarted = await cluster.open({ idempotency })
      await restarted.schedule.advance(idempotencyMarkMs)
      cluster.clock.advance(-ahead)
      expect(await send(restarted, cluster, keyId)).toBe('repeated')
    }
  })

  test('follows a clock at most at twice its pace', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    await node.schedule.advance(heartbeatMs)
    const writtenMs = cluster.clock.now()
    cluster.clock.advance(idempotencyMs)
    for (const second of ['two', 'three']) {
      await send(node, cluster, keyId, second)
      await node.schedule.advance(heartbeatMs)
    }
    const before = writtenMs - idempotencyMs - idempotencyMarginMs
    expect(index.changes.map(({ forgetBeforeMs }) => (forgetBeforeMs - before) / heartbeatMs).slice(-2)).toEqual([2, 4])
  })

  test('is rebuilt when the index is damaged', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    await node.schedule.advance(heartbeatMs)
    index.isDamaged = true
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    expect((await node.post(keyId))[0]).toMatchObject({ ok: true })
    await node.schedule.advance(storeRetryPauseMsMax)
    expect(index.startedAnew).toBe(1)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    expect(node.bugs).toEqual([])
  })

  test('is rebuilt when the index cannot be written', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    index.isDamaged = true
    await node.schedule.advance(heartbeatMs + storeRetryPauseMsMax)
    expect(index.startedAnew).toBe(1)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    expect((await cluster.streams(keyId)).readings).toHaveLength(1)
  })

  test('keeps entries while the disk is full, without a rebuild', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    node.late.deliver()
    index.isBusy = true
    await node.schedule.advance(3 * storeRetryPauseMsMax)
    expect(index.busyWrites).toBeGreaterThan(1)
    expect(index.busyWrites).toBeLessThanOrEqual(3)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    index.isBusy = false
    await node.schedule.advance(storeRetryPauseMsMax + heartbeatMs)
    expect(index.changes.at(-1)?.appends).toHaveLength(1)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    expect(index.startedAnew).toBe(0)
    expect(node.bugs).toEqual([])
  })

  test('leaves entries to the next start on a full disk', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    index.isBusy = true
    await node.schedule.until(node.core.drain())
    index.isBusy = false
    const restarted = await cluster.open({ idempotency: index })
    expect(index.startedAnew).toBe(0)
    expect(await send(restarted, cluster, keyId)).toBe('repeated')
  })

  const bounded: [title: string, ...full: { readonly count: number; readonly refusals: Refusals | null }[]][] = [
    ['a batch counts as one entry', { count: idempotencyWaitingMax, refusals: judgement }],
    [
      'a first-version batch counts its verdicts, too',
      { count: verdictsMax, refusals: verdicts },
      { count: idempotencyWaitingMax % 1_000, refusals: null },
    ],
  ]
  for (const [title, ...full] of bounded) {
    test(`is bounded in memory: ${title}`, async () => {
      const { cluster, index, node, keyId } = await opened({ limit: { readings: 1_000_000, windowMs: 60_000 } })
      const released = Promise.withResolvers<void>()
      index.held = released.promise
      for (const [at, { count, refusals }] of full.entries()) {
        const keys = Array.from({ length: count }, (_, number) => `key ${at} ${number}`)
        await appendElsewhere(cluster, keyId, { keys, refusals })
      }
      node.late.deliver()
      expect(await send(node, cluster, keyId, 'key 0 0')).toBe('repeated')
      await appendElsewhere(cluster, keyId, { keys: ['one more'], refusals: null })
      node.late.deliver()
      expect(await send(node, cluster, keyId, 'key 0 0')).toBe('store_unavailable')
      expect((await node.post(keyId))[0]).toMatchObject({ ok: true })
      released.resolve()
      await node.schedule.advance(2 * storeRetryPauseMsMax)
      expect(await send(node, cluster, keyId, 'one more')).toBe('repeated')
      expect(await send(node, cluster, keyId, 'new')).toBe('stored')
      expect(node.bugs).toEqual([])
    })
  }

  /** Restores a copy of the log. The copy lacks the idempotency keys that `lost` wrote, but the index still has them. */
  const putBack = async (lost: (node: TestNode, cluster: Cluster, keyId: string) => Promise<void>) => {
    const { cluster, index, node, keyId } = await opened()
    const copy = await cluster.all()
    await lost(node, cluster, keyId)
    node.late.deliver()
    await node.schedule.advance(heartbeatMs)
    await node.core.drain()
    const restored = new Cluster()
    const last = cluster.newId()
    // Both clusters draw the same ids in the same order. So the restored cluster skips the ids that the first cluster has used.
    while (restored.newId() < last);
    for (const { stream, revision, position: _, ...event } of copy) {
      await restored.log.append(stream, revision === 0 ? 'none' : revision - 1, [event])
    }
    return { index, restored, keyId }
  }
  const one = async (node: TestNode, cluster: Cluster, keyId: string): Promise<void> => {
    await send(node, cluster, keyId)
  }

  test('is rebuilt after the log was restored from a copy', async () => {
    const { index, restored, keyId } = await putBack(one)
    const later = await restored.open({ idempotency: index })
    expect(index.startedAnew).toBe(1)
    expect([await send(later, restored, keyId), await send(later, restored, keyId)]).toEqual(['stored', 'repeated'])
  })

  test('is rebuilt when a restored log outgrew the index', async () => {
    const { index, restored, keyId } = await putBack(one)
    await (await restored.open()).post(keyId, 5)
    const later = await restored.open({ idempotency: index })
    expect((await restored.all()).length).toBeGreaterThan(index.changes.at(-1)?.foldedTo?.position ?? 0)
    expect([await send(later, restored, keyId), await send(later, restored, keyId)]).toEqual(['stored', 'repeated'])
    expect(index.startedAnew).toBe(1)
  })

  test('is rebuilt when the index’s last event was purged', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    node.late.deliver()
    await node.schedule.advance(heartbeatMs)
    await node.core.drain()
    cluster.clock.advance(idempotencyMs + idempotencyMarginMs + 1)
    const other = await cluster.open()
    expect(await send(other, cluster, keyId, 'two')).toBe('stored')
    await cluster.log.truncate(readingsStream(keyId), 1)
    const later = await cluster.open({ idempotency: index })
    expect(index.startedAnew).toBe(1)
    expect([await send(later, cluster, keyId, 'two'), await send(later, cluster, keyId)]).toEqual([
      'repeated',
      'stored',
    ])
  })

  test('does not change the next revision of an empty stream', async () => {
    const { cluster, index, node, keyId } = await opened()
    await node.core.drain()
    const idempotency = idempotencyOf('one')
    const phantom = { stream: readingsStream(keyId), revision: 0, recordedAt: cluster.clock.now(), idempotency }
    await index.inner.write({ appends: [phantom], foldedTo: null, forgetBeforeMs: 0 })
    const expected: ExpectedRevision[] = []
    const append = cluster.log.append.bind(cluster.log)
    const later = await cluster.open({ idempotency: index })
    cluster.log.append = (stream, at, events) => {
      expected.push(at)
      return append(stream, at, events)
    }
    expect(await send(later, cluster, keyId)).toBe('repeated')
    expect((await later.post(keyId))[0]).toMatchObject({ ok: true })
    expect(expected).toEqual(['none'])
  })
})

describe('a start', () => {
  /** Leaves a checkpoint, and an index with all idempotency keys except `late`. */
  const withCheckpoint = async () => {
    const cluster = new Cluster()
    await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
    const index = new FaultyIndex()
    const checkpoints = new MemoryCheckpoints()
    const node = await cluster.open({ idempotency: index, checkpoints })
    const keyId = await makeTestKey(node)
    for (let count = 0; count < 5; count += 1) await node.post(keyId, 900)
    node.late.deliver()
    await node.schedule.advance(idempotencyMarkMs + heartbeatMs)
    await send(node, cluster, keyId, 'late')
    node.late.deliver()
    index.isBusy = true
    await node.schedule.until(node.core.drain())
    index.isBusy = false
    expect(checkpoints.writes).toBe(1)
    return { cluster, index, checkpoints, keyId }
  }
  /** The cluster's log, which adds each read of a page to `pages`. */
  const watched = (cluster: Cluster, pages: ReadAllOptions[]): EventLog => ({
    ...passingLog(cluster.log),
    readAll: (options) => {
      if (options.limit > 1) pages.push(options)
      return cluster.log.readAll(options)
    },
  })

  test('reads only what its index lacks', async () => {
    const { cluster, index, checkpoints, keyId } = await withCheckpoint()
    const pages: ReadAllOptions[] = []
    const node = await cluster.open({ idempotency: index, checkpoints }, watched(cluster, pages))
    expect(pages).toHaveLength(1)
    expect(await send(node, cluster, keyId, 'late')).toBe('repeated')
    await cluster.open({ checkpoints }, watched(cluster, pages))
    expect(pages).toHaveLength(1 + Math.ceil((await cluster.all()).length / readPageEventsMax))
  })

  test('rebuilds its index if the check of the index finds damage', async () => {
    const { cluster, index, checkpoints, keyId } = await withCheckpoint()
    index.isDamagedInside = true
    const pages: ReadAllOptions[] = []
    const node = await cluster.open({ idempotency: index, checkpoints }, watched(cluster, pages))
    expect(index.startedAnew).toBe(1)
    expect(pages.length).toBeGreaterThan(1)
    expect(await send(node, cluster, keyId, 'late')).toBe('repeated')
  })

  test('reads nothing if the subscription delivers what the index lacks', async () => {
    const { cluster, index, checkpoints, keyId } = await withCheckpoint()
    await (await cluster.open({ idempotency: index, checkpoints })).core.drain()
    const pages: ReadAllOptions[] = []
    // In the first round, the index is ahead of the checkpoint. In the second, the checkpoint is lost. In the third, both are
    // lost.
    for (const parts of [{ idempotency: index, checkpoints }, { idempotency: index }, {}]) {
      const node = await cluster.open(parts, watched(cluster, pages))
      expect(await send(node, cluster, keyId, 'late')).toBe('repeated')
    }
    expect(pages).toEqual([])
  })

  test('reads one day of the log when its index is lost', async () => {
    const { cluster, checkpoints, keyId } = await withCheckpoint()
    cluster.clock.advance(idempotencyMs + idempotencyMarginMs + 1)
    await (await cluster.open()).post(keyId)
    const pages: ReadAllOptions[] = []
    await cluster.open({ checkpoints }, watched(cluster, pages))
    expect(pages).toHaveLength(1)
  })

  test('serves before a long day is read, and refuses idempotency keys', async () => {
    const { cluster, checkpoints, keyId } = await withCheckpoint()
    const released = Promise.withResolvers<void>()
    let pages = 0
    const [event] = await cluster.all()
    if (event === undefined) throw new Error('the log is empty')
    const endless: EventLog = {
      ...passingLog(cluster.log),
      readAll: async ({ limit }) => {
        if (limit === 1) return [event]
        pages += 1
        if (pages > idempotencyStartPagesMax + 1) await released.promise
        return pages > idempotencyStartPagesMax + 2 ? [] : new Array<RecordedEvent>(readPageEventsMax).fill(event)
      },
    }
    const node = await cluster.open({ checkpoints }, endless)
    expect(pages).toBe(idempotencyStartPagesMax + 2)
    expect(await send(node, cluster, keyId, 'new')).toBe('store_unavailable')
    released.resolve()
    while (pages <= idempotencyStartPagesMax + 2) await node.schedule.quiet()
    await node.schedule.quiet()
    expect(await send(node, cluster, keyId, 'new')).toBe('stored')
  })

  test('does not wait for a slow page', async () => {
    const { cluster, checkpoints, keyId } = await withCheckpoint()
    const page = Promise.withResolvers<readonly RecordedEvent[]>()
    const readAll: EventLog['readAll'] = (options) =>
      options.limit === 1 ? cluster.log.readAll(options) : page.promise
    const [schedule, { clock }] = [drivenSchedule(), cluster]
    const log = { ...passingLog(cluster.log), readAll }
    const parts = { log, clock, schedule, entropy: seededEntropy(9), idempotency: createMemoryRepeatsIndex() }
    const core = await schedule.until(
      openCore({ ...parts, checkpoints: { store: checkpoints } }),
      idempotencyStartMsMax,
    )
    const node = { ...(await cluster.open()), core, schedule }
    expect(await send(node, cluster, keyId, 'new')).toBe('store_unavailable')
    expect(core.indexTrouble()).toEqual({ kind: 'folding', why: 'it is read from the log' })
    page.resolve(await cluster.log.readAll({ direction: 'backwards', limit: 9 }))
    await schedule.quiet()
    expect(await send(node, cluster, keyId, 'new')).toBe('stored')
    expect(core.indexTrouble()).toBeNull()
  })

  test('that overruns its index reads back once it has caught up', async () => {
    const { cluster, node, keyId } = await opened()
    for (const half of ['one', 'two']) {
      const keys = Array.from({ length: verdictsMax + 2 }, (_, count) => `${half} ${count}`)
      await appendElsewhere(cluster, keyId, { keys, refusals: verdicts })
      node.late.deliver()
      for (let count = 0; count < 3; count += 1) await node.post(keyId, 1_000)
    }
    const pages: ReadAllOptions[] = []
    const log = watched(cluster, pages)
    const pagesWhenFolded: number[] = []
    const subscribe: EventLog['subscribe'] = (options, subscriber) =>
      cluster.log.subscribe(options, {
        ...subscriber,
        onCaughtUp: () => {
          pagesWhenFolded.push(pages.length)
          subscriber.onCaughtUp?.()
        },
      })
    const index = new FaultyIndex()
    index.held = nextTurn()
    const later = await cluster.open({ idempotency: index }, { ...log, subscribe })
    await later.schedule.quiet()
    expect(await send(later, cluster, keyId, 'one 0')).toBe('repeated')
    expect(pagesWhenFolded).toEqual([0])
    expect(pages).toHaveLength(Math.ceil((await cluster.all()).length / readPageEventsMax))
  })
})

test('key events that come early do not make repeats known', async () => {
  const cluster = new Cluster()
  const first = await cluster.open()
  const keyId = await makeTestKey(first)
  const log = splitLog(cluster.log)
  const schedule = drivenSchedule()
  const core = await openCore({
    log,
    clock: cluster.clock,
    entropy: seededEntropy(9),
    schedule,
    idempotency: createMemoryRepeatsIndex(),
  })
  await send(first, cluster, keyId)
  await first.post(keyId, 2 * readPageEventsMax)
  await makeTestKey(first)
  await schedule.quiet()
  const second = { ...first, core, schedule }
  expect(await send(second, cluster, keyId)).toBe('repeated')
})

/** Delays the subscription to all events. A subscription to some categories gets its events at once. */
const splitLog = (log: EventLog): EventLog => {
  const late = lateLog(log)
  return {
    ...passingLog(log),
    lags: true,
    subscribe: (options, subscriber) =>
      options.categories === undefined ? late.subscribe(options, subscriber) : log.subscribe(options, subscriber),
  }
}

test('of two uses of an idempotency key the later one is found', async () => {
  const cluster = new Cluster()
  await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
  const checkpoints = new MemoryCheckpoints()
  const first = await cluster.open()
  const keyId = await makeTestKey(first, { limit: { readings: 100_000, windowMs: 1_000 } })
  expect(await send(first, cluster, keyId)).toBe('stored')
  cluster.clock.advance(idempotencyMs + idempotencyMarginMs / 2)
  await first.post(keyId)
  const node = await cluster.open({ checkpoints })
  expect(await send(node, cluster, keyId)).toBe('stored')
  // So many uses cause a write to the index. It then has the later use, but the node has not heard of the earlier one.
  for (let other = 1; other < idempotencyWrittenAtOnce; other += 1) await send(node, cluster, keyId, `other ${other}`)
  node.late.deliver()
  await node.schedule.until(node.core.drain())
  const restarted = await cluster.open({ checkpoints })
  expect(await send(restarted, cluster, keyId)).toBe('repeated')
})

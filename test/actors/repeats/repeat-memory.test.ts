import { describe, expect, test } from 'bun:test'
import { createProjections } from '../../../projections/projections.ts'
import { ActorContext } from '../../../src/actors/actor-context.ts'
import { openCore } from '../../../src/actors/open-core.ts'
import { idempotencyStartMsMax, idempotencyWaitingMax } from '../../../src/actors/repeats/repeat-memory.ts'
import type { NewEvent } from '../../../src/domain/events.ts'
import {
  bodyHash,
  type Idempotency,
  type IdempotentAppend,
  idempotencyKeyHash,
} from '../../../src/domain/reading/idempotency-key.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs, idempotencyMarginMs, idempotencyMs, readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { FakeRepeatsIndex } from '../../support/fake-repeats-index.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { lateLog } from '../../support/logs/late-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { Recorder } from '../../support/recorder.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

const idempotencyOf = (key: string): Idempotency => ({
  keyHash: idempotencyKeyHash(key) ?? '',
  bodyHash: bodyHash(new TextEncoder().encode('body')),
  batch: { accepted: 1, refusals: null },
})

/** Appends readings as another node does. Each reading has its own idempotency key. */
const appendElsewhere = async (cluster: Cluster, keyId: string, keys: readonly string[]): Promise<void> => {
  const stream = readingsStream(keyId)
  const [last] = await cluster.log.read(stream, { direction: 'backwards', limit: 1 })
  const events = keys.map((key): NewEvent<'ReadingAccepted'> => {
    const id = cluster.newId()
    const ids = { requestId: id, correlationId: id, causationId: id }
    const metadata = { by: { kind: 'key', keyId } as const, ...ids, idempotency: idempotencyOf(key) }
    return { id, type: 'ReadingAccepted', recordedAt: cluster.clock.now(), data: reading, metadata }
  })
  await cluster.log.append(stream, last?.revision ?? 'none', events)
}

const send = async (node: TestNode, cluster: Cluster, keyId: string, key = 'one') => {
  const request = { requestId: cluster.newId(), idempotency: idempotencyOf(key), refusal: null }
  const answer = await node.schedule.until(node.core.keys.acceptIdempotent(keyId, columnsOf([reading]), request))
  return answer.ok ? (answer.value.repeats === null ? 'stored' : 'repeated') : answer.refusal.kind
}

const opened = async (options: Parameters<typeof makeTestKey>[1] = {}) => {
  const cluster = new Cluster()
  const index = new FakeRepeatsIndex(cluster.log)
  const node = await cluster.open({ idempotency: index })
  const keyId = await makeTestKey(node, options)
  await index.commit()
  return { cluster, index, node, keyId }
}

describe('RepeatMemory', () => {
  const stream = readingsStream('k1')
  const appendOf = (key: string, revision: number): IdempotentAppend => ({
    stream,
    revision,
    recordedAt: 1_000,
    idempotency: idempotencyOf(key),
  })

  /** The index has nothing but its position, so a look-up finds only what is in memory. */
  const alone = async () => {
    const schedule = drivenSchedule()
    const onBug = (bug: unknown): never => {
      throw bug
    }
    const projections = createProjections()
    const parts = { log: createMemoryLog(), clock: manualClock(1_000), entropy: seededEntropy(1) }
    const index = new FakeRepeatsIndex(createMemoryLog())
    const { repeats: memory } = new ActorContext({ ...parts, schedule, projections, onBug, repeatsIndex: index })
    await schedule.until(memory.begin(null))
    const foldedTo = (position: number): Promise<void> => {
      index.foldedTo = position
      return index.commit()
    }
    await foldedTo(0)
    const recorder = new Recorder()
    return {
      memory,
      foldedTo,
      /** The projections hear of one more reading of the stream. Returns its position. */
      hear: (of = stream): number => {
        const event = recorder.record(of, { type: 'ReadingAccepted', data: reading }, { at: 1_000 })
        projections.fold([event])
        return event.position
      },
      find: (key: string) => {
        const found = memory.find(stream, idempotencyKeyHash(key) ?? '')
        return found === null || found === 'unknown' ? found : found.revision
      },
    }
  }

  test('keeps an entry until its event is heard and the index has it', async () => {
    const { memory, foldedTo, hear, find } = await alone()
    hear('readings-k2')
    memory.keep(appendOf('one', 0))
    await foldedTo(100)
    expect(find('one')).toBe(0)
    await foldedTo(1)
    const position = hear()
    await foldedTo(position - 1)
    expect(find('one')).toBe(0)
    await foldedTo(position)
    expect(find('one')).toBeNull()
  })

  test('knows nothing while an index that is built again lacks what memory has forgotten', async () => {
    const { memory, foldedTo, hear, find } = await alone()
    memory.keep(appendOf('one', 0))
    const position = hear()
    await foldedTo(position)
    await foldedTo(position - 1)
    expect([find('one'), memory.foldedTo, memory.trouble?.kind]).toEqual(['unknown', -1, 'folding'])
    await foldedTo(position)
    expect([find('one'), memory.foldedTo, memory.trouble]).toEqual([null, position, null])
  })

  test('knows nothing while it has as many entries as it may', async () => {
    const count = idempotencyWaitingMax
    const { memory, foldedTo, hear, find } = await alone()
    for (let revision = 0; revision < count - 1; revision += 1) {
      memory.keep(appendOf(`key ${revision}`, revision))
    }
    expect(find('key 0')).toBe(0)
    memory.keep(appendOf('last', count - 1))
    expect([find('key 0'), memory.trouble?.kind]).toEqual(['unknown', 'unusable'])
    for (let revision = 0; revision < count; revision += 1) hear()
    await foldedTo(count)
    expect([find('key 0'), memory.trouble]).toEqual([null, null])
  })

  test('knows nothing until the index has what came while it was full', async () => {
    const { memory, foldedTo, hear, find } = await alone()
    for (let revision = 0; revision < idempotencyWaitingMax; revision += 1) {
      memory.keep(appendOf(`key ${revision}`, 0))
    }
    const heard = hear()
    const recorder = new Recorder()
    const { metadata, ...event } = recorder.record('readings-k2', { type: 'ReadingAccepted', data: reading })
    const position = heard + 1
    memory.learn([{ ...event, position, metadata: { ...metadata, idempotency: idempotencyOf('late') } }])
    await foldedTo(heard)
    expect(find('key 0')).toBe('unknown')
    await foldedTo(position)
    expect(find('key 0')).toBeNull()
  })
})

describe('a node', () => {
  test('finds an entry in memory, and later in the index', async () => {
    const { cluster, index, node, keyId } = await opened()
    expect([await send(node, cluster, keyId), await send(node, cluster, keyId)]).toEqual(['stored', 'repeated'])
    expect(index.size).toBe(0)
    node.late.deliver()
    await index.commit()
    expect(index.size).toBe(1)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    expect((await cluster.streams(keyId)).readings).toHaveLength(1)
  })

  test('refuses idempotency keys after its index was lost, until it is built again', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    node.late.deliver()
    await index.commit()
    index.lose()
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    expect((await node.post(keyId))[0]).toMatchObject({ ok: true })
    const [first] = await cluster.all()
    await index.commit(first?.position)
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    await index.commit()
    expect(await send(node, cluster, keyId)).toBe('repeated')
    expect(node.bugs).toEqual([])
  })

  test('refuses idempotency keys while a look-up finds damage', async () => {
    const { cluster, index, node, keyId } = await opened()
    await send(node, cluster, keyId)
    index.isDamaged = true
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    index.isDamaged = false
    expect(await send(node, cluster, keyId)).toBe('repeated')
  })

  test('reads in the log what its index does not have yet', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 1_000_000, windowMs: 1_000 } })
    await appendElsewhere(cluster, keyId, ['one'])
    const other = await cluster.open()
    for (let count = 0; count < 5; count += 1) await other.post(keyId, readPageEventsMax)
    cluster.clock.advance(2_000)
    expect(await send(node, cluster, keyId)).toBe('repeated')
  })

  test('starts before a long rebuild is done, and refuses idempotency keys meanwhile', async () => {
    const { cluster, node: first, keyId } = await opened()
    await send(first, cluster, keyId)
    const index = new FakeRepeatsIndex(cluster.log)
    index.isAway = true
    const { log, clock } = cluster
    const schedule = drivenSchedule()
    const starting = openCore({ log, clock, schedule, entropy: seededEntropy(9), idempotency: index })
    const core = await schedule.until(starting, idempotencyStartMsMax)
    const node = { ...first, core, schedule }
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    expect(core.indexTrouble()).toEqual({ kind: 'folding', why: 'it is read from the log' })
    await index.commit(1)
    expect(await send(node, cluster, keyId)).toBe('store_unavailable')
    await index.commit()
    expect(core.indexTrouble()).toBeNull()
    expect(await send(node, cluster, keyId)).toBe('repeated')
  })

  test('forgets nothing early while a clock is ahead', async () => {
    const { cluster, index, node, keyId } = await opened()
    const other = await makeTestKey(node)
    await send(node, cluster, keyId)
    const ahead = 2 * idempotencyMs
    cluster.clock.advance(ahead)
    await send(node, cluster, other, 'other')
    node.late.deliver()
    await node.schedule.advance(heartbeatMs)
    cluster.clock.advance(-ahead)
    expect(await send(node, cluster, keyId)).toBe('repeated')
    await node.core.drain()
    for (const idempotency of [index, new FakeRepeatsIndex(cluster.log)]) {
      cluster.clock.advance(ahead)
      const restarted = await cluster.open({ idempotency })
      await restarted.schedule.advance(heartbeatMs)
      cluster.clock.advance(-ahead)
      expect(await send(restarted, cluster, keyId)).toBe('repeated')
    }
  })

  test('finds the later one of two uses of an idempotency key', async () => {
    const { cluster, index, node: first, keyId } = await opened()
    expect(await send(first, cluster, keyId)).toBe('stored')
    first.late.deliver()
    await index.commit()
    cluster.clock.advance(idempotencyMs + idempotencyMarginMs / 2)
    await first.post(keyId)
    const node = await cluster.open({ idempotency: index })
    expect([await send(node, cluster, keyId), await send(node, cluster, keyId)]).toEqual(['stored', 'repeated'])
    await index.commit()
    const restarted = await cluster.open({ idempotency: index })
    expect(await send(restarted, cluster, keyId)).toBe('repeated')
  })

  test('does not take early key events for the readings before them', async () => {
    const cluster = new Cluster()
    const first = await cluster.open()
    const keyId = await makeTestKey(first)
    const schedule = drivenSchedule()
    const index = new FakeRepeatsIndex(cluster.log)
    const parts = { clock: cluster.clock, entropy: seededEntropy(9), schedule, idempotency: index }
    const core = await openCore({ ...parts, log: splitLog(cluster.log) })
    await send(first, cluster, keyId)
    await first.post(keyId, 2 * readPageEventsMax)
    await makeTestKey(first)
    await schedule.quiet()
    expect(await send({ ...first, core, schedule }, cluster, keyId)).toBe('repeated')
  })
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

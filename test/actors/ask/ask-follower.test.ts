import { describe, expect, test } from 'bun:test'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { ColumnsBuilder, Name } from '../../../src/domain/reading/columns.ts'
import type { LogItem } from '../../../src/domain/reading/recorded-run.ts'
import { isRecordStream, signInsStream } from '../../../src/domain/stream-names.ts'
import {
  askAnewPauseMsMax,
  askEntriesAtOnce,
  askEntriesMax,
  askWriteEveryMs,
  batchReadingsMax,
  checkDelayMs,
  checkpointEventsMin,
  logReadPageEvents,
} from '../../../src/limits.ts'
import { AskBusy, AskUnusable } from '../../../src/log/ask-index.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { allEvents, askFromLog } from '../../support/ask/ask-from-log.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { asker, Cluster, cellar, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

/** Lets the node catch up, and write all that it has. */
const settle = async (node: TestNode): Promise<void> => {
  node.late.deliver()
  await node.schedule.advance(askWriteEveryMs + 1_000)
}

const expectWhole = async (index: MemoryAskIndex, log: EventLog): Promise<void> => {
  const events = await allEvents(log)
  expect(index.contents()).toEqual(askFromLog(events))
  expect(index.foldedTo?.position).toBe(events.at(-1)?.position ?? 0)
}

const recordSignIn = async (log: EventLog, number: number): Promise<void> => {
  const [last] = await log.read(signInsStream, { direction: 'backwards', limit: 1 })
  const data = { email: 'ada@example.org', sessionId: 's', address: '192.0.2.1', browser: 'b' }
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  const metadata = { by: { kind: 'system' }, requestId: id, correlationId: id, causationId: id } as const
  const event = { id, type: 'SignInSeen', recordedAt: Date.UTC(2026, 2, 1, 12), data, metadata } as const
  await log.append(signInsStream, last?.revision ?? 'none', [event])
}

/** A node whose index is empty, on a log with several pages of events. */
const behind = async (log?: (inner: EventLog) => EventLog) => {
  const cluster = new Cluster()
  const first = await cluster.open()
  const keyId = await makeTestKey(first)
  await first.post(keyId, 2 * logReadPageEvents + 50)
  const index = new MemoryAskIndex()
  const node = await cluster.open({ ask: index }, log?.(cluster.log) ?? cluster.log)
  return { cluster, first, keyId, index, node }
}

describe('AskFollower', () => {
  test('builds the index from the log, and follows', async () => {
    const { cluster, keyId, index, node } = await behind()
    expect(node.core.ask?.progress()).toEqual({ position: null, isBehind: true, trouble: null })
    await settle(node)
    await expectWhole(index, cluster.log)
    expect(node.core.ask?.progress()).toMatchObject({ isBehind: false, trouble: null })
    await node.post(keyId, 3)
    await recordSignIn(cluster.log, 1)
    await settle(node)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('rests between pages, so a start does not wait for it', async () => {
    const { index, node } = await behind()
    await node.schedule.quiet()
    expect(index.foldedTo).toBeNull()
    expect(node.core.ask?.progress().isBehind).toBe(true)
  })

  test('folds no event twice if the log is ahead of the subscription', async () => {
    const { cluster, first, keyId, index, node } = await behind()
    await first.post(keyId, 30)
    // The log shows these readings now, but the node receives them later.
    await node.schedule.advance(askWriteEveryMs + 1_000)
    const known = index.contents().minuteCounts.at(-1)
    await first.post(keyId, 7)
    await settle(node)
    await expectWhole(index, cluster.log)
    expect(known?.count).toBe(2 * logReadPageEvents + 50)
  })

  test('misses no event that arrives while the last page is read', async () => {
    let release = (): void => {}
    let held: Promise<void> = Promise.resolve()
    const { cluster, first, keyId, index, node } = await behind((inner) => ({
      ...passingLog(inner),
      readAll: async (options) => {
        const page = await inner.readAll(options)
        await held
        return page
      },
    }))
    held = new Promise((resolve) => {
      release = resolve
    })
    // The page was read before these readings, and arrives after them.
    await node.schedule.advance(1_000)
    for (let turn = 0; turn < 8; turn += 1) {
      await first.post(keyId, 5)
      node.late.deliver()
      const releaseOne = release
      held = new Promise((resolve) => {
        release = resolve
      })
      releaseOne()
      await node.schedule.advance(100)
    }
    held = Promise.resolve()
    release()
    await settle(node)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('goes on from the index after a restart, also with an old checkpoint', async () => {
    const cluster = new Cluster()
    // A checkpoint names its log.
    await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
    const index = new MemoryAskIndex()
    const checkpoints = new MemoryCheckpoints()
    const first = await cluster.open({ ask: index, checkpoints })
    const keyId = await makeTestKey(first)
    await first.post(keyId, checkpointEventsMin)
    await settle(first)
    await first.schedule.until(first.core.drain())
    expect(checkpoints.pieces).not.toBeNull()
    const { pieces } = checkpoints
    const second = await cluster.open({ ask: index, checkpoints })
    await settle(second)
    await second.post(keyId, 1_300)
    await recordSignIn(cluster.log, 1)
    await settle(second)
    await second.schedule.until(second.core.drain())
    checkpoints.pieces = pieces
    const writes = index.writes.length
    const third = await cluster.open({ ask: index, checkpoints })
    await settle(third)
    expect(index.writes.length).toBe(writes)
    await third.post(keyId, 2)
    await settle(third)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('writes the last change when the node drains', async () => {
    const cluster = new Cluster()
    const index = new MemoryAskIndex()
    const node = await cluster.open({ ask: index })
    const keyId = await makeTestKey(node)
    await settle(node)
    await node.post(keyId, 3)
    node.late.deliver()
    await node.schedule.until(node.core.drain())
    await expectWhole(index, cluster.log)
  })

  test('builds an index of another log again', async () => {
    const { cluster, index, node } = await behind()
    await settle(node)
    await node.schedule.until(node.core.drain())
    index.foldedTo = { position: 3, stream: 'cellarbook-log', revision: 0, id: 'of another log' }
    const again = await cluster.open({ ask: index })
    await settle(again)
    expect(index.beginnings).toBe(1)
    await expectWhole(index, cluster.log)
  })

  test('builds a damaged index again, after a write, a query or a check', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    index.faults = [new AskUnusable('damaged')]
    await node.post(keyId)
    await settle(node)
    await settle(node)
    expect(index.beginnings).toBe(1)
    await expectWhole(index, cluster.log)
    expect(node.askTold).toEqual(['damaged', null])

    const { placeAt } = index
    index.placeAt = () => {
      throw new AskUnusable('damaged')
    }
    expect(() => node.core.ask?.placeAt(1)).toThrow(AskUnusable)
    index.placeAt = placeAt
    await settle(node)
    expect(index.beginnings).toBe(2)
    await expectWhole(index, cluster.log)
  })

  test('builds an index that nobody can write ever more rarely', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    index.faults = Array.from({ length: 400 }, () => new AskUnusable('the disk fails'))
    await node.post(keyId)
    node.late.deliver()
    await node.schedule.advance(askAnewPauseMsMax)
    expect(index.beginnings).toBeLessThan(15)
    index.faults = []
    await node.schedule.advance(askAnewPauseMsMax)
    await settle(node)
    expect(node.askTold.at(-1)).toBeNull()
    await expectWhole(index, cluster.log)
  })

  test('builds the index again that a check has emptied', async () => {
    const { cluster, index, node } = await behind()
    await settle(node)
    index.isDamaged = true
    await node.schedule.advance(checkDelayMs + 24 * 3_600_000)
    await settle(node)
    expect(index.beginnings).toBe(1)
    await expectWhole(index, cluster.log)
  })

  test('tries a busy disk again, tells it once, and loses nothing', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    index.faults = Array.from({ length: 20 }, () => new AskBusy('the disk is full'))
    await node.post(keyId, 2)
    await settle(node)
    expect(node.core.ask?.progress().trouble).toBe('the disk is full')
    await node.post(keyId, 2)
    await settle(node)
    await settle(node)
    await settle(node)
    expect(node.askTold).toEqual(['the disk is full', null])
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('opens a locked index later, and goes on from its last event', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    await node.schedule.until(node.core.drain())
    index.openFaults = Array.from({ length: 20 }, () => new AskBusy('locked'))
    const written = index.writes.length
    const again = await cluster.open({ ask: index })
    await again.schedule.advance(10_000)
    expect(again.core.ask?.progress()).toMatchObject({ isBehind: true, trouble: 'locked' })
    await again.post(keyId, 2)
    await again.schedule.advance(20_000)
    await settle(again)
    expect(again.askTold).toEqual(['locked', null])
    expect(index.writes.slice(written).map(({ foldedFrom }) => foldedFrom)).not.toContain(null)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('tries ever more rarely to open an index that cannot be used', async () => {
    const { cluster, index, node } = await behind()
    await settle(node)
    await node.schedule.until(node.core.drain())
    index.openFaults = Array.from({ length: 400 }, () => new AskUnusable('a folder'))
    const again = await cluster.open({ ask: index })
    await again.schedule.advance(askAnewPauseMsMax)
    expect(index.openFaults.length).toBeGreaterThan(385)
    index.openFaults = []
    await again.schedule.advance(askAnewPauseMsMax)
    await settle(again)
    expect(again.askTold).toEqual(['a folder', null])
    await expectWhole(index, cluster.log)
  })

  test('keeps the index when a node drains while the disk is full', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    index.faults = [new AskBusy('the disk is full')]
    await node.post(keyId, 2)
    node.late.deliver()
    await node.schedule.until(node.core.drain())
    const again = await cluster.open({ ask: index })
    await settle(again)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('drops later changes, too, after a write that failed during the drain', async () => {
    const { cluster, keyId, index, node } = await behind()
    await settle(node)
    await node.post(keyId, 2)
    node.late.deliver()
    index.faults = [new AskBusy('the disk is full')]
    const held = node.faults.hold('after')
    const suspended = node.core.keys.suspend(keyId, 'test', asker)
    await node.schedule.quiet()
    const drained = node.core.drain()
    // The first change fails. Then the node receives more, and ends.
    await node.core.ask?.bringUp()
    held.release()
    node.late.deliver()
    await node.schedule.until(Promise.all([suspended, drained]))
    const again = await cluster.open({ ask: index })
    await settle(again)
    await expectWhole(index, cluster.log)
    expect(index.beginnings).toBe(0)
  })

  test('falls behind a slow disk within its bounds, and reads the log later', async () => {
    const cluster = new Cluster()
    const index = new MemoryAskIndex()
    const node = await cluster.open({ ask: index })
    const keyId = await makeTestKey(node, { limit: { readings: 100_000, windowMs: 60_000 } })
    await settle(node)
    let release = (): void => {}
    index.held = new Promise((resolve) => {
      release = resolve
    })
    const post = async (batches: number): Promise<void> => {
      for (let batch = 0; batch < batches; batch += 1) {
        const id = cluster.newId()
        await node.schedule.until(node.core.keys.accept(keyId, batchOfRacks(id), id))
        node.late.deliver()
      }
    }
    // The first change is under way. The next one reaches its bound.
    await post(Math.ceil(askEntriesAtOnce / batchReadingsMax))
    expect(node.core.ask?.progress().isBehind).toBe(false)
    await post(Math.ceil(askEntriesMax / batchReadingsMax))
    expect(node.core.ask?.progress().isBehind).toBe(true)
    release()
    await settle(node)
    expect(node.core.ask?.progress().isBehind).toBe(false)
    await settle(node)
    expect(index.beginnings).toBe(0)
    const accepted = index.contents().hourCounts.reduce((sum, { count }) => sum + count, 0)
    expect(accepted).toBe((await allEvents(cluster.log)).filter(({ type }) => type === 'ReadingAccepted').length)
    expect(index.contents().seen.length).toBe(accepted)
  }, 600_000)

  test('tells listeners of records, and keeps them out of checkpoints', async () => {
    const cluster = new Cluster()
    await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
    const checkpoints = new MemoryCheckpoints()
    const index = new MemoryAskIndex()
    const node = await cluster.open({ ask: index, checkpoints })
    const heard: LogItem[] = []
    node.core.onFolded((items) => heard.push(...items))
    const keyId = await makeTestKey(node)
    await node.post(keyId, checkpointEventsMin)
    const { position } = node.core.projections
    node.late.deliver()
    await recordSignIn(cluster.log, 1)
    await settle(node)
    expect(index.contents().places.filter(({ type }) => type === 'SignInSeen')).toHaveLength(1)
    expect(heard.filter(({ stream }) => isRecordStream(stream))).toHaveLength(1)
    expect(node.core.projections.position).toBeGreaterThan(position ?? 0)
    await node.schedule.until(node.core.drain())
    const header = Buffer.concat([...(checkpoints.pieces ?? [])].slice(0, 1)).toString('latin1')
    expect(header).toContain(`readings-${keyId}`)
    expect(header).not.toContain(signInsStream)
  })

  test('asks for records only in the subscription that can lag', async () => {
    const cluster = new Cluster()
    const asked: (readonly string[])[] = []
    const watched: EventLog = {
      ...passingLog(cluster.log),
      lags: true,
      subscribe: (options, subscriber) => {
        asked.push(options.categories ?? ['all'])
        return cluster.log.subscribe(options, subscriber)
      },
    }
    await openLagging(cluster, watched)
    expect(asked).toHaveLength(2)
    expect(asked[0]).toContain('signins')
    for (const category of asked[1] ?? []) expect(isRecordStream(`${category}-x`)).toBe(false)
  })

  test('writes what waits before a query', async () => {
    const { keyId, index, node } = await behind()
    await settle(node)
    const before = index.foldedTo?.position ?? 0
    await node.schedule.until(node.core.keys.suspend(keyId, 'test', asker))
    node.late.deliver()
    await node.schedule.until(node.core.ask?.bringUp() ?? Promise.resolve())
    expect(index.foldedTo?.position).toBeGreaterThan(before)
    const found = await node.schedule.until(findOfKey(node, keyId))
    expect(found.map(({ type }) => type)).toEqual(['ReadingsFenced', 'KeySuspended', 'KeyCreated'])
  })
})

const findOfKey = async (node: TestNode, keyId: string): Promise<readonly RecordedEvent[]> => {
  const all = { stream: null, kind: null, type: null, actor: null, cellar, since: null, until: null }
  const { ask } = node.core
  if (ask === null) throw new Error('The node has no index')
  const found = await ask.find({ ...all, key: keyId }, { direction: 'backwards', from: null, limit: 10 })
  return ask.eventsAt(found.places)
}

/** A full batch. Each reading has a rack of its own. */
const batchOfRacks = (id: string) => {
  const builder = new ColumnsBuilder()
  builder.begin(new Name(cellar))
  for (let index = 0; index < batchReadingsMax; index += 1) {
    builder.push(new Name(`rack-${id}-${index}`), new Name('temperature'), 21.5, cellarTimeMs, null)
  }
  return builder.finish()
}

const cellarTimeMs = Date.UTC(2026, 2, 1, 12)

const openLagging = (cluster: Cluster, log: EventLog): Promise<OpenCore> =>
  openCore({
    log,
    clock: cluster.clock,
    entropy: seededEntropy(9),
    schedule: drivenSchedule(),
    ask: { index: new MemoryAskIndex() },
  })

import { describe, expect, test } from 'bun:test'
import { createProjections } from '../../../projections/projections.ts'
import type { Projections } from '../../../projections/queries.ts'
import { PieceWriter, savedFormat } from '../../../projections/saved-pieces.ts'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import type { NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import {
  checkpointAgeMsMax,
  checkpointEventsMin,
  checkpointLookMs,
  checkpointLooksMax,
  checkpointTailEventsMax,
  retentionMsMin,
} from '../../../src/limits.ts'
import { copyLog } from '../../../src/log/copy-log.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { eventsToAppend } from '../../../src/log/storable.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { snapshotOf } from '../../support/snapshot.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { asker, cellar, reading } from '../../support/two-nodes.ts'

type Life = {
  readonly core: OpenCore
  readonly schedule: DrivenSchedule
  /** The position after which each subscription began. `null` means that the subscription began at the beginning of the log. */
  readonly begunAfter: readonly (number | null)[]
  readonly thrownAway: readonly string[]
  readonly failed: readonly unknown[]
  post(keyId: string, count: number): Promise<void>
}

const place = async (log: EventLog = createMemoryLog()) => {
  const store = new MemoryCheckpoints()
  const clock = manualClock()
  await ensureLogCreated(log, clock, seededEntropy(99))
  let ids = 0
  let seeds = 0
  const live = async (into: EventLog = log): Promise<Life> => {
    const begunAfter: (number | null)[] = []
    const watched: EventLog = {
      ...passingLog(into),
      subscribe: (options, subscriber) => {
        begunAfter.push(options.after)
        return into.subscribe(options, subscriber)
      },
    }
    const schedule = drivenSchedule()
    const thrownAway: string[] = []
    const failed: unknown[] = []
    seeds += 1
    const core = await openCore({
      log: watched,
      clock,
      entropy: seededEntropy(seeds),
      schedule,
      onBug: (bug) => failed.push(bug),
      checkpoints: {
        store,
        onThrownAway: (why) => thrownAway.push(why),
        onFailed: (cause) => failed.push(cause),
      },
    })
    const post = async (keyId: string, count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1_000) {
        const asked = Array.from({ length: Math.min(left, 1_000) }, () => {
          ids += 1
          return core.keys.accept(keyId, reading, `reading-${ids}`)
        })
        const answers = await schedule.until(Promise.all(asked))
        if (!answers.every(({ ok }) => ok)) throw new Error('Cannot post for a test: a reading was refused')
      }
    }
    return { core, schedule, begunAfter, thrownAway, failed, post }
  }
  return { log, store, clock, live }
}

const makeKey = async ({ core, schedule }: Life): Promise<string> => {
  await schedule.until(core.cellars.create({ cellar, title: '' }, asker))
  const limit = { readings: 10_000_000, windowMs: 60_000 }
  const input = { cellar, label: '', note: '', limit, expiresAt: null }
  const made = await schedule.until(core.keys.create(input, asker))
  if (!made.ok) throw new Error(`Cannot make a key for a test: ${made.refusal.kind}`)
  return made.value.state.keyId
}

const end = ({ core, schedule }: Life): Promise<void> => schedule.until(core.drain())

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  while (true) {
    const from = events.at(-1)?.position
    const page = await log.readAll({ limit: 1_000, ...(from === undefined ? {} : { from }) })
    if (page.length === 0) return events
    events.push(...page)
  }
}

const bytesOf = (projections: Projections): Buffer =>
  Buffer.concat(Array.from(projections.save(), (piece) => piece.slice()))

/** Expects pages to show the same as after a replay of the whole log. */
const expectShown = async ({ core }: Life, log: EventLog): Promise<Projections> => {
  const events = await allOf(log)
  const replayed = createProjections()
  replayed.fold(events)
  expect(snapshotOf(core.projections, events, 0)).toEqual(snapshotOf(replayed, events, 0))
  return replayed
}

/** Expects the projections to save the same bytes as after a replay of the whole log. This holds only if nothing was purged. */
const expectReplay = async (life: Life, log: EventLog): Promise<void> => {
  const replayed = await expectShown(life, log)
  expect(bytesOf(life.core.projections)).toEqual(bytesOf(replayed))
}

/** Leaves a checkpoint, and events after it. */
const withCheckpoint = async () => {
  const here = await place()
  const first = await here.live()
  const keyId = await makeKey(first)
  await first.post(keyId, checkpointEventsMin)
  await end(first)
  const after = (await here.log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
  const second = await here.live()
  await second.post(keyId, 7)
  await end(second)
  return { ...here, keyId, after }
}

describe('a start', () => {
  test('reads only the events after the checkpoint, and knows everything', async () => {
    const { log, live, after } = await withCheckpoint()
    const life = await live()
    expect(life.begunAfter).toEqual([after])
    expect(life.thrownAway).toEqual([])
    await expectReplay(life, log)
    await end(life)
  })

  test('without a checkpoint reads the whole log and says nothing', async () => {
    const { log, live, store } = await withCheckpoint()
    store.pieces = null
    const life = await live()
    expect(life.begunAfter).toEqual([null])
    expect(life.thrownAway).toEqual([])
    await expectReplay(life, log)
    await end(life)
  })

  test('finishes a revocation whose first half is in the checkpoint', async () => {
    const { log, live } = await place()
    const first = await live()
    const keyId = await makeKey(first)
    await first.post(keyId, checkpointEventsMin)
    await log.append(readingsStream(keyId), checkpointEventsMin - 1, [seal])
    await end(first)
    expect((await lastOf(log)).type).toBe('ReadingsSealed')
    const second = await live()
    expect(second.begunAfter).not.toEqual([null])
    expect(second.core.projections.keys.get(keyId)?.revoked).not.toBeNull()
    await end(second)
  })

  test('remembers the rotations that wait and those that are due', async () => {
    const { live, log } = await place()
    const endless: EventLog = {
      ...passingLog(log),
      append: (stream, expected, events) => {
        const ends = eventsToAppend(events).some(({ type }) => type === 'KeySuperseded')
        if (ends) return Promise.reject(new Outage('The store is away', 'not_written', 'unavailable'))
        return log.append(stream, expected, events)
      },
    }
    const first = await live(endless)
    const rotate = async (keyId: string): Promise<string> => {
      const made = await first.schedule.until(first.core.keys.rotate(keyId, { overlapMs: 0 }, asker))
      if (!made.ok) throw new Error(`Cannot rotate a key for a test: ${made.refusal.kind}`)
      return made.value.state.keyId
    }
    const rotated = async (): Promise<readonly [old: string, successor: string]> => {
      const keyId = await makeKey(first)
      return [keyId, await rotate(keyId)]
    }
    /** Rotates a key. The successor leaks before its first use, so another key replaces it. */
    const leaked = async (): Promise<readonly [old: string, last: string]> => {
      const [keyId, successorId] = await rotated()
      const last = await rotate(successorId)
      await first.schedule.until(first.core.keys.revoke(successorId, 'leaked', asker))
      return [keyId, last]
    }
    const [[usedOld, used], [waitingOld, waiting]] = [await rotated(), await rotated()]
    const [[usedFirst, usedLast], [waitingFirst, waitingLast]] = [await leaked(), await leaked()]
    await first.post(usedLast, 1)
    await first.post(used, checkpointEventsMin)
    await end(first)

    const second = await live()
    const expiryOf = (keyId: string) => second.core.projections.keys.get(keyId)?.expiresAt
    expect([expiryOf(usedOld), expiryOf(usedFirst)]).toEqual([expect.any(Number), expect.any(Number)])
    expect([expiryOf(waitingOld), expiryOf(waitingFirst)]).toEqual([null, null])
    for (const each of [waiting, waitingLast]) await second.post(each, 1)
    await second.schedule.quiet()
    expect([expiryOf(waitingOld), expiryOf(waitingFirst)]).toEqual([expect.any(Number), expect.any(Number)])
    expect(second.begunAfter).not.toContain(null)
    await end(second)
  })
})

/** A revocation appends this event before `KeyRevoked`. The key takes no readings after it. */
const seal: NewEvent<'ReadingsSealed'> = {
  id: 'seal',
  type: 'ReadingsSealed',
  recordedAt: manualClock().now(),
  data: { reason: 'lost' },
  metadata: { by: { kind: 'cli' }, requestId: 'r', correlationId: 'r', causationId: 'r' },
}

const lastOf = async (log: EventLog): Promise<RecordedEvent> => {
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  if (last === undefined) throw new Error('the log is empty')
  return last
}

const logIdOf = async (log: EventLog): Promise<string> => ensureLogCreated(log, manualClock(), seededEntropy())

const markOf = (last: RecordedEvent, logId: string, format: number = savedFormat): Uint8Array => {
  const to = new PieceWriter()
  to.whole(format)
  to.text(logId)
  to.whole(last.position)
  to.text(last.stream)
  to.whole(last.revision)
  to.text(last.id)
  return to.cut()
}

describe('a checkpoint is discarded,', () => {
  const cases: [
    what: string,
    spoil: (here: Awaited<ReturnType<typeof withCheckpoint>>) => Promise<void>,
    why: string,
  ][] = [
    [
      'of another log',
      async ({ store, log }) => {
        store.pieces = [markOf(await lastOf(log), 'another'), ...(store.pieces ?? []).slice(1)]
      },
      'it is of another log',
    ],
    [
      'in a newer format',
      async ({ store, log }) => {
        const mark = markOf(await lastOf(log), await logIdOf(log), savedFormat + 1)
        store.pieces = [mark, ...(store.pieces ?? []).slice(1)]
      },
      `it has format ${savedFormat + 1}, and this version reads ${savedFormat}`,
    ],
    [
      'ahead of the log, which is an older copy',
      async ({ store, log }) => {
        const last = await lastOf(log)
        const ahead = { ...last, position: last.position + 1, revision: last.revision + 1, id: 'later' }
        store.pieces = [markOf(ahead, await logIdOf(log)), ...(store.pieces ?? []).slice(1)]
      },
      'the log does not have its last event',
    ],
    [
      'with another last event than the log',
      async ({ store, log }) => {
        const other = { ...(await lastOf(log)), id: 'another' }
        store.pieces = [markOf(other, await logIdOf(log)), ...(store.pieces ?? []).slice(1)]
      },
      'the log does not have its last event',
    ],
    [
      'cut off',
      async ({ store }) => {
        store.pieces = (store.pieces ?? []).map((piece, index) => (index === 1 ? piece.subarray(0, 100) : piece))
      },
      'it ends too early',
    ],
    [
      'empty',
      async ({ store }) => {
        store.pieces = []
      },
      'it is empty',
    ],
  ]
  for (const [what, spoil, why] of cases) {
    test(what, async () => {
      const here = await withCheckpoint()
      await spoil(here)
      const life = await here.live()
      expect(life.begunAfter).toEqual([null])
      expect(life.thrownAway).toHaveLength(1)
      expect(life.thrownAway[0]).toContain(why)
      expect(here.store.pieces).toBeNull()
      await expectReplay(life, here.log)
      await end(life)
      const next = await here.live()
      expect(next.begunAfter).not.toEqual([null])
      await end(next)
    })
  }
})

/** Readings are kept for a day. The last event of the checkpoint is a reading, so it will be purged. */
const withReadingsOfADay = async () => {
  const here = await place()
  const first = await here.live()
  const keyId = await makeKey(first)
  await first.schedule.until(first.core.cellars.changePolicy(cellar, { retentionMs: retentionMsMin }, asker))
  await first.post(keyId, checkpointEventsMin)
  await end(first)
  const last = await lastOf(here.log)
  expect(last).toMatchObject({ stream: readingsStream(keyId), revision: checkpointEventsMin - 1 })
  /** Lets days pass until the last event of the checkpoint is purged. */
  const goOn = async (life: Life): Promise<void> => {
    for (let days = 0; days < 3; days += 1) {
      here.clock.advance(retentionMsMin)
      await life.post(keyId, 5)
      await life.schedule.until(life.core.sweep())
    }
    const [kept] = await here.log.read(last.stream, { limit: 1 })
    expect(kept?.revision).toBeGreaterThan(last.revision)
  }
  return { ...here, goOn, last }
}

describe('a start after a purge', () => {
  const endings: [title: string, leave: (life: Life) => Promise<void>][] = [
    ['ended', end],
    ['was killed', ({ schedule }) => schedule.advance(checkpointLookMs * checkpointLooksMax)],
  ]
  for (const [title, leave] of endings) {
    test(`uses a newer checkpoint of a process that ${title}`, async () => {
      const { log, live, goOn } = await withReadingsOfADay()
      const second = await live()
      await goOn(second)
      await leave(second)
      const third = await live()
      expect(third.begunAfter).not.toContain(null)
      expect(third.thrownAway).toEqual([])
      await expectShown(third, log)
      await end(third)
    })
  }

  test('reads the whole log if the node was away', async () => {
    const { log, live, store, goOn, last } = await withReadingsOfADay()
    const { pieces } = store
    const other = await live()
    await goOn(other)
    await end(other)
    store.pieces = pieces
    const life = await live()
    expect(life.begunAfter).toEqual([null])
    expect(life.thrownAway).toEqual([
      `its last event was purged, so the log cannot confirm it: revision ${last.revision} of "${last.stream}"`,
    ])
    await expectReplay(life, log)
    await end(life)
  })
})

test('a checkpoint is discarded by a copy of its log', async () => {
  const source = await withCheckpoint()
  const copy = createMemoryLog()
  const parts = { clock: manualClock(), entropy: seededEntropy(7), wait: async () => {}, onProgress: () => {} }
  await copyLog({ from: source.log, to: copy, ...parts })
  const here = await place(copy)
  const mark = markOf(await lastOf(copy), await logIdOf(source.log))
  here.store.pieces = [mark, ...(source.store.pieces ?? []).slice(1)]
  const life = await here.live()
  expect(life.thrownAway).toEqual(['it is of another log'])
  await expectReplay(life, copy)
  await end(life)
})

describe('checkpoints are written', () => {
  test(`at the end after ${checkpointEventsMin} events, and not one fewer`, async () => {
    const here = await place()
    const life = await here.live()
    const keyId = await makeKey(life)
    const already = (await allOf(here.log)).length
    await life.post(keyId, checkpointEventsMin - already - 1)
    await end(life)
    expect(here.store.writes).toBe(0)
    const next = await here.live()
    await next.post(keyId, 1)
    await end(next)
    expect(here.store.writes).toBe(1)
  })

  test('after a while for few events, and soon for many', async () => {
    const here = await place()
    const life = await here.live()
    const keyId = await makeKey(life)
    await life.post(keyId, checkpointEventsMin)
    await life.schedule.advance(checkpointLookMs * (checkpointLooksMax - 1))
    expect(here.store.writes).toBe(0)
    await life.schedule.advance(checkpointLookMs)
    expect(here.store.writes).toBe(1)
    await life.schedule.advance(checkpointLookMs * checkpointLooksMax * 2)
    expect(here.store.writes).toBe(1)
    await life.post(keyId, checkpointTailEventsMax)
    await life.schedule.advance(checkpointLookMs)
    expect(here.store.writes).toBe(2)
    await end(life)
  }, 600_000)

  test('for a single event when the last checkpoint is an hour old', async () => {
    const here = await withCheckpoint()
    const awhile = checkpointLookMs * checkpointLooksMax
    const life = await here.live()
    here.clock.advance(checkpointAgeMsMax - 1)
    await life.post(here.keyId, 1)
    await life.schedule.advance(awhile)
    expect(here.store.writes).toBe(1)
    here.clock.advance(1)
    await life.schedule.advance(checkpointLookMs)
    expect(here.store.writes).toBe(2)
    here.clock.advance(2 * checkpointAgeMsMax)
    await life.schedule.advance(awhile)
    await end(life)
    expect(here.store.writes).toBe(2)
    const next = await here.live()
    await next.post(here.keyId, 1)
    await next.schedule.advance(awhile)
    expect(here.store.writes).toBe(3)
    await next.post(here.keyId, 1)
    await next.schedule.advance(awhile)
    await end(next)
    expect(here.store.writes).toBe(3)
  })

  test('for a single event again after a failure, in due time', async () => {
    const here = await withCheckpoint()
    const awhile = checkpointLookMs * checkpointLooksMax
    const life = await here.live()
    here.clock.advance(checkpointAgeMsMax)
    await life.post(here.keyId, 1)
    here.store.fault = new Error('the disk is full')
    await life.schedule.advance(2 * awhile)
    expect(life.failed).toEqual([here.store.fault, here.store.fault])
    here.store.fault = null
    await life.schedule.advance(awhile)
    expect(here.store.writes).toBe(2)
    await end(life)
  })

  test('again after a failure, without harm to the old one', async () => {
    const here = await withCheckpoint()
    const before = here.store.pieces
    const life = await here.live()
    here.store.fault = new Error('the disk is full')
    await life.post(here.keyId, checkpointEventsMin)
    await life.schedule.advance(checkpointLookMs * checkpointLooksMax)
    expect(life.failed).toEqual([here.store.fault])
    expect(here.store.pieces).toBe(before)
    here.store.fault = null
    await end(life)
    expect(here.store.writes).toBe(2)
    const next = await here.live()
    await expectReplay(next, here.log)
    await end(next)
  })
})

import { describe, expect, test } from 'bun:test'
import {
  DerivedStore,
  type DerivedTold,
  followerPatientMsMax,
  followerRestartMsMax,
  followerStopMsMax,
  followerToldEveryMs,
  followerUpToMsMax,
} from '../../src/derived/derived-store.ts'
import type { FollowerEvents, InLog, ModelProgress, ToFollower } from '../../src/derived/follower-messages.ts'
import { modelRetryPauseMs } from '../../src/limits.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'

/** A store whose follower is the test. */
const opened = (isInLog: InLog = true) => {
  const schedule = drivenSchedule()
  const posted: ToFollower[] = []
  const told: DerivedTold[] = []
  const closing = Promise.withResolvers<void>()
  let events: FollowerEvents | null = null
  let starts = 0
  const store = new DerivedStore({
    start: (of) => {
      starts += 1
      events = of
      return { post: (message) => posted.push(message), close: () => closing.promise }
    },
    isInLog: async () => isInLog,
    schedule,
    onTold: (one) => told.push(one),
  })
  store.start()
  const hear = (message: Parameters<FollowerEvents['onMessage']>[0]): void => events?.onMessage(message)
  const progress = (of: Partial<ModelProgress>): void =>
    hear({ kind: 'progress', model: 'one', progress: { position: 5, isBehind: false, trouble: null, ...of } })
  const crash = (): void => events?.onFault('a bug')
  return { store, schedule, posted, told, hear, progress, crash, starts: () => starts, end: closing.resolve }
}

const settledAfter = async (done: Promise<unknown>, turn: () => Promise<void>): Promise<boolean> => {
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  await turn()
  return isDone
}

describe('DerivedStore', () => {
  test('tells the follower of new events at most every 50 ms', async () => {
    const { store, schedule, posted } = opened()
    for (let position = 1; position <= 100; position += 1) store.published(position)
    expect(posted).toEqual([{ kind: 'published', position: 1 }])
    await schedule.advance(followerToldEveryMs)
    expect(posted.at(-1)).toEqual({ kind: 'published', position: 100 })
    await schedule.advance(10 * followerToldEveryMs)
    expect(posted.length).toBe(2)
    store.published(101)
    expect(posted.length).toBe(3)
  })

  test('upTo() waits for the follower, but not for ever', async () => {
    const { store, schedule, posted, hear, progress } = opened()
    progress({ position: 5 })
    store.published(5)
    expect(await settledAfter(store.upTo('one'), schedule.quiet)).toBe(true)
    store.published(6)
    const done = store.upTo('one')
    expect(await settledAfter(done, schedule.quiet)).toBe(false)
    const asked = posted.at(-1)
    expect(asked).toMatchObject({ kind: 'upTo', model: 'one', position: 6 })
    if (asked?.kind === 'upTo') hear({ kind: 'reached', id: asked.id })
    expect(await settledAfter(done, schedule.quiet)).toBe(true)

    const late = store.upTo('one')
    expect(await settledAfter(late, () => schedule.advance(followerUpToMsMax - 1))).toBe(false)
    expect(await settledAfter(late, () => schedule.advance(1))).toBe(true)
    expect([await done, await late]).toEqual([true, false])

    const patient = store.upTo('one', followerPatientMsMax)
    expect(await settledAfter(patient, () => schedule.advance(followerPatientMsMax - 1))).toBe(false)
    expect(await settledAfter(patient, () => schedule.advance(1))).toBe(true)
  })

  test.each([{ isBehind: true }, { trouble: 'the disk is full' }])(
    'upTo() does not wait for a model with %j',
    async (of) => {
      const { store, schedule, progress } = opened()
      progress(of)
      store.published(6)
      expect(await settledAfter(store.upTo('one'), schedule.quiet)).toBe(true)
    },
  )

  test('starts a crashed follower again, ever more rarely, and nobody waits for it', async () => {
    const { store, schedule, posted, told, progress, crash, starts } = opened()
    progress({})
    store.published(6)
    const waiting = store.upTo('one')
    crash()
    expect(await settledAfter(waiting, schedule.quiet)).toBe(true)
    expect(store.progress('one').isBehind).toBe(true)
    expect(told).toEqual([{ kind: 'crashed', why: 'a bug' }])
    await schedule.advance(1_000)
    expect(starts()).toBe(2)
    expect(posted.at(-1)).toEqual({ kind: 'published', position: 6 })
    for (let turn = 0; turn < 20; turn += 1) {
      crash()
      for (const now = starts(); starts() === now; ) await schedule.advance(1_000)
    }
    const before = starts()
    crash()
    await schedule.advance(followerRestartMsMax - 1)
    expect(starts()).toBe(before)
  })

  test('starts a follower soon again that has crashed rarely', async () => {
    const { schedule, crash, starts } = opened()
    for (let turn = 0; turn < 12; turn += 1) {
      const before = starts()
      crash()
      await schedule.advance(modelRetryPauseMs)
      expect(starts()).toBe(before + 1)
      await schedule.advance(followerRestartMsMax)
    }
  })

  test('asks to rebuild a file once for each opening', () => {
    const { store, posted, hear } = opened()
    hear({ kind: 'opened', model: 'one', position: 5 })
    const opening = store.opening('one') ?? -1
    store.rebuild('one', opening, 'damaged')
    store.rebuild('one', opening, 'damaged')
    expect(posted).toEqual([{ kind: 'rebuild', model: 'one', why: 'damaged' }])
    expect(store.opening('one')).toBeNull()
    hear({ kind: 'opened', model: 'one', position: 5 })
    store.rebuild('one', opening, 'damaged')
    expect(posted.length).toBe(1)
  })

  test('tells each trouble once, and its end', () => {
    const { told, progress } = opened()
    progress({ trouble: 'full' })
    progress({ trouble: 'full', position: 6 })
    progress({})
    progress({ position: 7 })
    expect(told.map((one) => one.kind === 'trouble' && one.why)).toEqual(['full', null])
  })

  test.each([true, false, null])('answers whether the log has a head: %j', async (is) => {
    const { schedule, posted, hear } = opened(is)
    hear({ kind: 'isInLog', model: 'one', head: { position: 1, stream: 's', revision: 0, id: 'i' } })
    await schedule.quiet()
    expect(posted).toEqual([{ kind: 'inLog', model: 'one', is }])
  })

  test('stop() waits for the last flushes, but not for ever', async () => {
    const { store, schedule, end } = opened()
    const stopped = store.stop()
    expect(await settledAfter(stopped, () => schedule.advance(followerStopMsMax - 1))).toBe(false)
    end()
    expect(await settledAfter(stopped, schedule.quiet)).toBe(true)
    const other = opened()
    expect(await settledAfter(other.store.stop(), () => other.schedule.advance(followerStopMsMax))).toBe(true)
  })
})

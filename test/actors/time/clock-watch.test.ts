import { describe, expect, test } from 'bun:test'
import { clockCalmMs, clockDifferenceMsMax, lagCalmMs, lagMsMax } from '../../../src/actors/time/clock-watch.ts'
import { clockStandMs } from '../../../src/actors/time/steady-clock.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { Cluster, makeTestKey } from '../../support/two-nodes.ts'

const openTwo = async (skewMs: number) => {
  const cluster = new Cluster()
  const [one, other] = [await cluster.open(), await cluster.open({ skewMs })]
  const keyId = await makeTestKey(one)
  other.late.deliver()
  const postOn = async (node: typeof one): Promise<void> => {
    await node.post(keyId)
    for (const hearing of [one, other]) hearing.late.deliver()
  }
  return { cluster, one, other, postOn }
}

describe('an event from the future', () => {
  test('is told past a second, and not at a second', async () => {
    const atTheBound = await openTwo(clockDifferenceMsMax)
    await atTheBound.postOn(atTheBound.other)
    expect(atTheBound.one.times).toEqual([])

    const byMs = clockDifferenceMsMax + 1
    const past = await openTwo(byMs)
    await past.postOn(past.other)
    expect(past.one.times).toEqual([{ kind: 'ahead', byMs }])
    expect(past.other.times).toEqual([])
  })

  test('begins one warning, which ends after a minute without another', async () => {
    const { one, other, postOn } = await openTwo(2_000)
    for (let round = 0; round < 3; round += 1) {
      await postOn(other)
      await postOn(one)
      await one.schedule.advance(clockCalmMs - heartbeatMs)
    }
    expect(one.times.map(({ kind }) => kind)).toEqual(['ahead'])

    await one.schedule.advance(heartbeatMs)
    expect(one.times.map(({ kind }) => kind)).toEqual(['ahead', 'ahead_no_more'])
    await one.schedule.advance(clockCalmMs)
    await postOn(other)
    expect(one.times.map(({ kind }) => kind)).toEqual(['ahead', 'ahead_no_more', 'ahead'])
  })

  test('is told at a start, too', async () => {
    const { cluster, one, postOn } = await openTwo(0)
    await postOn(one)
    const slow = await cluster.open({ skewMs: -3_600_000 })
    expect(slow.times).toEqual([{ kind: 'ahead', byMs: 3_600_000 }])
  })

  test('does not stop the node', async () => {
    const { one, other, postOn } = await openTwo(-60_000)
    await postOn(one)
    expect(other.times.map(({ kind }) => kind)).toEqual(['ahead'])
    expect(other.core.log.health()).toEqual({ ok: true })
  })
})

describe('a late event', () => {
  test('is told past five seconds, and not at five', async () => {
    const { cluster, one, other } = await openTwo(0)
    const keyId = await makeTestKey(one)
    for (const [lateMs, told] of [
      [lagMsMax, []],
      [lagMsMax + 1, [{ kind: 'late', byMs: lagMsMax + 1 }]],
    ] as const) {
      other.late.deliver()
      await one.post(keyId)
      cluster.clock.advance(lateMs)
      other.late.deliver()
      expect(other.times).toEqual([...told])
    }
  })

  test('is not told beside a newer event of another node', async () => {
    const { cluster, one, other } = await openTwo(-10_000)
    const [keyId, another] = [await makeTestKey(one), await makeTestKey(one)]
    other.late.deliver()
    await one.post(keyId)
    await other.post(another)
    one.late.deliver()
    expect(one.times).toEqual([])
    cluster.clock.advance(lagMsMax + 1)
    await other.post(another)
    one.late.deliver()
    expect(one.times.map(({ kind }) => kind)).toEqual(['late'])
  })

  test('begins one warning, which ends some time after the last one', async () => {
    const { cluster, one, other } = await openTwo(0)
    const keyId = await makeTestKey(one)
    other.late.deliver()
    for (let round = 0; round < 3; round += 1) {
      await one.post(keyId)
      cluster.clock.advance(lagMsMax + 1)
      other.late.deliver()
      await other.schedule.advance(lagCalmMs - heartbeatMs)
    }
    expect(other.times.map(({ kind }) => kind)).toEqual(['late'])
    await other.schedule.advance(heartbeatMs)
    expect(other.times.map(({ kind }) => kind)).toEqual(['late', 'late_no_more'])
  })

  test('is not told when a start reads it', async () => {
    const { cluster, one, postOn } = await openTwo(0)
    await postOn(one)
    cluster.clock.advance(3_600_000)
    expect((await cluster.open()).times).toEqual([])
  })
})

describe('a node whose clock leaps ahead', () => {
  const openApart = async () => {
    const cluster = new Cluster()
    const clock = manualClock(cluster.clock.now())
    const [one, leaping] = [await cluster.open(), await cluster.open({ clock })]
    const keyId = await makeTestKey(one)
    leaping.late.deliver()
    return { cluster, clock, one, leaping, keyId }
  }
  const leapMs = 3_600_000

  test('says so once, and once when it is believed', async () => {
    const { clock, leaping } = await openApart()
    clock.leap(leapMs)
    for (let passedMs = 0; passedMs < clockStandMs; passedMs += heartbeatMs) {
      await leaping.schedule.advance(heartbeatMs)
      clock.advance(heartbeatMs)
    }
    expect(leaping.times).toEqual([{ kind: 'leapt', byMs: leapMs }])
    await leaping.schedule.advance(heartbeatMs)
    expect(leaping.times).toEqual([{ kind: 'leapt', byMs: leapMs }, { kind: 'leapt_no_more' }])
  })

  test('accuses no other node that agrees with its clock', async () => {
    const { cluster, clock, one, leaping, keyId } = await openApart()
    clock.leap(leapMs)
    for (const [aheadMs, told] of [
      [leapMs + clockDifferenceMsMax, []],
      [1, [{ kind: 'ahead', byMs: clockDifferenceMsMax + 1 }]],
    ] as const) {
      cluster.clock.advance(aheadMs)
      await one.post(keyId)
      leaping.late.deliver()
      expect(leaping.times).toEqual([...told])
    }
  })
})

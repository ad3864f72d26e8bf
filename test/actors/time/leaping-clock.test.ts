import { describe, expect, test } from 'bun:test'
import { loadReadings, readTail } from '../../../src/actors/key/load-readings.ts'
import { clockStandMs } from '../../../src/actors/time/steady-clock.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { acceptedIn } from '../../simulation/naive.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { Cluster, makeTestKey, type TestNode, typesOf } from '../../support/two-nodes.ts'

const dayMs = 24 * 3_600_000
const limit = { readings: 10, windowMs: 60_000 }

const opened = async (options: Parameters<typeof makeTestKey>[1] = { limit }) => {
  const cluster = new Cluster()
  const node = await cluster.open()
  return { cluster, node, keyId: await makeTestKey(node, options) }
}

const look = (node: TestNode, keyId: string) => node.schedule.until(Promise.resolve(node.core.keys.usage(keyId)))

const timesIn = async (cluster: Cluster, keyId: string): Promise<readonly number[]> =>
  (await cluster.streams(keyId)).readings.map(({ recordedAt }) => recordedAt)

describe('a clock that was briefly ahead', () => {
  test.each(['looked at', 'loaded'])('closes no key that was %s meanwhile', async (what) => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const start = cluster.clock.now()
    cluster.clock.advance(dayMs)
    const judging = what === 'looked at' ? node : await cluster.open()
    expect(await look(judging, keyId)).toMatchObject({ used: 0, resetMs: 0 })
    cluster.clock.advance(-dayMs)

    for (const [round, room] of [9, 10, 10].entries()) {
      const answers = await judging.post(keyId, 11)
      expect(answers.filter(({ ok }) => ok)).toHaveLength(room)
      expect(answers.at(-1)).toMatchObject({ refusal: { kind: 'rate_limited', retryAfterMs: limit.windowMs } })
      expect((await timesIn(cluster, keyId)).at(-1)).toBe(start + round * limit.windowMs)
      cluster.clock.advance(limit.windowMs)
    }
    const times = await timesIn(cluster, keyId)
    for (const now of times) expect(acceptedIn(times, now, limit.windowMs)).toBeLessThanOrEqual(limit.readings)
  })

  test.each(['looked at', 'loaded'])('does not expire a key that was %s meanwhile', async (what) => {
    const expiresAt = Date.UTC(2026, 2, 1, 12) + dayMs / 2
    const { cluster, node, keyId } = await opened({ limit, expiresAt })
    await node.post(keyId)
    cluster.clock.advance(dayMs)
    const judging = what === 'looked at' ? node : await cluster.open()
    await look(judging, keyId)
    cluster.clock.set(expiresAt - 1)
    expect((await judging.post(keyId))[0]).toMatchObject({ ok: true, value: { recordedAt: expiresAt - 1 } })
    cluster.clock.set(expiresAt)
    expect((await judging.post(keyId))[0]).toMatchObject({ ok: false, refusal: { kind: 'key_expired' } })
  })

  test.each(['alone', 'with others that wait behind it'])(
    'leaves no time from an unwritten reading, %s',
    async (how) => {
      const { cluster, node, keyId } = await opened()
      await node.post(keyId)
      cluster.clock.advance(dayMs)
      node.faults.failAppend({ fault: 'not_written' })
      const held = node.faults.hold('before')
      const failing = node.post(keyId)
      await node.schedule.quiet()
      const waiting = how === 'alone' ? null : node.post(keyId)
      cluster.clock.advance(-dayMs)
      held.release()
      expect((await failing)[0]).toMatchObject({ refusal: { kind: 'store_unavailable' } })
      const now = cluster.clock.now()
      for (const answers of [waiting, node.post(keyId)]) {
        const [answer] = (await answers) ?? []
        if (answers !== null) expect(answer).toMatchObject({ ok: true, value: { recordedAt: now } })
      }
      expect(await look(node, keyId)).toMatchObject({ used: how === 'alone' ? 2 : 3, resetMs: limit.windowMs })
    },
  )

  test('moves no window before readings left out at loading', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId, 10)
    const now = cluster.clock.now() + limit.windowMs
    const tail = await readTail(cluster.log, readingsStream(keyId))
    const { window } = await loadReadings(cluster.log, tail, { limit, now })
    expect(window.latestMs).toBe(now)
  })
})

describe('a leap that is not believed', () => {
  test('lets dates and windows go on as time passes', async () => {
    const { cluster, node, keyId } = await opened()
    const start = cluster.clock.now()
    await node.post(keyId, 9)
    cluster.clock.leap(dayMs)
    cluster.clock.advance(1_000)
    const answers = await node.post(keyId, 2)
    expect(answers[0]).toMatchObject({ ok: true, value: { recordedAt: start + 1_000 } })
    expect(answers[1]).toMatchObject({ refusal: { kind: 'rate_limited', retryAfterMs: 59_000 } })
    cluster.clock.leap(-dayMs)
    expect((await node.post(keyId))[0]).toMatchObject({ refusal: { kind: 'rate_limited', retryAfterMs: 59_000 } })
    cluster.clock.set(start + limit.windowMs)
    expect((await node.post(keyId))[0]).toMatchObject({ ok: true, value: { recordedAt: start + limit.windowMs } })
  })

  test('records no expiry, and the real one once', async () => {
    const expiresAt = Date.UTC(2026, 2, 1, 12) + dayMs / 2
    const { cluster, node, keyId } = await opened({ limit, expiresAt })
    const typesOfKey = async () => typesOf((await cluster.streams(keyId)).key)
    cluster.clock.leap(dayMs)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
    await node.schedule.until(node.core.sweep())
    expect(await typesOfKey()).toEqual(['KeyCreated'])
    cluster.clock.leap(-dayMs)
    cluster.clock.set(expiresAt)
    for (let sweep = 0; sweep < 2; sweep += 1) await node.schedule.until(node.core.sweep())
    expect(await typesOfKey()).toEqual(['KeyCreated', 'KeyExpired'])
    expect((await cluster.streams(keyId)).key.at(-1)?.recordedAt).toBe(expiresAt)
  })
})

describe('a leap that stays', () => {
  test('is believed after five seconds, though nobody asks', async () => {
    const expiresAt = Date.UTC(2026, 2, 1, 12) + dayMs / 2
    const { cluster, node, keyId } = await opened({ limit, expiresAt })
    const other = await makeTestKey(node, { limit })
    await node.post(other, 10)
    cluster.clock.leap(dayMs)
    await node.schedule.advance(heartbeatMs)
    cluster.clock.advance(clockStandMs - 1)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
    expect((await node.post(other))[0]).toMatchObject({ refusal: { kind: 'rate_limited' } })
    cluster.clock.advance(1)
    expect((await node.post(keyId))[0]).toMatchObject({ refusal: { kind: 'key_expired' } })
    expect((await node.post(other))[0]).toMatchObject({ ok: true, value: { recordedAt: cluster.clock.now() } })
  })

  test('is no leap for a node that starts later', async () => {
    const { cluster, keyId } = await opened()
    cluster.clock.leap(dayMs)
    const restarted = await cluster.open()
    expect((await restarted.post(keyId))[0]).toMatchObject({ ok: true, value: { recordedAt: cluster.clock.now() } })
  })

  test('dates nothing behind another node, and overfills no window', async () => {
    const { cluster, node, keyId } = await opened()
    const clock = manualClock(cluster.clock.now())
    const asleep = await cluster.open({ clock })
    await asleep.post(keyId, 5)
    cluster.clock.advance(3_600_000)
    await node.post(keyId, 7)
    clock.leap(3_600_000)
    expect((await asleep.post(keyId, 4)).filter(({ ok }) => ok)).toHaveLength(3)
    const times = await timesIn(cluster, keyId)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    for (const now of times) expect(acceptedIn(times, now, limit.windowMs)).toBeLessThanOrEqual(limit.readings)
  })
})

test('A clock that goes back is believed at once, except in streams with later times', async () => {
  const { cluster, node, keyId } = await opened()
  const idle = await makeTestKey(node)
  await node.post(keyId)
  const before = cluster.clock.now()
  cluster.clock.leap(-3_600_000)
  expect((await node.post(idle))[0]).toMatchObject({ ok: true, value: { recordedAt: cluster.clock.now() } })
  expect((await node.post(keyId))[0]).toMatchObject({ ok: true, value: { recordedAt: before } })
})

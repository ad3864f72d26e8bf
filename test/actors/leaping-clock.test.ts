import { describe, expect, test } from 'bun:test'
import { loadReadings, readTail } from '../../src/actors/load-readings.ts'
import { readingsStream } from '../../src/domain/streams.ts'
import { acceptedIn } from '../simulation/naive.ts'
import { Cluster, makeTestKey, type TestNode } from './nodes.ts'

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

describe('a clock that was ahead while nothing was written, and is back', () => {
  test.each(['looked at', 'loaded'])('closes no key that was %s meanwhile, and dates no reading', async (what) => {
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

  test('leaves a key that was looked at meanwhile open until it expires, to the millisecond', async () => {
    const expiresAt = Date.UTC(2026, 2, 1, 12) + dayMs / 2
    const { cluster, node, keyId } = await opened({ limit, expiresAt })
    await node.post(keyId)
    cluster.clock.advance(dayMs)
    await look(node, keyId)
    cluster.clock.set(expiresAt - 1)
    expect((await node.post(keyId))[0]).toMatchObject({ ok: true, value: { recordedAt: expiresAt - 1 } })
    cluster.clock.set(expiresAt)
    expect((await node.post(keyId))[0]).toMatchObject({ ok: false, refusal: { kind: 'key_expired' } })
  })

  test('cannot have a window judged at a time whose readings were left out when it was loaded', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId, 10)
    const now = cluster.clock.now() + limit.windowMs
    const tail = await readTail(cluster.log, readingsStream(keyId))
    const { window } = await loadReadings(cluster.log, tail, { windowMs: limit.windowMs, now })
    expect(window.latestMs).toBe(now)
  })
})

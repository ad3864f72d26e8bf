import { describe, expect, test } from 'bun:test'
import { expirySweepMs } from '../../../src/actors/node.ts'
import type { Outcome } from '../../../src/domain/refusal.ts'
import { heartbeatMs, rotationOverlapsMs } from '../../../src/limits.ts'
import { asker, Cluster, cellar, makeTestKey, reading, type TestNode, typesOf } from '../../support/two-nodes.ts'

const hourMs = 3_600_000
const overlapMs = hourMs

const granted = <T>(outcome: Outcome<T, { readonly kind: string }>): T => {
  if (!outcome.ok) throw new Error(`refused: ${outcome.refusal.kind}`)
  return outcome.value
}

type Rotating = { readonly overlapMs?: number; readonly successorId?: string }

const rotate = (node: TestNode, keyId: string, rotating: Rotating = {}) =>
  node.schedule.until(node.core.keys.rotate(keyId, { overlapMs, ...rotating }, asker))

const rotated = async (node: TestNode, keyId: string, rotating: Rotating = {}): Promise<string> => {
  const { state } = granted(await rotate(node, keyId, rotating))
  node.late.deliver()
  return state.keyId
}

/** Posts one reading, and then the node hears of all events that it has not heard of yet. */
const use = async (node: TestNode, keyId: string): Promise<string> => {
  const [answer] = await node.post(keyId)
  node.late.deliver()
  await node.schedule.quiet()
  if (answer === undefined) throw new Error('nothing was posted')
  return answer.ok ? 'accepted' : answer.refusal.kind
}

const setExpiry = (node: TestNode, keyId: string, expiresAt: number | null) =>
  node.schedule.until(node.core.keys.setExpiry(keyId, expiresAt, asker))

const expiryOf = (node: TestNode, keyId: string): number | null =>
  node.core.projections.keys.get(keyId)?.expiresAt ?? null

/** Leaves out `KeyExpired`, because a sweep may record it earlier or later. */
const keyTypes = async (cluster: Cluster, keyId: string): Promise<readonly string[]> =>
  typesOf((await cluster.streams(keyId)).key).filter((type) => type !== 'KeyExpired')

type Opened = { readonly cluster: Cluster; readonly node: TestNode; readonly keyId: string }

const opened = async (key: Parameters<typeof makeTestKey>[1] = {}): Promise<Opened> => {
  const cluster = new Cluster()
  const node = await cluster.open()
  return { cluster, node, keyId: await makeTestKey(node, key) }
}

describe('rotate()', () => {
  test('copies label, note, limit and expiry, and links both keys', async () => {
    const limit = { readings: 7, windowMs: 1_000 }
    const cluster = new Cluster()
    const expiresAt = cluster.clock.now() + 30 * 24 * hourMs
    const node = await cluster.open()
    const keyId = await makeTestKey(node, { limit, expiresAt })
    await node.schedule.until(node.core.keys.relabel(keyId, { label: 'Press', note: 'in the yard' }, asker))
    const { key, state } = granted(await rotate(node, keyId))
    expect(key).toStartWith(`clr_${state.keyId}_`)
    expect(state).toMatchObject({ label: 'Press', note: 'in the yard', limit, expiresAt, predecessorId: keyId })
    const old = node.core.projections.keys.get(keyId)
    expect(old?.rotation).toEqual({ successorId: state.keyId, overlapMs, superseded: null })
    expect(old?.expiresAt).toBe(expiresAt)
  })

  test('leaves the old key working until the new one is used', async () => {
    const { cluster, node, keyId } = await opened()
    await rotated(node, keyId, { overlapMs: 0 })
    cluster.clock.advance(400 * 24 * hourMs)
    await node.schedule.advance(expirySweepMs)
    expect(await use(node, keyId)).toBe('accepted')
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated'])
  })

  test('refuses other overlaps, and revoked, expired and unknown keys', async () => {
    const { cluster, node, keyId } = await opened({ expiresAt: new Cluster().clock.now() + 1_000 })
    const before = (await cluster.all()).length
    for (const wrong of [1, -1, Number.NaN, ...rotationOverlapsMs.map((ms) => ms + 1)]) {
      expect(await rotate(node, keyId, { overlapMs: wrong })).toMatchObject({ refusal: { kind: 'invalid_field' } })
    }
    expect(await rotate(node, keyId, { successorId: '../k' })).toMatchObject({ refusal: { kind: 'invalid_field' } })
    expect(await rotate(node, 'nowhere1')).toMatchObject({ refusal: { kind: 'key_not_found' } })
    cluster.clock.advance(1_000)
    expect(await rotate(node, keyId)).toMatchObject({ refusal: { kind: 'key_is_expired' } })
    expect(await cluster.all()).toHaveLength(before)
    await node.schedule.until(node.core.keys.revoke(keyId, '', asker))
    expect(await rotate(node, keyId)).toMatchObject({ refusal: { kind: 'key_is_revoked' } })
  })

  test('rotates a suspended key, which stays suspended', async () => {
    const { node, keyId } = await opened()
    await node.schedule.until(node.core.keys.suspend(keyId, 'leaked', asker))
    const successorId = await rotated(node, keyId)
    expect(await use(node, successorId)).toBe('accepted')
    expect(await use(node, keyId)).toBe('key_invalid')
  })

  test('refuses a form that is sent again, without any change', async () => {
    const { cluster, node, keyId } = await opened()
    const first = await rotated(node, keyId, { successorId: 'first000' })
    const second = await rotated(node, keyId)
    expect(await rotate(node, keyId, { successorId: first })).toMatchObject({ refusal: { kind: 'key_exists' } })
    expect(node.core.projections.keys.get(keyId)?.rotation?.successorId).toBe(second)
    expect(await keyTypes(cluster, first)).toEqual(['KeyCreated'])
  })

  test('makes one key of a form that two nodes get at once', async () => {
    const { cluster, node, keyId } = await opened()
    const other = await cluster.open()
    const both = await Promise.all([node, other].map((each) => rotate(each, keyId, { successorId: 'twice000' })))
    expect(both.filter(({ ok }) => ok)).toHaveLength(1)
    expect(both.find(({ ok }) => !ok)).toMatchObject({ refusal: { kind: 'key_exists' } })
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated'])
  })
})

describe('the replaced key', () => {
  const replacedId = async (node: TestNode, keyId: string, rotating: Rotating = {}): Promise<string | null> =>
    granted(await rotate(node, keyId, rotating)).replaced?.keyId ?? null

  test('is the successor before, until it is used or revoked', async () => {
    const { node, keyId } = await opened()
    expect(await replacedId(node, keyId, { successorId: 'first000' })).toBeNull()
    expect(await replacedId(node, keyId, { successorId: 'second00' })).toBe('first000')
    await node.schedule.until(node.core.keys.revoke('second00', '', asker))
    expect(await replacedId(node, keyId, { successorId: 'third000' })).toBeNull()
    expect(await use(node, 'third000')).toBe('accepted')
    await setExpiry(node, keyId, null)
    expect(await replacedId(node, keyId)).toBeNull()
  })

  test('is the same when a broken-off form is sent again', async () => {
    const { node, keyId } = await opened()
    await rotated(node, keyId, { successorId: 'before00' })
    const tries = [
      { overlapMs, nth: 2 },
      { overlapMs, nth: 1 },
      { overlapMs: 0, nth: 2 },
    ]
    for (const { nth, ...overlap } of tries) {
      node.faults.failAppend({ fault: 'not_written', nth })
      expect(await rotate(node, keyId, { ...overlap, successorId: 'follows0' })).toMatchObject({ ok: false })
    }
    expect(await replacedId(node, keyId, { overlapMs: 0, successorId: 'follows0' })).toBe('before00')
  })

  test('is never one that another node has replaced', async () => {
    const { cluster, node, keyId } = await opened()
    await rotated(node, keyId, { successorId: 'first000' })
    const late = await cluster.open()
    granted(await rotate(node, keyId, { successorId: 'second00' }))
    expect(await replacedId(late, keyId, { successorId: 'third000' })).toBeNull()
    late.late.deliver()
    node.late.deliver()
    expect(await replacedId(node, keyId, { successorId: 'fourth00' })).toBe('third000')
  })

  test('is none when another node has seen it used', async () => {
    const { cluster, node, keyId } = await opened()
    await rotated(node, keyId, { successorId: 'first000' })
    const other = await cluster.open()
    expect(await use(other, 'first000')).toBe('accepted')
    await setExpiry(other, keyId, null)
    expect(node.core.projections.readings.usage('first000')).toBeNull()
    expect(await replacedId(node, keyId)).toBeNull()
  })

  test('is the one before in the log of two rotations', async () => {
    const { cluster, node, keyId } = await opened()
    await rotated(node, keyId, { successorId: 'first000' })
    const other = await cluster.open()
    const both = await Promise.all([
      replacedId(node, keyId, { successorId: 'second00' }),
      replacedId(other, keyId, { successorId: 'third000' }),
    ])
    expect(both.filter((id) => id === 'first000')).toHaveLength(1)
  })
})

describe('a broken-off rotation', () => {
  const brokenOff = async () => {
    const { cluster, node, keyId } = await opened()
    node.faults.failAppend({ fault: 'not_written', nth: 2 })
    const answer = await rotate(node, keyId, { overlapMs: 0, successorId: 'follows0' })
    return { cluster, node, keyId, answer }
  }

  test('is not_confirmed, since something was written', async () => {
    const { node, keyId, answer } = await brokenOff()
    expect(answer).toMatchObject({ ok: false, refusal: { kind: 'not_confirmed' } })
    expect(await rotate(node, keyId, { overlapMs: 0, successorId: 'follows0' })).toMatchObject({ ok: true })
  })

  test('uses the overlap of the retry', async () => {
    const { cluster, node, keyId } = await brokenOff()
    await rotated(node, keyId, { overlapMs: 24 * hourMs, successorId: 'follows0' })
    const usedAt = cluster.clock.now()
    const restarted = await cluster.open()
    expect(await use(restarted, 'follows0')).toBe('accepted')
    node.late.deliver()
    await node.schedule.quiet()
    for (const each of [node, restarted]) expect(expiryOf(each, keyId)).toBe(usedAt + 24 * hourMs)
    const types = ['KeyCreated', 'KeyRotated', 'KeyRotated', 'KeySuperseded']
    expect(await keyTypes(cluster, keyId)).toEqual(types)
  })

  test('is not ended by another key of that id', async () => {
    const { node, keyId } = await brokenOff()
    const input = { cellar, label: '', note: '', limit: null, expiresAt: null, keyId: 'follows0' }
    granted(await node.schedule.until(node.core.keys.create(input, asker)))
    expect(await use(node, 'follows0')).toBe('accepted')
    await node.schedule.advance(expirySweepMs)
    expect(await use(node, keyId)).toBe('accepted')
  })
})

describe('the new key’s first use', () => {
  test.each(rotationOverlapsMs.map((ms) => [ms]))('ends the old one exactly %d ms later', async (ms) => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId, { overlapMs: ms })
    cluster.clock.advance(5_000)
    const usedAt = cluster.clock.now()
    expect(await use(node, successorId)).toBe('accepted')
    if (ms > 0) {
      cluster.clock.advance(ms - 1)
      expect(await use(node, keyId)).toBe('accepted')
      cluster.clock.advance(1)
    }
    expect(await use(node, keyId)).toBe('key_expired')
    expect(await use(node, successorId)).toBe('accepted')

    const { key, readings } = await cluster.streams(keyId)
    const [first] = (await cluster.streams(successorId)).readings
    expect(key.find(({ type }) => type === 'KeySuperseded')).toMatchObject({
      data: { successorId, usedAt, expiresAt: usedAt + ms },
      metadata: { by: { kind: 'system' }, causationId: first?.id },
    })
    expect(typesOf(readings)).toContain('ReadingsFenced')
  })

  test('never extends the old key’s expiry', async () => {
    const { cluster, node, keyId } = await opened({ expiresAt: new Cluster().clock.now() + overlapMs - 1 })
    const expiresAt = expiryOf(node, keyId)
    const successorId = await rotated(node, keyId)
    await use(node, successorId)
    expect(expiryOf(node, keyId)).toBe(expiresAt)
    cluster.clock.advance(overlapMs - 1)
    expect(await use(node, keyId)).toBe('key_expired')
  })

  test('keeps an earlier expiry that an admin has set', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId)
    await setExpiry(node, keyId, cluster.clock.now() + 1)
    await use(node, successorId)
    expect(expiryOf(node, keyId)).toBe(cluster.clock.now() + 1)
  })

  test('does not undo a later expiry that an admin sets', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId)
    await use(node, successorId)
    await setExpiry(node, keyId, null)
    await use(node, successorId)
    const restarted = await cluster.open()
    await restarted.schedule.advance(expirySweepMs)
    expect(expiryOf(restarted, keyId)).toBeNull()
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeySuperseded', 'KeyExpirySet'])
  })

  test('counts only for the last successor', async () => {
    const { node, keyId } = await opened()
    const first = await rotated(node, keyId, { overlapMs: 0 })
    const second = await rotated(node, keyId, { overlapMs: 0 })
    expect(await use(node, first)).toBe('accepted')
    await node.schedule.advance(expirySweepMs)
    expect(await use(node, keyId)).toBe('accepted')
    expect(await use(node, second)).toBe('accepted')
    expect(await use(node, keyId)).toBe('key_expired')
    expect(await use(node, first)).toBe('accepted')
    expect(await rotate(node, keyId)).toMatchObject({ refusal: { kind: 'key_is_superseded', successorId: second } })
  })

  test('ends the whole chain of old keys', async () => {
    const { cluster, node, keyId } = await opened()
    const middle = await rotated(node, keyId, { overlapMs: 24 * hourMs })
    const last = await rotated(node, middle, { overlapMs: 0 })
    const usedAt = cluster.clock.now()
    await use(node, last)
    await use(node, last)
    const ids = (await cluster.all()).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(expiryOf(node, middle)).toBe(usedAt)
    expect(expiryOf(node, keyId)).toBe(usedAt + 24 * hourMs)
  })

  describe('after a revoked successor', () => {
    const leaked = async () => {
      const { cluster, node, keyId } = await opened()
      const second = await rotated(node, keyId, { overlapMs: 24 * hourMs })
      const third = await rotated(node, second, { overlapMs: 0 })
      const last = await rotated(node, third, { overlapMs: 0 })
      const revoke = (each: TestNode, leakedId: string) =>
        each.schedule.until(each.core.keys.revoke(leakedId, 'leaked', asker))
      return { cluster, node, keyId, second, third, last, revoke }
    }
    const ended = ['KeyCreated', 'KeyRotated', 'KeySuperseded']
    const endedByRevocation = ['KeyCreated', 'KeyRotated', 'KeyRevoked']

    test('ends the old key', async () => {
      const { cluster, node, keyId, second, third, last, revoke } = await leaked()
      for (const each of [second, third]) await revoke(node, each)
      node.late.deliver()
      const usedAt = cluster.clock.now()
      expect(await use(node, last)).toBe('accepted')
      expect(expiryOf(node, keyId)).toBe(usedAt + 24 * hourMs)
      expect(await keyTypes(cluster, keyId)).toEqual(ended)
      for (const each of [second, third]) expect(await keyTypes(cluster, each)).toEqual(endedByRevocation)
      const [first] = (await cluster.streams(last)).readings
      const end = (await cluster.streams(keyId)).key.find(({ type }) => type === 'KeySuperseded')
      expect(end).toMatchObject({ data: { successorId: second, usedAt }, metadata: { causationId: first?.id } })
      expect(node.bugs).toEqual([])
    })

    test('ends it on a later node', async () => {
      const { cluster, node, keyId, second, third, last, revoke } = await leaked()
      for (const each of [second, third]) await revoke(node, each)
      const restarted = await cluster.open()
      expect(await use(restarted, last)).toBe('accepted')
      expect(await keyTypes(cluster, keyId)).toEqual(ended)
    })

    test('ends it at the next start', async () => {
      const { cluster, node, keyId, second, third, last, revoke } = await leaked()
      for (const each of [second, third]) await revoke(node, each)
      await node.post(last)
      expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated'])
      await cluster.open()
      expect(await keyTypes(cluster, keyId)).toEqual(ended)
    })

    test('ends it although revocations come late', async () => {
      const { cluster, node, keyId, second, third, last, revoke } = await leaked()
      const other = await cluster.open()
      for (const each of [second, third]) await revoke(other, each)
      // `other` revoked keys that `node` still believes to be valid. A revoked successor counts as used when its own
      // successor is used. So `node` must end the old key as soon as it hears of the revocations.
      expect(await use(node, last)).toBe('accepted')
      expect(await keyTypes(cluster, keyId)).toEqual(ended)
      expect(node.bugs).toEqual([])
    })
  })

  test('never comes if the new key was revoked unused', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId)
    await node.schedule.until(node.core.keys.revoke(successorId, '', asker))
    node.late.deliver()
    await node.schedule.advance(expirySweepMs)
    await cluster.open()
    expect(await use(node, keyId)).toBe('accepted')
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated'])
  })

  test('changes no revoked key', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId)
    await node.schedule.until(node.core.keys.revoke(keyId, '', asker))
    expect(await use(node, successorId)).toBe('accepted')
    await node.schedule.advance(expirySweepMs)
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeyRevoked'])
  })

  test('on two nodes at once ends the old one once', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId, { overlapMs: 0 })
    const [other, deaf] = [await cluster.open(), await cluster.open()]
    for (const each of [other, deaf, node]) expect(await use(each, keyId)).toBe('accepted')
    await other.post(successorId)
    node.late.deliver()
    other.late.deliver()
    await Promise.all([node.schedule.quiet(), other.schedule.quiet()])
    await node.schedule.advance(heartbeatMs)
    const [answer] = await deaf.post(keyId)
    expect(answer).toMatchObject({ ok: false, refusal: { kind: 'key_expired' } })
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeySuperseded'])
    for (const each of [node, other, deaf]) expect(each.bugs).toEqual([])
  })

  test('ends the old one when the store is back', async () => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId, { overlapMs: 0 })
    await node.post(successorId)
    for (let nth = 1; nth <= 3; nth += 1) node.faults.failAppend({ fault: 'not_written', nth })
    node.late.deliver()
    await node.schedule.quiet()
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated'])
    await node.schedule.advance(4 * heartbeatMs)
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeySuperseded'])
    expect(node.bugs).toEqual([])
  })
})

const faults = ['unknown_not_written', 'unknown_written'] as const
const points = faults.flatMap((fault) => [1, 2].map((nth) => ({ fault, nth })))

describe('a node dies in a rotation', () => {
  test.each(points)('at append $nth, $fault: a retry makes one key', async (at) => {
    const { cluster, node, keyId } = await opened()
    node.faults.failAppend({ ...at, thenAway: true })
    void node.core.keys.rotate(keyId, { overlapMs: 0, successorId: 'follows0' }, asker)
    await node.schedule.quiet()

    const other = await cluster.open()
    expect(await use(other, keyId)).toBe('accepted')
    expect(expiryOf(other, keyId)).toBeNull()
    const again = await rotate(other, keyId, { overlapMs: 0, successorId: 'follows0' })
    const isMade = at.nth === 2 && at.fault === 'unknown_written'
    expect(again).toMatchObject(isMade ? { ok: false, refusal: { kind: 'key_exists' } } : { ok: true })
    other.late.deliver()
    // If the successor was made, nobody knows its secret, because the answer with the secret was lost. So another key replaces
    // it.
    const successorId = isMade ? await rotated(other, keyId, { overlapMs: 0 }) : 'follows0'
    expect(await use(other, successorId)).toBe('accepted')
    expect(await use(other, keyId)).toBe('key_expired')
    expect((await keyTypes(cluster, keyId)).filter((type) => type === 'KeyRotated')).toHaveLength(isMade ? 2 : 1)
    expect(other.bugs).toEqual([])
  })
})

describe('a node dies ending a rotation', () => {
  const died = async (at: (typeof points)[number]) => {
    const { cluster, node, keyId } = await opened()
    const successorId = await rotated(node, keyId, { overlapMs: 0 })
    const [other, deaf] = [await cluster.open(), await cluster.open()]
    for (const each of [other, deaf]) expect(await use(each, keyId)).toBe('accepted')
    node.faults.failAppend({ ...at, nth: at.nth + 1, thenAway: true })
    void node.core.keys.accept(successorId, reading, cluster.newId())
    await node.schedule.quiet()
    node.late.deliver()
    await node.schedule.quiet()
    expect(node.faults.health().ok).toBe(false)
    expect(typesOf((await cluster.streams(successorId)).readings)).toEqual(['ReadingAccepted'])
    return { cluster, other, deaf, keyId }
  }

  test.each(points)('at append $nth, $fault: another node ends it', async (at) => {
    const { cluster, other, deaf, keyId } = await died(at)
    other.late.deliver()
    await other.schedule.advance(heartbeatMs)
    for (const each of [deaf, other]) {
      const [answer] = await each.post(keyId)
      expect(answer).toMatchObject({ ok: false, refusal: { kind: 'key_expired' } })
    }
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeySuperseded'])
    expect(other.bugs).toEqual([])
  })

  test.each(points)('at append $nth, $fault: the next start ends it', async (at) => {
    const { cluster, keyId } = await died(at)
    const restarted = await cluster.open()
    expect(await keyTypes(cluster, keyId)).toEqual(['KeyCreated', 'KeyRotated', 'KeySuperseded'])
    expect(await use(restarted, keyId)).toBe('key_expired')
  })
})

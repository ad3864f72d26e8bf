import { describe, expect, test } from 'bun:test'
import { mailboxCommandsMax } from '../../../src/actors/key/mailbox.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { eventsToAppend } from '../../../src/log/storable.ts'
import { asker, Cluster, makeTestKey, reading, typesOf } from '../../support/two-nodes.ts'

const twoNodes = async () => {
  const cluster = new Cluster()
  const one = await cluster.open()
  const keyId = await makeTestKey(one)
  const two = await cluster.open()
  return { cluster, one, two, keyId }
}

describe('revoke()', () => {
  test('goes before the readings that wait, and refuses them', async () => {
    const { cluster, one, keyId } = await twoNodes()
    await one.post(keyId)
    const held = one.faults.hold('before')
    const out = one.core.keys.accept(keyId, reading, cluster.newId())
    await one.schedule.quiet()
    const waiting = Array.from({ length: 50 }, () => one.core.keys.accept(keyId, reading, cluster.newId()))
    const revoked = one.core.keys.revoke(keyId, 'stolen', asker)
    held.release()
    expect((await one.schedule.until(revoked)).ok).toBe(true)
    expect((await out).ok).toBe(true)
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toEqual({ ok: false, refusal: { kind: 'key_invalid', why: 'revoked' } })
    }
    const { key, readings } = await cluster.streams(keyId)
    expect(typesOf(readings)).toEqual(['ReadingAccepted', 'ReadingAccepted', 'ReadingsSealed'])
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeyRevoked'])
  })

  test('on two nodes at once succeeds on both, with one KeyRevoked', async () => {
    const { cluster, one, two, keyId } = await twoNodes()
    await one.post(keyId)
    await two.post(keyId)
    const answers = await Promise.all([
      one.schedule.until(one.core.keys.revoke(keyId, 'stolen', asker)),
      two.schedule.until(two.core.keys.revoke(keyId, 'lost', asker)),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ ok: true })
    const { key, readings } = await cluster.streams(keyId)
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeyRevoked'])
    expect(typesOf(readings).slice(0, 2)).toEqual(['ReadingAccepted', 'ReadingAccepted'])
    expect(new Set(typesOf(readings).slice(2))).toEqual(new Set(['ReadingsSealed']))
  })

  test('on nodes with different clocks leaves a stream that others can load', async () => {
    const { cluster, one, keyId } = await twoNodes()
    await one.post(keyId)
    const now = cluster.clock.now()
    for (const [revision, recordedAt] of [
      [1, now - 100_000],
      [2, now],
    ] as const) {
      const metadata = { by: asker.by, requestId: '', correlationId: '', causationId: '' }
      const seal = { id: cluster.newId(), type: 'ReadingsSealed', recordedAt, data: { reason: '' }, metadata } as const
      await cluster.log.append(readingsStream(keyId), revision - 1, [seal])
    }
    const third = await cluster.open()
    expect((await third.post(keyId))[0]).toEqual({ ok: false, refusal: { kind: 'key_invalid', why: 'revoked' } })
    expect(third.bugs).toEqual([])
  })

  test('succeeds twice, writes once, and later commands are refused', async () => {
    const { cluster, one, keyId } = await twoNodes()
    for (const reason of ['stolen', 'lost']) {
      expect(await one.schedule.until(one.core.keys.revoke(keyId, reason, asker))).toMatchObject({
        ok: true,
        value: { revoked: { reason: 'stolen' } },
      })
    }
    expect(await one.schedule.until(one.core.keys.resume(keyId, '', asker))).toEqual({
      ok: false,
      refusal: { kind: 'key_is_revoked' },
    })
    expect(typesOf((await cluster.streams(keyId)).readings)).toEqual(['ReadingsSealed'])
  })

  test('seals at the revision that a conflict names, without a read', async () => {
    const { one, two, keyId } = await twoNodes()
    await one.post(keyId)
    await two.post(keyId, 5)
    const { read } = one.faults
    let reads = 0
    one.faults.read = (stream, options) => {
      reads += 1
      return read.call(one.faults, stream, options)
    }
    expect((await one.schedule.until(one.core.keys.revoke(keyId, 'stolen', asker))).ok).toBe(true)
    expect(reads).toBe(0)
  })

  test('leaves the seal last although another node suspends the key', async () => {
    const { cluster, one, two, keyId } = await twoNodes()
    await one.post(keyId)
    await two.post(keyId)
    // The first node's fence is held back until the second node has revoked the key. The fence must not be written after the
    // seal.
    const append = one.faults.append.bind(one.faults)
    const { promise: revoked, resolve } = Promise.withResolvers<void>()
    one.faults.append = async (stream, expected, events) => {
      if (eventsToAppend(events)[0]?.type === 'ReadingsFenced') await revoked
      return append(stream, expected, events)
    }
    const suspended = one.core.keys.suspend(keyId, 'audit', asker)
    await one.schedule.quiet()
    expect((await two.schedule.until(two.core.keys.revoke(keyId, 'stolen', asker))).ok).toBe(true)
    resolve()
    await one.schedule.until(suspended)
    expect(typesOf((await cluster.streams(keyId)).readings).at(-1)).toBe('ReadingsSealed')
    expect((await one.post(keyId))[0]).toMatchObject({ refusal: { kind: 'key_invalid', why: 'revoked' } })
  })
})

describe('a command during an outage', () => {
  test('answers not_confirmed, refuses readings, and takes effect later', async () => {
    const { cluster, one, keyId } = await twoNodes()
    await one.post(keyId)
    one.faults.failAppend({ fault: 'unknown_written', thenAway: true })
    const waiting = one.core.keys.accept(keyId, reading, cluster.newId())
    const suspended = one.core.keys.suspend(keyId, 'audit', asker)
    await one.schedule.quiet()
    expect(await waiting).toEqual({ ok: false, refusal: { kind: 'store_unavailable' } })
    expect(await one.core.keys.accept(keyId, reading, cluster.newId())).toEqual({
      ok: false,
      refusal: { kind: 'store_unavailable' },
    })
    await one.schedule.advance(requestWaitMsMax)
    expect(await suspended).toEqual({ ok: false, refusal: { kind: 'not_confirmed' } })
    one.faults.comeBack()
    await one.schedule.advance(2_000)
    expect((await one.post(keyId))[0]).toMatchObject({ refusal: { kind: 'key_invalid', why: 'suspended' } })
    const { key, readings } = await cluster.streams(keyId)
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeySuspended'])
    expect(typesOf(readings)).toEqual(['ReadingAccepted', 'ReadingsFenced'])
  })

  test('says when nothing was changed, and readings go on', async () => {
    const { one, keyId } = await twoNodes()
    await one.post(keyId)
    for (const [reason, kind] of [
      ['unavailable', 'store_unavailable'],
      ['full', 'storage_full'],
      ['overloaded', 'busy'],
    ] as const) {
      one.faults.failAppend({ fault: 'not_written', reason })
      const answer = await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))
      expect(answer).toEqual({ ok: false, refusal: { kind } })
    }
    expect((await one.post(keyId))[0]?.ok).toBe(true)
  })

  test.each(['suspend', 'revoke'] as const)('(%s) is not confirmed between its two events', async (command) => {
    const { cluster, one, two, keyId } = await twoNodes()
    await one.post(keyId)
    // The other node writes to the stream of the command's second append, so that this append meets a conflict.
    if (command === 'suspend') await two.post(keyId)
    else await two.schedule.until(two.core.keys.relabel(keyId, { label: 'Roof', note: '' }, asker))

    const first = one.faults.hold('after')
    const answer = one.core.keys[command](keyId, 'audit', asker)
    await one.schedule.quiet()
    const second = one.faults.hold('after')
    first.release()
    await one.schedule.quiet()
    expect(second.waiting).toBe(1)
    one.faults.goAway()
    second.release()

    expect(await one.schedule.until(answer)).toEqual({ ok: false, refusal: { kind: 'not_confirmed' } })
    const { key, readings } = await cluster.streams(keyId)
    expect(typesOf([...key, ...readings])).toContain(command === 'suspend' ? 'KeySuspended' : 'ReadingsSealed')
  })

  test('tries its fence until it is written', async () => {
    const { cluster, one, keyId } = await twoNodes()
    await one.post(keyId)
    one.faults.failAppend({ fault: 'not_written', nth: 2 })
    expect((await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))).ok).toBe(true)
    expect(typesOf((await cluster.streams(keyId)).readings).at(-1)).toBe('ReadingsFenced')
  })
})

describe('granting a right', () => {
  test('writes one event, and other nodes hear of it', async () => {
    const { cluster, one, two, keyId } = await twoNodes()
    await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))
    expect((await two.post(keyId))[0]).toMatchObject({ refusal: { why: 'suspended' } })
    await one.schedule.until(one.core.keys.resume(keyId, 'done', asker))
    await one.schedule.until(one.core.keys.setLimit(keyId, { readings: 7_000, windowMs: 60_000 }, asker))
    await one.schedule.until(one.core.keys.setExpiry(keyId, cluster.clock.now() + 1_000, asker))
    await one.schedule.until(one.core.keys.setExpiry(keyId, cluster.clock.now() + 2_000, asker))
    two.late.deliver()
    expect((await two.post(keyId))[0]).toMatchObject({ ok: true, value: { usage: { limit: { readings: 7_000 } } } })
    const { readings } = await cluster.streams(keyId)
    expect(typesOf(readings)).toEqual(['ReadingsFenced', 'ReadingsFenced', 'ReadingAccepted'])
    expect(readings[0]).toMatchObject({ data: { keyRevision: 1 } })
    expect(readings[1]).toMatchObject({ data: { keyRevision: 4 } })
  })

  test('is not lost while this node loads the key', async () => {
    const { one, two, keyId } = await twoNodes()
    await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))
    const { read } = two.faults
    let isResumed = false
    two.faults.read = async (stream, options) => {
      const events = await read.call(two.faults, stream, options)
      if (stream.startsWith('key-') && !isResumed) {
        isResumed = true
        await one.schedule.until(one.core.keys.resume(keyId, '', asker))
        two.late.deliver()
      }
      return events
    }
    expect((await two.post(keyId))[0]?.ok).toBe(true)
    expect(isResumed).toBe(true)
  })
})

test('a fence that is written during a load is not missed', async () => {
  const { cluster, one, two, keyId } = await twoNodes()
  const lowered = { readings: 5, windowMs: 60_000 }
  const { read } = two.faults
  let isLowered = false
  two.faults.read = async (stream, options) => {
    const events = await read.call(two.faults, stream, options)
    if (stream.startsWith('readings-') && !isLowered) {
      isLowered = true
      cluster.clock.advance(-3_600_000)
      await one.schedule.until(one.core.keys.setLimit(keyId, lowered, asker))
      await one.post(keyId)
      cluster.clock.advance(3_600_000)
    }
    return events
  }
  expect((await two.post(keyId))[0]).toMatchObject({ ok: true, value: { usage: { limit: lowered } } })
})

test('changing the label keeps the note that another node wrote', async () => {
  const { cluster, one, two, keyId } = await twoNodes()
  await two.schedule.until(two.core.keys.relabel(keyId, { label: 'Pump' }, asker))
  await one.schedule.until(one.core.keys.relabel(keyId, { note: 'on the roof' }, asker))
  const answer = await two.schedule.until(two.core.keys.relabel(keyId, { label: 'Press' }, asker))
  expect(answer).toMatchObject({ ok: true, value: { label: 'Press', note: 'on the roof' } })
  const { key } = await cluster.streams(keyId)
  expect(key.slice(-2).map(({ data }) => data)).toEqual([
    { label: 'Pump', note: 'on the roof' },
    { label: 'Press', note: 'on the roof' },
  ])
})

test('a fence older than the window counts when the key is loaded', async () => {
  const { cluster, one, keyId } = await twoNodes()
  await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))
  cluster.clock.advance(24 * 3_600_000)
  const late = await cluster.open()
  expect((await late.post(keyId))[0]).toMatchObject({ refusal: { why: 'suspended' } })
})

test('the command one past the mailbox’s bound is busy', async () => {
  const { one, keyId } = await twoNodes()
  await one.post(keyId)
  const held = one.faults.hold('before')
  const relabel = (label: string) => one.core.keys.relabel(keyId, { label, note: '' }, asker)
  const first = relabel('first')
  await one.schedule.quiet()
  const waiting = Array.from({ length: mailboxCommandsMax }, (_, index) => relabel(`label ${index}`))
  expect(await relabel('one too many')).toEqual({ ok: false, refusal: { kind: 'busy' } })
  held.release()
  const answers = await one.schedule.until(Promise.all([first, ...waiting]))
  expect(answers.every(({ ok }) => ok)).toBe(true)
})

test('a bug in a command rejects it, and the state is loaded again', async () => {
  const { one, keyId } = await twoNodes()
  const { append } = one.faults
  one.faults.append = () => Promise.reject(new TypeError('planted'))
  const failed = one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))
  expect(await failed.catch(String)).toBe('TypeError: planted')
  one.faults.append = append
  expect(await one.schedule.until(one.core.keys.suspend(keyId, 'audit', asker))).toMatchObject({ ok: true })
  expect(one.bugs).toHaveLength(1)
})

test('commands refuse an invalid field and name its bound', async () => {
  const { one, keyId } = await twoNodes()
  const { keys, cellars } = one.core
  const tooLong = 'x'.repeat(1_000)
  const refusals = [
    keys.suspend(keyId, tooLong, asker),
    keys.resume(keyId, tooLong, asker),
    keys.revoke(keyId, tooLong, asker),
    keys.relabel(keyId, { label: tooLong, note: '' }, asker),
    keys.relabel(keyId, { label: ' ', note: '' }, asker),
    keys.relabel(keyId, { label: ' ' }, asker),
    keys.relabel(keyId, { note: tooLong }, asker),
    keys.relabel(keyId, { label: 'ok', note: tooLong }, asker),
    keys.setLimit(keyId, { readings: 0, windowMs: 60_000 }, asker),
    keys.setLimit(keyId, { readings: 10_000_001, windowMs: 60_000 }, asker),
    keys.setLimit(keyId, { readings: 1.5, windowMs: 60_000 }, asker),
    keys.setLimit(keyId, { readings: 1, windowMs: 999 }, asker),
    keys.setLimit(keyId, { readings: 1, windowMs: 24 * 3_600_000 + 1 }, asker),
    keys.setExpiry(keyId, -1, asker),
    keys.create({ cellar: reading.cellar, label: tooLong, note: '', limit: null, expiresAt: null }, asker),
    keys.create({ cellar: reading.cellar, label: '', note: tooLong, limit: null, expiresAt: null }, asker),
    cellars.create({ cellar: ' a', title: '' }, asker),
    cellars.create({ cellar: 'a', title: tooLong }, asker),
    cellars.rename(reading.cellar, tooLong, asker),
    cellars.changePolicy(
      reading.cellar,
      { limit: null, readingAgeMsMax: -1, readingAheadMsMax: null, retentionMs: null },
      asker,
    ),
  ]
  for (const answer of await one.schedule.until(Promise.all(refusals))) {
    expect(answer).toMatchObject({ ok: false, refusal: { kind: 'invalid_field' } })
  }
})

import { describe, expect, test } from 'bun:test'
import type { IdempotentRequest } from '../../../src/actors/core-interface.ts'
import { appendBytesMax } from '../../../src/actors/key/key-actor.ts'
import { encodedIdempotencyBytes } from '../../../src/actors/key/mailbox.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { clockStandMs } from '../../../src/actors/time/steady-clock.ts'
import { bodyHash, idempotencyKeyHash } from '../../../src/domain/reading/idempotency-key.ts'
import { encodedBytesAtMost } from '../../../src/domain/reading/reading-size.ts'
import { heartbeatMs, idempotencyMs, readPageEventsMax } from '../../../src/limits.ts'
import { countToAppend } from '../../../src/log/storable.ts'
import { FakeRepeatsIndex } from '../../support/fake-repeats-index.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import type { AppendFault } from '../../support/logs/faulty-log.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

const opened = async (options: Parameters<typeof makeTestKey>[1] = {}) => {
  const cluster = new Cluster()
  const node = await cluster.open()
  return { cluster, node, keyId: await makeTestKey(node, options) }
}

const requestWith = (
  cluster: Cluster,
  key: string,
  body = 'body',
  more: Partial<IdempotentRequest> = {},
): IdempotentRequest => ({
  requestId: cluster.newId(),
  idempotency: {
    keyHash: idempotencyKeyHash(key) ?? '',
    bodyHash: bodyHash(new TextEncoder().encode(body)),
    batch: null,
  },
  refusal: null,
  ...more,
})

type Sent = { readonly cluster: Cluster; readonly node: TestNode; readonly keyId: string }

const send = ({ cluster, node, keyId }: Sent, key = 'one', body = 'body') =>
  node.core.keys.acceptIdempotent(keyId, reading, requestWith(cluster, key, body))

const sent = (at: Sent, key = 'one', body = 'body') => at.node.schedule.until(send(at, key, body))

const sendBatch = ({ cluster, node, keyId }: Sent, count: number, rejected: number) => {
  const request = requestWith(cluster, 'one')
  const bounds = { readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: null }
  const judgement = { kind: 'judgement' as const, rejected, rules: 1, atMs: cluster.clock.now(), bounds }
  const idempotency = {
    ...request.idempotency,
    batch: { accepted: count, refusals: rejected === 0 ? null : judgement },
  }
  const readings = columnsOf(Array.from({ length: count }, () => reading))
  return node.schedule.until(node.core.keys.acceptIdempotent(keyId, readings, { ...request, idempotency }))
}

type Kind = 'idempotency_key_reused' | 'idempotency_in_progress' | 'store_unavailable' | 'internal_error'
const refused = (kind: Kind) => ({ ok: false as const, refusal: { kind } })
const refusedSomehow = (kind: 'key_invalid' | 'rate_limited') => ({ ok: false as const, refusal: { kind } })

const expectRepeat = (answer: Awaited<ReturnType<typeof sent>>, first: Awaited<ReturnType<typeof sent>>): void => {
  if (!first.ok || !answer.ok) throw new Error(`nothing was stored: ${JSON.stringify([first, answer])}`)
  expect(first.value.repeats).toBeNull()
  expect(answer.value.repeats).not.toBeNull()
  expect({ ...answer.value, usage: null, repeats: null }).toEqual({ ...first.value, usage: null, repeats: null })
}

const stored = async ({ cluster, keyId }: Sent): Promise<number> =>
  (await cluster.streams(keyId)).readings.filter(({ type }) => type === 'ReadingAccepted').length

describe('a repeat', () => {
  test('gets the first answer, and stores and costs nothing', async () => {
    const at = await opened({ limit: { readings: 2, windowMs: 60_000 } })
    const first = await sent(at)
    at.cluster.clock.advance(1_500)
    await at.node.post(at.keyId)
    expect(await at.node.core.keys.usage(at.keyId)).toMatchObject({ used: 2 })
    expectRepeat(await sent(at), first)
    expect(await at.node.core.keys.usage(at.keyId)).toMatchObject({ used: 2 })
    expect(await sent(at, 'two')).toMatchObject(refusedSomehow('rate_limited'))
    expect(await stored(at)).toBe(2)
  })

  test('of a batch gets its whole range and its refusals', async () => {
    const at = await opened()
    await at.node.post(at.keyId)
    const first = await sendBatch(at, 3, 2)
    expect(first).toMatchObject({ ok: true, value: { first: 1, last: 3, repeats: null } })
    const again = await sendBatch(at, 3, 0)
    expectRepeat(again, first)
    expect(again).toMatchObject({
      value: { repeats: { batch: { accepted: 3, refusals: { kind: 'judgement', rejected: 2 } } } },
    })
    expect(await stored(at)).toBe(4)
  })

  test('with another payload or endpoint is refused', async () => {
    const at = await opened()
    await sent(at)
    expect(await sent(at, 'one', 'another body')).toEqual(refused('idempotency_key_reused'))
    expect(await sendBatch(at, 1, 0)).toEqual(refused('idempotency_key_reused'))
    expect(await stored(at)).toBe(1)
  })

  test('of another API key’s idempotency key is stored', async () => {
    const at = await opened()
    await sent(at)
    const other = { ...at, keyId: await makeTestKey(at.node) }
    expect(await sent(other)).toMatchObject({ ok: true, value: { repeats: null } })
  })

  test('must wait while the first is running, whatever its payload', async () => {
    const at = await opened()
    await at.node.post(at.keyId)
    for (const where of ['before', 'after'] as const) {
      const held = at.node.faults.hold(where)
      const first = send(at, where)
      expect(await send(at, where)).toEqual(refused('idempotency_in_progress'))
      await at.node.schedule.quiet()
      expect(await send(at, where)).toEqual(refused('idempotency_in_progress'))
      expect(await send(at, where, 'another')).toEqual(refused('idempotency_in_progress'))
      held.release()
      const answer = await at.node.schedule.until(first)
      expectRepeat(await sent(at, where), answer)
    }
    expect(await stored(at)).toBe(3)
  })

  test('must wait while the first waits for its API key to load', async () => {
    const at = await opened()
    const node = await at.cluster.open()
    const first = send({ ...at, node })
    expect(await send({ ...at, node })).toEqual(refused('idempotency_in_progress'))
    expect(await node.schedule.until(first)).toMatchObject({ ok: true })
  })

  const doubts: AppendFault[] = ['unknown_written', 'unknown_not_written']
  for (const fault of doubts) {
    test(`of a 503 waits until the outcome is known (${fault})`, async () => {
      const at = await opened()
      await at.node.post(at.keyId)
      for (let nth = 1; nth < 40; nth += 1) at.node.faults.failAppend({ fault, nth })
      const first = send(at)
      await at.node.schedule.advance(requestWaitMsMax + 1_000)
      expect(await first).toEqual(refused('store_unavailable'))
      expect(await send(at)).toEqual(refused('idempotency_in_progress'))
      await at.node.schedule.advance(60_000)
      const again = await sent(at)
      expect(again).toMatchObject({ ok: true, value: { first: 1 } })
      expect(again.ok && again.value.repeats).not.toBeNull()
      expect(await stored(at)).toBe(2)
    })

    test(`is stored once after its node died (${fault})`, async () => {
      const at = await opened()
      at.node.faults.failAppend({ fault, thenAway: true })
      send(at).catch(() => {})
      await at.node.schedule.advance(1_000)
      const [second, third] = [await at.cluster.open(), await at.cluster.open()]
      const answers = [await sent({ ...at, node: second }), await sent({ ...at, node: third })]
      expect(answers).toMatchObject([
        { ok: true, value: { first: 0 } },
        { ok: true, value: { first: 0 } },
      ])
      expect(answers[0]?.ok && answers[0].value.repeats !== null).toBe(fault === 'unknown_written')
      expect(answers[1]?.ok && answers[1].value.repeats).not.toBeNull()
      expect(await stored(at)).toBe(1)
    })
  }

  test('is judged again if the first stored nothing', async () => {
    const at = await opened({ limit: { readings: 1, windowMs: 1_000 } })
    at.node.faults.failAppend({ fault: 'not_written' })
    expect(await sent(at)).toEqual(refused('store_unavailable'))
    await at.node.post(at.keyId)
    expect(await sent(at)).toMatchObject(refusedSomehow('rate_limited'))
    at.cluster.clock.advance(2_000)
    expect(await sent(at)).toMatchObject({ ok: true, value: { first: 1, repeats: null } })
  })

  test('is refused when its API key is suspended or revoked', async () => {
    const at = await opened()
    await sent(at)
    await at.node.schedule.until(at.node.core.keys.suspend(at.keyId, '', asker))
    expect(await sent(at)).toMatchObject(refusedSomehow('key_invalid'))
    await at.node.schedule.until(at.node.core.keys.revoke(at.keyId, '', asker))
    expect(await sent(at)).toMatchObject(refusedSomehow('key_invalid'))
  })

  test('is known for exactly 24 hours', async () => {
    const at = await opened()
    const first = await sent(at)
    const clockKey = await makeTestKey(at.node)
    at.cluster.clock.advance(idempotencyMs - 1)
    expectRepeat(await sent(at), first)
    await at.node.post(clockKey)
    expectRepeat(await sent({ ...at, node: await at.cluster.open() }), first)
    at.cluster.clock.advance(1)
    await at.node.post(clockKey)
    const later = { ...at, node: await at.cluster.open() }
    expect(await sent(later, 'one', 'another body')).toMatchObject({ ok: true, value: { first: 1, repeats: null } })
    expect(await sent(later)).toEqual(refused('idempotency_key_reused'))
  })

  describe('around a clock leap', () => {
    /** The clock jumps ahead, and stays there until the node believes the new time. */
    const leap = async (at: Sent): Promise<void> => {
      at.cluster.clock.leap(ahead)
      await at.node.schedule.advance(heartbeatMs)
      at.cluster.clock.advance(clockStandMs)
    }
    const leapBack = async (at: Sent): Promise<void> => {
      at.cluster.clock.leap(-ahead)
      await at.node.schedule.advance(heartbeatMs)
    }
    const ahead = idempotencyMs + 3_600_000

    test('gets the first answer from that node', async () => {
      const at = await opened()
      const first = await sent(at)
      await leap(at)
      expectRepeat(await sent(at), first)
      await at.node.schedule.advance(heartbeatMs)
      expectRepeat(await sent(at), first)
      await leapBack(at)
      expectRepeat(await sent(at), first)
      expect(await stored(at)).toBe(1)
    })

    test('gets it from every node despite future readings', async () => {
      const at = await opened()
      const first = await sent(at)
      await leap(at)
      const [dated] = await at.node.post(at.keyId)
      expect(dated).toMatchObject({ ok: true, value: { recordedAt: at.cluster.clock.now() } })
      await leapBack(at)
      expectRepeat(await sent(at), first)
      expectRepeat(await sent({ ...at, node: await at.cluster.open() }), first)
      expect(await stored(at)).toBe(2)
    })

    test('gets it although another node’s clock is wrong', async () => {
      const at = await opened()
      const first = await sent(at)
      const wrong = await at.cluster.open({ skewMs: ahead })
      expect((await wrong.post(at.keyId))[0]).toMatchObject({ ok: true })
      expectRepeat(await sent(at), first)
      expect(await stored(at)).toBe(2)
    })
  })

  test('gets the first answer although it would be refused by now', async () => {
    const at = await opened()
    const first = await sent(at)
    const tooOld = { kind: 'timestamp_too_old' as const, ageMsMax: 1_000 }
    const ask = (key: string) =>
      at.node.core.keys.acceptIdempotent(at.keyId, reading, requestWith(at.cluster, key, 'body', { refusal: tooOld }))
    expectRepeat(await ask('one'), first)
    expect(await ask('two')).toEqual({ ok: false, refusal: tooOld })
    const node = await at.cluster.open()
    const unloaded = [requestWith(at.cluster, 'two', 'body', { refusal: tooOld }), requestWith(at.cluster, 'one')].map(
      (request) => node.core.keys.acceptIdempotent(at.keyId, columnsOf([]), request),
    )
    expect((await node.schedule.until(Promise.all(unloaded))).map(({ ok }) => ok)).toEqual([false, true])
    expect(await stored(at)).toBe(1)
  })
})

test('an append counts the bytes of its idempotency keys', async () => {
  const at = await opened()
  expect(await sent(at)).toMatchObject({ ok: true })
  const sizes: number[] = []
  const append = at.cluster.log.append.bind(at.cluster.log)
  at.cluster.log.append = (stream, expected, events) => {
    sizes.push(countToAppend(events))
    return append(stream, expected, events)
  }
  const each = encodedBytesAtMost(reading) + encodedIdempotencyBytes
  const most = Math.floor(appendBytesMax / each)
  const answers = Array.from({ length: most + 1 }, (_, number) => send(at, `key ${number}`))
  expect((await at.node.schedule.until(Promise.all(answers))).every(({ ok }) => ok)).toBe(true)
  expect(sizes).toEqual([most, 1])
})

describe('a repeat on another node', () => {
  const two = async () => {
    const at = await opened()
    const other = { ...at, node: await at.cluster.open() }
    await other.node.post(at.keyId)
    await at.node.post(at.keyId)
    return { at, other }
  }

  test('gets the first answer after a conflict', async () => {
    const { at, other } = await two()
    const first = await sent(at)
    const appends = other.node.faults.appends
    expectRepeat(await sent(other), first)
    expect(other.node.faults.appends).toBe(appends + 1)
    expect(await stored(at)).toBe(3)
  })

  test('is looked for in the log, before the loaded events', async () => {
    const at = await opened()
    const other = { ...at, node: await at.cluster.open() }
    const first = await sent(at)
    await at.node.post(at.keyId, 2 * readPageEventsMax)
    expectRepeat(await sent(other), first)
    expect(await stored(at)).toBe(1 + 2 * readPageEventsMax)
  })

  test('sent to both nodes at once is stored by one', async () => {
    const { at, other } = await two()
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all([sent(at, `key ${round}`), sent(other, `key ${round}`)])
      const [one, two] = answers
      if (!one?.ok || !two?.ok) throw new Error('one of them was refused')
      expect(one.value.first).toBe(two.value.first)
      expect([one.value.repeats, two.value.repeats].filter((repeats) => repeats === null)).toHaveLength(1)
    }
    expect(await stored(at)).toBe(22)
  })

  test('is refused after an unheard revocation or suspension', async () => {
    const { at, other } = await two()
    await sent(other)
    await at.node.schedule.until(at.node.core.keys.suspend(at.keyId, '', asker))
    expect(await sent(other)).toMatchObject(refusedSomehow('key_invalid'))
    await at.node.schedule.until(at.node.core.keys.resume(at.keyId, '', asker))
    other.node.late.deliver()
    expect(await sent(other)).toMatchObject({ ok: true })
    await at.node.schedule.until(at.node.core.keys.revoke(at.keyId, '', asker))
    expect(await sent(other)).toMatchObject(refusedSomehow('key_invalid'))
  })

  test('with another payload is refused before its first is heard', async () => {
    const { at, other } = await two()
    await sent(at)
    expect(await sent(other, 'one', 'another body')).toEqual(refused('idempotency_key_reused'))
  })
})

test('a node whose index is away refuses only requests with an idempotency key', async () => {
  const at = await opened()
  const idempotency = new FakeRepeatsIndex(at.cluster.log)
  const node = await at.cluster.open({ idempotency })
  idempotency.lose()
  expect(await sent({ ...at, node })).toEqual(refused('store_unavailable'))
  expect((await node.post(at.keyId))[0]).toMatchObject({ ok: true })
})

test('a read of the news confirms only requests that came before it', async () => {
  const at = await opened()
  const other = await at.cluster.open()
  expect(await sent(at)).toMatchObject({ ok: true })
  const read = at.node.faults.read.bind(at.node.faults)
  const looked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  at.node.faults.read = async (...asked) => {
    const page = await read(...asked)
    looked.resolve()
    await released.promise
    return page
  }
  const first = send(at)
  await at.node.schedule.until(looked.promise)
  await at.node.schedule.advance(2 * requestWaitMsMax)
  expect(await first).toEqual(refused('store_unavailable'))
  expect(await other.schedule.until(other.core.keys.revoke(at.keyId, '', asker))).toMatchObject({ ok: true })
  const again = send(at)
  at.node.faults.read = read
  released.resolve()
  expect(await at.node.schedule.until(again)).toMatchObject(refusedSomehow('key_invalid'))
})

test('a bug answers all waiting requests and frees their idempotency keys', async () => {
  const cluster = new Cluster()
  const index = new FakeRepeatsIndex(cluster.log)
  const find = index.find.bind(index)
  const node = await cluster.open({ idempotency: index })
  const at = { cluster, node, keyId: await makeTestKey(node) }
  await index.commit()
  index.find = () => {
    index.find = find
    throw new TypeError('a bug')
  }
  const answers = await node.schedule.until(
    Promise.all([send(at, 'one'), send(at, 'two'), node.core.keys.accept(at.keyId, reading, cluster.newId())]),
  )
  expect(answers).toEqual([refused('internal_error'), refused('internal_error'), refused('internal_error')])
  expect(node.bugs).toHaveLength(1)
  expect(await sent(at, 'one')).toMatchObject({ ok: true })
  expect(await sent(at, 'two')).toMatchObject({ ok: true })
})

import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { askedBy } from '../../../src/actors/asked-by.ts'
import type { Sent } from '../../../src/actors/webhooks/webhook-parts.ts'
import type { Webhook } from '../../../src/domain/attention/webhook.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/domain/calendar.ts'
import type { Decided } from '../../../src/domain/events.ts'
import { attentionStream, deliveriesStream } from '../../../src/domain/stream-names.ts'
import { broken, ok, WebhookCluster, type WebhookNode } from '../../support/attention/webhook-nodes.ts'
import { asker, cellar } from '../../support/two-nodes.ts'

setDefaultTimeout(120_000)

let nodes: WebhookCluster
let first: WebhookNode
let webhook: Webhook

beforeEach(async () => {
  nodes = new WebhookCluster()
  first = await nodes.open('first')
  webhook = await nodes.set(first)
})

/** Like `begun 1 first` and `failed 1`. */
const recordsOf = async (): Promise<readonly string[]> =>
  (await nodes.deliveries(webhook)).flatMap(({ type, data }) => {
    if (type === 'DeliveryBegun') return [`begun ${data.attempt} ${data.node}`]
    return type === 'DeliveryEnded' ? [`${data.outcome} ${data.attempt}`] : []
  })

/** Receivers that answer when the test says so, in the order of the requests. */
const answersLater = () => {
  const settle: ((sent: Sent) => void)[] = []
  nodes.answer = () => new Promise((resolve) => settle.push(resolve))
  return settle
}

/** As another node would. */
const append = async (decided: Decided<'DeliveryEnded' | 'RecordsPurged'>): Promise<void> => {
  const { log, clock } = nodes.cluster
  const stream = deliveriesStream(webhook.webhookId)
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  const event = { ...decided, id: nodes.cluster.newId(), recordedAt: clock.now(), metadata: askedBy(asker) }
  await log.append(stream, last?.revision ?? 'none', [event])
}

const passUntil = async (isTrue: () => Promise<boolean> | boolean): Promise<void> => {
  for (let steps = 0; !(await isTrue()); steps += 1) {
    if (steps > 1_000) throw new Error('It never became true')
    await nodes.pass(500)
  }
}

test.each([true, false])(
  'a node that was suspended ends only its own claim (answersFirst: %p)',
  async (answersFirst) => {
    nodes.answersFirst = answersFirst
    await nodes.open('second')
    const settle = answersLater()
    for (let count = 0; count < 3; count += 1) await nodes.record()
    await passUntil(() => nodes.requests.length === 1)
    nodes.nodes.splice(0, 1)
    await passUntil(() => nodes.requests.length === 2)
    nodes.nodes.push(first)
    first.late.deliver()
    settle[0]?.(ok)
    await nodes.pass(5_000)
    expect(await recordsOf()).toEqual(['begun 1 first', 'unknown 1', 'begun 1 second'])
    expect(nodes.requests.map(({ node }) => node)).toEqual(['first', 'second'])
  },
)

test('a claim whose answer comes after another node has taken over is not ended', async () => {
  await nodes.open('second')
  answersLater()
  for (let count = 0; count < 3; count += 1) await nodes.record()
  await nodes.pass(9_000)
  const held = first.faults.hold('after')
  await passUntil(() => nodes.requests.length === 1)
  held.release()
  await nodes.pass(5_000)
  expect(await recordsOf()).toEqual(['begun 1 first', 'unknown 1', 'begun 1 second'])
})

test('the end of another attempt leaves the claim open', async () => {
  const settle = answersLater()
  const ids = [await nodes.record(), await nodes.record()]
  await passUntil(() => nodes.requests.length === 1)
  const { webhookId } = webhook
  const attempt = { webhookId, messageId: ids[0] ?? '', attempt: 2, status: 500, answer: null, why: null, tookMs: 1 }
  await append({ type: 'DeliveryEnded', data: { ...attempt, outcome: 'failed' } })
  await nodes.pass(10_000)
  expect(nodes.requests).toHaveLength(1)
  settle[0]?.(ok)
  await nodes.pass(1_000)
  expect((await recordsOf()).slice(0, 4)).toEqual(['begun 1 first', 'failed 2', 'delivered 1', 'begun 1 first'])
})

test('a message is sent once if retention writes between its claim and its end', async () => {
  nodes.answer = async () => {
    if (nodes.requests.length > 1) return ok
    await append({ type: 'RecordsPurged', data: { firstRevision: 0, lastRevision: 0, recordedBefore: dayMs } })
    return ok
  }
  const id = await nodes.record()
  await nodes.pass(2 * minuteMs)
  expect(nodes.sent).toEqual([id])
  expect(await recordsOf()).toEqual(['begun 1 first', 'delivered 1'])
})

test.each([true, false])('a restart sends all that waits at once (answersFirst: %p)', async (answersFirst) => {
  nodes.answersFirst = answersFirst
  nodes.kill(first)
  for (let count = 0; count < 20; count += 1) await nodes.record()
  await nodes.open('next')
  await nodes.pass(25_000)
  expect(nodes.sent).toHaveLength(20)
})

describe('while a claim is appended', () => {
  /** The claim is stored, but its answer has not come. */
  const holdClaim = async () => {
    nodes.answer = async () => broken
    for (let count = 0; count < 5; count += 1) await nodes.record()
    await nodes.pass(minuteMs)
    nodes.answer = async () => ok
    nodes.requests.splice(0)
    const before = (await nodes.deliveries(webhook)).length
    const held = first.faults.hold('after')
    await passUntil(async () => (await nodes.deliveries(webhook)).length > before)
    return held
  }

  test('a removal keeps the request and all later ones from being sent', async () => {
    const second = await nodes.open('second')
    const held = await holdClaim()
    await second.schedule.until(second.core.webhooks.remove(webhook.webhookId, asker))
    first.late.deliver()
    held.release()
    await nodes.pass(2 * minuteMs)
    expect(nodes.sent).toEqual([])
    expect((await recordsOf()).at(-1)).toStartWith('unknown')
  })

  test('a change of the address sends to the new one', async () => {
    const second = await nodes.open('second')
    const held = await holdClaim()
    const url = 'https://new.example/'
    await second.schedule.until(second.core.webhooks.set({ ...webhook, url }, asker))
    first.late.deliver()
    held.release()
    await nodes.pass(2 * minuteMs)
    expect(new Set(nodes.requests.map((request) => request.url))).toEqual(new Set([url]))
  })

  test('a stop of the node sends nothing more, and the next node sends it', async () => {
    const held = await holdClaim()
    const drained = first.core.drain()
    held.release()
    await first.schedule.until(drained)
    expect(nodes.sent).toEqual([])
    nodes.kill(first)
    await nodes.open('next')
    await nodes.pass(15_000)
    expect(new Set(nodes.sent).size).toBe(5)
    expect(nodes.sent).toHaveLength(5)
  })
})

describe('a stop of the node', () => {
  test('waits for a request under way, so it is not sent twice', async () => {
    nodes.answer = ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ ...ok, status: null }))
        first.schedule.after(5_000, () => resolve(ok))
      })
    const id = await nodes.record()
    await passUntil(() => nodes.requests.length === 1)
    await first.schedule.until(first.core.drain())
    expect(await recordsOf()).toEqual(['begun 1 first', 'delivered 1'])
    nodes.kill(first)
    await nodes.open('next')
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
  })

  test.each([
    ['an answer that has begun', ok, 'delivered 1'],
    ['no answer', { ...ok, status: null }, 'unknown 1'],
  ])('ends a longer request, and records %s', async (_, sent, record) => {
    nodes.answer = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => first.schedule.after(100, () => resolve(sent))))
    await nodes.record()
    await passUntil(() => nodes.requests.length === 1)
    await first.schedule.until(first.core.drain())
    expect(await recordsOf()).toEqual(['begun 1 first', record])
  })
})

test('a removal during a request is recorded as such', async () => {
  nodes.answer = ({ signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ ...ok, status: null })))
  await nodes.record()
  await passUntil(() => nodes.requests.length === 1)
  await first.schedule.until(first.core.webhooks.remove(webhook.webhookId, asker))
  await nodes.pass(1_000)
  expect((await nodes.deliveries(webhook)).at(-1)?.data).toMatchObject({
    outcome: 'unknown',
    why: 'The webhook was removed.',
  })
})

test('a test is answered in an outage, and the next by its own attempt', async () => {
  first.faults.failAppend({ fault: 'unknown_not_written', thenAway: true })
  const asked = first.core.webhooks.test(webhook.webhookId, asker)
  await nodes.pass(25_000)
  expect(await asked).toEqual({ ok: false, refusal: { kind: 'busy' } })
  const again = first.core.webhooks.test(webhook.webhookId, asker)
  first.faults.comeBack()
  const answer = await first.schedule.until(again)
  expect(nodes.requests.map(({ messageId }) => messageId)).toEqual([answer.ok ? answer.value.messageId : ''])
})

test.each([true, false])(
  'a message without its record is given up, others are sent (answersFirst: %p)',
  async (answersFirst) => {
    nodes.answersFirst = answersFirst
    const ids = [await nodes.record(), await nodes.record()]
    await nodes.pass(1_000)
    await nodes.cluster.log.truncate(attentionStream(cellar), 1)
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual(ids.slice(1))
    const [end] = await nodes.deliveries(webhook)
    expect(end?.data).toMatchObject({ messageId: ids[0], outcome: 'given_up', why: expect.stringContaining('deleted') })
    expect(await recordsOf()).toEqual(['given_up 1', 'begun 1 first', 'delivered 1'])
  },
)

test('a message whose text cannot be made is given up, and not tried again', async () => {
  nodes.kill(first)
  const id = await nodes.record()
  const poor = await nodes.open('poor', {
    wordsOf: () => {
      throw new Error('No words.')
    },
  })
  await nodes.pass(minuteMs)
  expect(poor.bugs).toHaveLength(1)
  expect((await nodes.deliveries(webhook)).map(({ data }) => data)).toMatchObject([
    { messageId: id, outcome: 'given_up' },
  ])
})

test('a changed address ends the pause, and a change of the kinds does not', async () => {
  nodes.answer = async () => broken
  await nodes.record()
  await passUntil(() => nodes.requests.length === 6)
  await first.schedule.until(first.core.webhooks.set({ ...webhook, kinds: ['silent'] }, asker))
  await nodes.pass(15_000)
  expect(nodes.requests).toHaveLength(6)
  await first.schedule.until(first.core.webhooks.set({ ...webhook, url: 'https://new.example/' }, asker))
  await nodes.pass(15_000)
  expect(nodes.requests.length).toBeGreaterThan(6)
})

describe('a clock', () => {
  test('that was set back after a change of the webhook keeps no message from it', async () => {
    nodes.cluster.clock.leap(-2 * hourMs)
    const id = await nodes.record()
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
  })

  test('that is behind at the start discards nothing that waits', async () => {
    nodes.answer = async () => broken
    const gaveUp = await nodes.record()
    await nodes.pass(minuteMs)
    nodes.cluster.clock.advance(dayMs)
    await nodes.pass(6 * minuteMs)
    expect((await recordsOf()).at(-1)).toStartWith('given_up')
    const id = await nodes.record()
    nodes.kill(first)
    nodes.cluster.clock.leap(-20 * dayMs)
    nodes.requests.splice(0)
    nodes.answer = async () => ok
    await nodes.open('next')
    await nodes.pass(6 * minuteMs)
    expect(nodes.sent).toEqual([id])
    expect(nodes.sent).not.toContain(gaveUp)
  })
})

test('a message from the future that is given up takes no later one with it', async () => {
  nodes.answer = async () => broken
  nodes.cluster.clock.leap(5 * dayMs)
  await nodes.record()
  await nodes.pass(1_000)
  nodes.cluster.clock.leap(-5 * dayMs)
  nodes.cluster.clock.advance(dayMs - minuteMs)
  const id = await nodes.record()
  await nodes.pass(1_000)
  nodes.cluster.clock.advance(2 * minuteMs)
  await nodes.pass(6 * minuteMs)
  expect((await recordsOf()).filter((record) => record.startsWith('given_up'))).toHaveLength(1)
  nodes.cluster.clock.leap(-2 * dayMs)
  const later = await nodes.record()
  nodes.requests.splice(0)
  nodes.answer = async () => ok
  await nodes.pass(6 * minuteMs)
  expect(nodes.sent.toSorted()).toEqual([id, later])
})

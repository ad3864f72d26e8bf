import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Sent } from '../../../src/actors/webhooks/webhook-parts.ts'
import { attemptMsMax } from '../../../src/actors/webhooks/webhook-sender.ts'
import { attemptsPerDayMax } from '../../../src/domain/attention/delivery-queue.ts'
import type { Webhook } from '../../../src/domain/attention/webhook.ts'
import { dayMs, minuteMs } from '../../../src/domain/calendar.ts'
import {
  attentionRestsStream,
  deliveriesStream,
  nodesAttentionStream,
  webhooksStream,
} from '../../../src/domain/stream-names.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import {
  broken,
  changedBy,
  fromCheckpoint,
  ok,
  WebhookCluster,
  type WebhookNode,
} from '../../support/attention/webhook-nodes.ts'
import type { AppendFault } from '../../support/logs/faulty-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { asker, cellar, makeTestKey } from '../../support/two-nodes.ts'

setDefaultTimeout(120_000)

let nodes: WebhookCluster
let first: WebhookNode
let webhook: Webhook

beforeEach(async () => {
  nodes = new WebhookCluster()
  first = await nodes.open('first')
  webhook = await nodes.set(first)
})

/** As an older version reads the first record of the stream. */
const withUnreadable = (log: EventLog, stream: string): EventLog =>
  changedBy(log, (event) =>
    event.stream !== stream || event.revision > 0
      ? event
      : { ...event, type: 'RecordUnreadable', data: { type: event.type, why: 'too new' } },
  )

const withDamage = (log: EventLog, stream: string): EventLog => ({
  ...passingLog(log),
  read: async (name, options) => {
    if (name !== stream) return log.read(name, options)
    throw new DamagedLog({ stream: name, revision: 0, position: null }, 'a test')
  },
})

const never = (): Promise<Sent> => new Promise(() => {})

/** Like `begun 1` and `failed 1`. */
const recordsOf = async (of: Webhook = webhook): Promise<readonly string[]> =>
  (await nodes.deliveries(of)).flatMap(({ type, data }) => {
    if (type === 'DeliveryBegun') return [`begun ${data.attempt}`]
    return type === 'DeliveryEnded' ? [`${data.outcome} ${data.attempt}`] : []
  })

test('a record is sent once, with what began and ended', async () => {
  const id = await nodes.record([{ rack: 'A', count: 12 }], [{ kind: 'key_expires', keyId: '7Qp2mZ4k' }])
  await nodes.pass(2 * minuteMs)
  expect(nodes.sent).toEqual([id])
  const [request] = nodes.requests
  expect(request).toMatchObject({ url: webhook.url, secret: `whsec_${webhook.webhookId}` })
  expect(JSON.parse(request?.body ?? '')).toEqual({
    type: 'attention.changed',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: {
      cellar,
      text: 'wine-berlin: silent A.\nResolved: wine-berlin: key_expires. (2026-03-01 12:00:00 UTC)',
      began: [{ kind: 'silent', since: '2026-03-01T12:00:00.000Z', rack: 'A', count: 12, text: 'silent A' }],
      ended: [{ kind: 'key_expires', since: '2026-03-01T12:00:00.000Z', key: '7Qp2mZ4k', text: 'key_expires' }],
      more: 0,
    },
  })
  expect(await recordsOf()).toEqual(['begun 1', 'delivered 1'])
  expect(first.core.webhooks.status(webhook.webhookId)).toMatchObject({
    waiting: 0,
    failingSinceMs: null,
    nextTryMs: null,
  })
})

describe('after a failure', () => {
  test.each([true, false])(
    'the same message is tried again after longer and longer pauses (answersFirst: %p)',
    async (answersFirst) => {
      nodes.answersFirst = answersFirst
      nodes.answer = async () => broken
      const id = await nodes.record()
      await nodes.pass(20 * minuteMs)
      expect(new Set(nodes.sent)).toEqual(new Set([id]))
      const pauses = nodes.requests.slice(1).map(({ atMs }, at) => atMs - (nodes.requests[at]?.atMs ?? 0))
      for (const [at, wantedMs] of [5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 300_000].entries()) {
        expect(pauses[at]).toBeGreaterThan(0.9 * wantedMs)
        expect(pauses[at]).toBeLessThan(1.1 * wantedMs + 1_000)
      }
      expect((await recordsOf()).slice(0, 4)).toEqual(['begun 1', 'failed 1', 'begun 2', 'failed 2'])
      const { failingSinceMs, nextTryMs, waiting } = first.core.webhooks.status(webhook.webhookId)
      expect(failingSinceMs).toBe(nodes.requests[0]?.atMs ?? 0)
      expect(nextTryMs).toBeGreaterThan(nodes.cluster.clock.now())
      expect(waiting).toBe(1)
    },
  )

  test.each([199, 301, 410, 500])('of status %i, too', async (status) => {
    nodes.answer = async () => ({ ...ok, status })
    await nodes.record()
    await nodes.pass(30_000)
    expect(nodes.sent.length).toBeGreaterThan(1)
  })

  test('a success ends the pause for all that waits', async () => {
    nodes.answer = async () => broken
    for (let count = 0; count < 5; count += 1) await nodes.record()
    await nodes.pass(10 * minuteMs)
    nodes.requests.splice(0)
    nodes.answer = async () => ok
    await nodes.pass(6 * minuteMs)
    expect(new Set(nodes.sent).size).toBe(5)
    const times = nodes.requests.map(({ atMs }) => atMs)
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1_000)
    expect(first.core.webhooks.status(webhook.webhookId).failingSinceMs).toBe(null)
  })

  test('one message that always fails does not hold up the others', async () => {
    const poisoned = await nodes.record()
    nodes.answer = async ({ messageId }) => (messageId === poisoned ? broken : ok)
    await nodes.pass(5 * minuteMs)
    const others = [await nodes.record(), await nodes.record()]
    await nodes.pass(6 * minuteMs)
    expect(nodes.sent.filter((id) => id !== poisoned)).toEqual(others)
    expect(nodes.sent.filter((id) => id === poisoned).length).toBeGreaterThan(5)
  })

  test('a message is given up after a day, and a record says so', async () => {
    nodes.answer = async () => broken
    const id = await nodes.record()
    await nodes.pass(minuteMs)
    nodes.cluster.clock.advance(dayMs - 2 * minuteMs)
    await nodes.pass(minuteMs - 1_000)
    expect(first.core.webhooks.status(webhook.webhookId).waiting).toBe(1)
    await nodes.pass(6 * minuteMs)
    expect(first.core.webhooks.status(webhook.webhookId).waiting).toBe(0)
    expect((await recordsOf()).at(-1)).toStartWith('given_up')
    nodes.requests.splice(0)
    nodes.answer = async () => ok
    await nodes.open('next')
    await nodes.pass(6 * minuteMs)
    expect(nodes.sent).not.toContain(id)
  })
})

test('a record from the future is given up after a day, too', async () => {
  nodes.answer = async () => broken
  nodes.cluster.clock.leap(365 * dayMs)
  await nodes.record()
  nodes.cluster.clock.leap(-365 * dayMs)
  await nodes.pass(minuteMs)
  expect(nodes.requests).not.toHaveLength(0)
  nodes.cluster.clock.advance(dayMs)
  await nodes.pass(6 * minuteMs)
  expect(first.core.webhooks.status(webhook.webhookId).waiting).toBe(0)
})

test('of more than 1,000 waiting messages, the oldest are given up with one record', async () => {
  nodes.answer = async () => broken
  const ids: string[] = []
  for (let count = 0; count < 1_010; count += 1) {
    nodes.cluster.clock.advance(1)
    ids.push(await nodes.record())
  }
  await nodes.pass(minuteMs)
  expect(first.core.webhooks.status(webhook.webhookId).waiting).toBe(1_000)
  expect((await recordsOf()).filter((record) => record.startsWith('given_up'))).toHaveLength(1)
  nodes.kill(first)
  nodes.requests.splice(0)
  nodes.answer = async () => ok
  await nodes.open('next')
  await nodes.pass(10 * minuteMs)
  expect(new Set(nodes.sent)).toEqual(new Set(ids.slice(10)))
  nodes.requests.splice(0)
  await nodes.open('another')
  await nodes.pass(2 * minuteMs)
  expect(nodes.sent).toEqual([])
})

test('a webhook has a thousand attempts a day, also over a restart', async () => {
  for (let part = 0; part < 2; part += 1) {
    for (let count = 0; count < 600; count += 1) await nodes.record()
    await nodes.pass(minuteMs)
  }
  const before = nodes.requests.length
  expect(before).toBeGreaterThanOrEqual(attemptsPerDayMax)
  expect(before).toBeLessThan(attemptsPerDayMax + 10)
  const { nextTryMs } = first.core.webhooks.status(webhook.webhookId)
  expect(nextTryMs).toBeGreaterThan(nodes.cluster.clock.now())
  nodes.kill(first)
  await nodes.open('next')
  await nodes.pass(10 * minuteMs)
  expect(nodes.requests.length - before).toBeLessThan(10)
  await nodes.pass(dayMs / 8)
  expect(nodes.requests.length - before).toBeGreaterThan(100)
  expect(nodes.requests.length - before).toBeLessThan(140)
})

describe('what is not sent', () => {
  test('records of other kinds, also after a change of the kinds', async () => {
    const narrow = await nodes.set(first, { kinds: ['backup_old'], url: 'https://narrow.example' })
    await nodes.record([{ kind: 'silent' }])
    const wanted = await nodes.record([{ kind: 'silent' }, { kind: 'backup_old' }])
    await nodes.pass(minuteMs)
    const toNarrow = nodes.requests.filter(({ url }) => url === narrow.url)
    expect(toNarrow.map(({ messageId }) => messageId)).toEqual([wanted])
    expect(JSON.parse(toNarrow[0]?.body ?? '').data.began).toHaveLength(1)
    nodes.requests.splice(0)
    await first.schedule.until(first.core.webhooks.set({ ...narrow, kinds: [] }, asker))
    await nodes.open('next')
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([])
    const wide = await nodes.record([{ kind: 'silent' }])
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([wide, wide])
  })

  test('records from before the webhook', async () => {
    await nodes.record()
    await nodes.pass(minuteMs)
    nodes.requests.splice(0)
    await nodes.set(first)
    await nodes.open('next')
    await nodes.pass(2 * minuteMs)
    expect(nodes.sent).toEqual([])
  })

  test('records that say only that all is as before', async () => {
    await nodes.record([], [])
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([])
  })

  test('messages to a webhook of another master', async () => {
    nodes.kill(first)
    await nodes.open('other', { master: () => ({ id: 'other', secretOf: () => 'wrong' }) })
    await nodes.record()
    await nodes.pass(2 * minuteMs)
    expect([nodes.sent, await recordsOf()]).toEqual([[], []])
  })

  test('messages to a removed webhook', async () => {
    await nodes.record()
    await first.schedule.until(first.core.webhooks.remove(webhook.webhookId, asker))
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([])
  })

  test('the beginning of a line at rest, but its end is', async () => {
    await nodes.record([{ rack: 'A' }])
    await nodes.pass(minuteMs)
    await first.core.attention.load()
    const untilMs = nodes.cluster.clock.now() + 10 * minuteMs
    await nodes.restLine({ kind: 'silent', rack: 'A' }, untilMs)
    nodes.requests.splice(0)
    await nodes.record([{ rack: 'A' }, { rack: 'B' }])
    await nodes.record([{ rack: 'A' }])
    await nodes.pass(minuteMs)
    expect(nodes.requests.map(({ body }) => JSON.parse(body).data)).toMatchObject([{ began: [{ rack: 'B' }] }])
    // The receiver can know of it from before the rest.
    nodes.requests.splice(0)
    await nodes.record([], [{ rack: 'A' }])
    await nodes.pass(minuteMs)
    expect(nodes.requests.map(({ body }) => JSON.parse(body).data)).toMatchObject([{ ended: [{ rack: 'A' }] }])
  })
})

describe('two nodes', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'never send to one webhook at the same time, and each message once (%i)',
    async (seed) => {
      nodes.answersFirst = seed % 2 === 0
      await nodes.open('second')
      const next = seededNumbers(seed)
      const open: (() => void)[] = []
      nodes.answer = (request) => {
        const { promise, resolve } = Promise.withResolvers<Sent>()
        open.push(() => resolve(next() % 4 === 0 ? broken : ok))
        return next() % 2 === 0 ? promise : Promise.resolve(request.messageId === '' ? broken : ok)
      }
      const ids: string[] = []
      for (let step = 0; step < 60; step += 1) {
        if (next() % 3 === 0) ids.push(await nodes.record())
        await nodes.pass(500 * (1 + (next() % 6)))
        for (const settle of open.splice(0)) settle()
      }
      nodes.answer = async () => ok
      await nodes.pass(10 * minuteMs)
      expect(nodes.mostAtOnce).toBe(1)
      const delivered = (await nodes.deliveries(webhook)).flatMap(({ type, data }) =>
        type === 'DeliveryEnded' && data.outcome === 'delivered' ? [data.messageId] : [],
      )
      expect(delivered.toSorted()).toEqual(ids.toSorted())
      expect(nodes.nodes.flatMap(({ bugs }) => bugs)).toEqual([])
    },
  )

  test('do not send twice if one hears late of the other', async () => {
    const second = await nodes.open('second')
    nodes.deliversTo = (node) => node !== second
    const id = await nodes.record()
    await nodes.pass(minuteMs)
    expect(nodes.requests).toMatchObject([{ node: 'first', messageId: id }])
    nodes.deliversTo = () => true
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
  })

  test('take over from each other within a minute, with the same id', async () => {
    await nodes.open('second')
    nodes.answer = ({ node }) => (node === 'first' ? never() : Promise.resolve(ok))
    const id = await nodes.record()
    await nodes.pass(10_500)
    expect(nodes.requests).toMatchObject([{ node: 'first', messageId: id }])
    nodes.kill(first)
    const killedMs = nodes.cluster.clock.now()
    await nodes.pass(33_500)
    expect(nodes.requests).toHaveLength(1)
    await nodes.pass(minuteMs - 33_500)
    expect(nodes.requests.slice(1)).toMatchObject([{ node: 'second', messageId: id }])
    expect((nodes.requests[1]?.atMs ?? 0) - killedMs).toBeLessThanOrEqual(minuteMs)
    expect(await recordsOf()).toEqual(['begun 1', 'unknown 1', 'begun 2', 'delivered 2'])
    await nodes.pass(2 * minuteMs)
    expect(nodes.requests).toHaveLength(2)
  })

  test('go on if one has left messages that it did not claim', async () => {
    nodes.answer = async ({ node }) => (node === 'first' ? broken : ok)
    const ids = [await nodes.record(), await nodes.record()]
    await nodes.pass(12_000)
    nodes.kill(first)
    await nodes.open('second')
    await nodes.pass(minuteMs)
    expect(
      nodes.requests
        .filter(({ node }) => node === 'second')
        .map(({ messageId }) => messageId)
        .toSorted(),
    ).toEqual(ids.toSorted())
  })
})

describe('a restart', () => {
  test('sends what waits, and nothing that was delivered', async () => {
    await nodes.record()
    await nodes.pass(minuteMs)
    nodes.answer = async () => broken
    const waits = [await nodes.record(), await nodes.record()]
    await nodes.pass(minuteMs)
    nodes.kill(first)
    nodes.requests.splice(0)
    nodes.answer = async () => ok
    await nodes.open('first')
    await nodes.pass(3 * minuteMs)
    expect(nodes.sent.toSorted()).toEqual(waits.toSorted())
  })

  test('while another node sends learns of each delivery', async () => {
    const stream = deliveriesStream(webhook.webhookId)
    const { promise, resolve } = Promise.withResolvers<void>()
    const { log } = nodes.cluster
    const ids = [await nodes.record(), await nodes.record()]
    await nodes.pass(15_000)
    const position = (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
    const young = fromCheckpoint(log, position)
    const read: EventLog['read'] = async (name, options) => {
      const page = await log.read(name, options)
      if (name === stream) await promise
      return page
    }
    await nodes.open('next', {}, { ...young, read })
    await nodes.pass(5_000)
    ids.push(await nodes.record())
    await nodes.pass(15_000)
    nodes.kill(first)
    resolve()
    await nodes.pass(2 * minuteMs)
    expect(nodes.sent).toEqual(ids)
  })

  test('that reads the whole log again gives up nothing that was not sent on purpose', async () => {
    await nodes.record([{ rack: 'A' }])
    await nodes.restLine({ kind: 'silent', rack: 'A' }, nodes.cluster.clock.now() + 10 * dayMs)
    await nodes.pass(minuteMs)
    nodes.cluster.clock.advance(2 * dayMs)
    await nodes.open('next')
    await nodes.pass(minuteMs)
    expect([nodes.sent, await recordsOf()]).toEqual([[], []])
  })

  test('sends nothing before it knows what is at rest', async () => {
    await nodes.restLine({ kind: 'silent', rack: 'A' }, nodes.cluster.clock.now() + dayMs)
    nodes.kill(first)
    const { log } = nodes.cluster
    const position = (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
    const { promise, resolve } = Promise.withResolvers<void>()
    const read: EventLog['read'] = async (name, options) => {
      if (name === attentionRestsStream) await promise
      return log.read(name, options)
    }
    await nodes.open('next', {}, { ...fromCheckpoint(log, position), read })
    await nodes.pass(5_000)
    await nodes.record([{ rack: 'A' }])
    await nodes.pass(minuteMs)
    resolve()
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([])
  })

  test('keeps the pause of a webhook that fails', async () => {
    nodes.answer = async () => broken
    await nodes.record()
    await nodes.pass(10 * minuteMs)
    const lastMs = nodes.requests.at(-1)?.atMs ?? 0
    nodes.kill(first)
    nodes.requests.splice(0)
    await nodes.open('first')
    await nodes.pass(10 * minuteMs)
    expect((nodes.requests[0]?.atMs ?? 0) - lastMs).toBeGreaterThan(250_000)
    expect(first.core.webhooks.status(webhook.webhookId).failingSinceMs).toBeGreaterThan(0)
  })

  test('after an end leaves the claim, so the message comes again', async () => {
    nodes.answer = never
    const id = await nodes.record()
    await nodes.pass(15_000)
    await first.schedule.until(first.core.drain())
    nodes.kill(first)
    expect(await recordsOf()).toEqual(['begun 1'])
    nodes.answer = async () => ok
    await nodes.open('first')
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id, id])
  })
})

describe('an outage of the log', () => {
  const faults: readonly AppendFault[] = ['not_written', 'unknown_not_written', 'unknown_written']

  test.each(faults)('at the claim delays the message (%s)', async (fault) => {
    const id = await nodes.record()
    await nodes.pass(9_000)
    first.faults.failAppend({ fault })
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
    expect(await recordsOf()).toEqual(['begun 1', 'delivered 1'])
  })

  test.each(faults)('at the end of an attempt sends nothing twice (%s)', async (fault) => {
    const id = await nodes.record()
    await nodes.pass(9_000)
    first.faults.failAppend({ fault, nth: 2 })
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
    expect(await recordsOf()).toEqual(['begun 1', 'delivered 1'])
  })

  test('of a minute after a request sends the message once more', async () => {
    await nodes.open('second')
    const id = await nodes.record()
    nodes.deliversTo = ({ name }) => name === 'first'
    nodes.answer = ({ node }) => {
      if (node === 'first') first.faults.goAway()
      return Promise.resolve(ok)
    }
    await nodes.pass(15_000)
    nodes.deliversTo = () => true
    await nodes.pass(2 * minuteMs)
    first.faults.comeBack()
    await nodes.pass(2 * minuteMs)
    expect(nodes.sent).toEqual([id, id])
    expect(await recordsOf()).toEqual(['begun 1', 'unknown 1', 'begun 2', 'delivered 2'])
    expect(nodes.nodes.flatMap(({ bugs }) => bugs)).toEqual([])
  })

  test('of both nodes leaves time to record the end before another takes over', async () => {
    const second = await nodes.open('second')
    const id = await nodes.record()
    nodes.answer = async () => {
      for (const node of nodes.nodes) node.faults.goAway()
      return ok
    }
    await nodes.pass(2 * minuteMs)
    second.faults.comeBack()
    await nodes.pass(30_000)
    first.faults.comeBack()
    await nodes.pass(2 * minuteMs)
    expect(nodes.sent).toEqual([id])
    expect(await recordsOf()).toEqual(['begun 1', 'delivered 1'])
  })

  test('is met once in a while, not in each heartbeat', async () => {
    await nodes.record()
    await nodes.pass(9_000)
    for (let nth = 1; nth <= 60; nth += 1) first.faults.failAppend({ fault: 'not_written', nth })
    const before = first.faults.appends
    await nodes.pass(20_000)
    const tries = first.faults.appends - before
    expect(tries).toBeGreaterThan(2)
    expect(tries).toBeLessThan(6)
  })

  test('at the start delays what waits', async () => {
    nodes.kill(first)
    const id = await nodes.record()
    const next = await nodes.open('next')
    next.faults.goAway()
    await nodes.pass(15_000)
    next.faults.comeBack()
    await nodes.pass(minuteMs)
    expect(nodes.sent).toEqual([id])
  })
})

test('a claim that was stored late sends nothing, because another node may have taken over', async () => {
  await nodes.record()
  await nodes.pass(9_000)
  const held = first.faults.hold('after')
  await nodes.pass(16_000)
  held.release()
  await nodes.pass(500)
  expect(nodes.sent).toEqual([])
  await nodes.pass(minuteMs)
  expect(await recordsOf()).toEqual(['begun 1', 'failed 1', 'begun 2', 'delivered 2'])
})

test('an unreadable record counts as a claim of another version', async () => {
  nodes.answer = never
  await nodes.record()
  await nodes.pass(11_000)
  nodes.kill(first)
  nodes.requests.splice(0)
  nodes.answer = async () => ok
  await nodes.open('next', {}, withUnreadable(nodes.cluster.log, deliveriesStream(webhook.webhookId)))
  await nodes.pass(33_500)
  expect(nodes.sent).toEqual([])
  await nodes.pass(26_500)
  expect(nodes.requests).toHaveLength(1)
})

test('a record that cannot be said, and a damaged stream, do not hold up others', async () => {
  nodes.kill(first)
  await nodes.record([{ rack: 'unsayable' }])
  const id = await nodes.record()
  const wordsOf = ({ rack }: { readonly rack?: string }): string => {
    if (rack === 'unsayable') throw new Error('unsayable')
    return 'words'
  }
  const next = await nodes.open('next', { wordsOf }, withDamage(nodes.cluster.log, nodesAttentionStream))
  await nodes.pass(minuteMs)
  expect(nodes.sent).toEqual([id])
  expect(next.bugs).toHaveLength(1)
})

test('damaged deliveries of one webhook do not hold up the others', async () => {
  const other = await nodes.set(first, { url: 'https://other.example' })
  nodes.kill(first)
  const next = await nodes.open('next', {}, withDamage(nodes.cluster.log, deliveriesStream(webhook.webhookId)))
  await nodes.record()
  await nodes.pass(minuteMs)
  expect(nodes.requests).toMatchObject([{ url: other.url }])
  const { webhooks } = next.core
  const why = webhooks.status(webhook.webhookId).why ?? ''
  expect(why).toContain('damaged')
  expect(await webhooks.test(webhook.webhookId, asker)).toEqual({
    ok: false,
    refusal: { kind: 'no_webhook_secret', why },
  })
  expect(await webhooks.deliveries(webhook.webhookId, { before: null })).toEqual({ deliveries: [], before: null })
})

test('monitoring counts the webhooks of a node that cannot begin', async () => {
  await nodes.pass(1_000)
  expect(first.core.figures().webhooks.failing).toBe(0)
  const next = await nodes.open('next', {}, withDamage(nodes.cluster.log, webhooksStream))
  await nodes.pass(minuteMs)
  expect(next.core.figures().webhooks.failing).toBe(1)
})

test('a command reads nothing of webhooks by itself, and sends only tests', async () => {
  nodes.kill(first)
  await nodes.record()
  const { log } = nodes.cluster
  const read: string[] = []
  const watched: EventLog = {
    ...passingLog(log),
    read: (name, options) => {
      read.push(name)
      return log.read(name, options)
    },
  }
  const command = await nodes.open('command', { sendsWaiting: false }, watched)
  await nodes.pass(15_000)
  expect(read).not.toContain(webhooksStream)
  await command.core.webhooks.load()
  await nodes.pass(minuteMs)
  expect(nodes.sent).toEqual([])
  expect(await command.schedule.until(command.core.webhooks.test(webhook.webhookId, asker))).toMatchObject({ ok: true })
  expect(nodes.requests).toHaveLength(1)
})

test('a receiver that never answers holds up neither readings nor other webhooks', async () => {
  const other = await nodes.set(first, { url: 'https://other.example' })
  nodes.answer = ({ url }) => (url === other.url ? Promise.resolve(ok) : never())
  await nodes.record()
  await nodes.pass(11_000)
  expect(nodes.requests.map(({ url }) => url).toSorted()).toEqual([webhook.url, other.url].toSorted())
  const keyId = await makeTestKey(first)
  expect(await first.post(keyId)).toMatchObject([{ ok: true }])
  await nodes.pass(attemptMsMax)
  expect(await recordsOf()).toEqual(['begun 1', 'failed 1'])
  expect(nodes.requests[0]?.signal.aborted || nodes.requests[1]?.signal.aborted).toBe(true)
})

describe('a test', () => {
  const send = (node: WebhookNode) => node.schedule.until(node.core.webhooks.test(webhook.webhookId, asker))

  test('is sent at once, also in a pause, and answers what the receiver answered', async () => {
    nodes.answer = async () => broken
    await nodes.record()
    await nodes.pass(10 * minuteMs)
    nodes.requests.splice(0)
    const answer = await send(first)
    expect(answer).toMatchObject({
      ok: true,
      value: { of: null, attempt: 1, ended: { outcome: 'failed', status: 500, answer: 'oh' } },
    })
    expect(nodes.requests.map(({ body }) => JSON.parse(body).type)).toEqual(['cellarbook.test'])
    nodes.answer = async () => ok
    expect(await send(first)).toMatchObject({ ok: true, value: { ended: { outcome: 'delivered' } } })
    await nodes.pass(1_000)
    expect(nodes.requests).toHaveLength(3)
  })

  test('that fails delays no message', async () => {
    nodes.answer = async () => broken
    for (let count = 0; count < 3; count += 1) await send(first)
    nodes.answer = async () => ok
    const id = await nodes.record()
    await nodes.pass(11_000)
    expect(nodes.sent.slice(3)).toEqual([id])
    expect(first.core.webhooks.status(webhook.webhookId).failingSinceMs).toBe(null)
  })

  test('waits for an attempt under way, and a second one joins it', async () => {
    let settle = (): void => {}
    nodes.answer = () =>
      new Promise((resolve) => {
        settle = () => resolve(ok)
      })
    await nodes.record()
    await nodes.pass(11_000)
    const asked = first.core.webhooks.test(webhook.webhookId, asker)
    const joined = first.core.webhooks.test(webhook.webhookId, asker)
    settle()
    nodes.answer = async () => ok
    const answer = await first.schedule.until(asked)
    expect(answer).toMatchObject({ ok: true })
    expect([await joined, nodes.requests.length]).toEqual([answer, 2])
    expect(nodes.mostAtOnce).toBe(1)
  })

  test('is refused while another node sends for long', async () => {
    nodes.answer = never
    await nodes.record()
    await nodes.pass(11_000)
    nodes.kill(first)
    const next = await nodes.open('next')
    await nodes.pass(6_000)
    const asked = next.core.webhooks.test(webhook.webhookId, asker)
    await nodes.pass(21_000)
    expect(await asked).toEqual({ ok: false, refusal: { kind: 'busy' } })
  })

  test('needs the secret, and a webhook', async () => {
    const poor = await nodes.open('poor', { master: () => ({ why: 'No file.' }) })
    await poor.core.webhooks.load()
    expect(await poor.core.webhooks.test(webhook.webhookId, asker)).toEqual({
      ok: false,
      refusal: { kind: 'no_webhook_secret', why: 'No file.' },
    })
    expect(await poor.core.webhooks.test('nothing1', asker)).toEqual({
      ok: false,
      refusal: { kind: 'webhook_not_found' },
    })
  })
})

test('deliveries() has the newest first, page by page', async () => {
  for (let count = 0; count < 120; count += 1) await nodes.record()
  await nodes.pass(minuteMs)
  const { deliveries } = first.core.webhooks
  const pages = []
  for (let before: number | null = null; ; ) {
    const page = await deliveries(webhook.webhookId, { before })
    pages.push(page.deliveries)
    if (page.before === null) break
    before = page.before
  }
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 20])
  const ids = pages.flat().map(({ messageId }) => messageId)
  expect(ids).toEqual(nodes.sent.toReversed())
  expect(pages.flat().every(({ ended }) => ended?.outcome === 'delivered')).toBe(true)
})

import { beforeEach, describe, expect, test } from 'bun:test'
import type { WebhookParts } from '../../../src/actors/webhooks/webhook-parts.ts'
import { webhooksMax } from '../../../src/domain/attention/webhook.ts'
import { webhooksStream } from '../../../src/domain/stream-names.ts'
import { fromCheckpoint, WebhookCluster, type WebhookNode } from '../../support/attention/webhook-nodes.ts'
import { asker, typesOf } from '../../support/two-nodes.ts'

let nodes: WebhookCluster
let first: WebhookNode

beforeEach(async () => {
  nodes = new WebhookCluster()
  first = await nodes.open('first')
})

const refusalOf = async (answer: Promise<object>): Promise<unknown> => {
  const answered = await first.schedule.until(answer)
  return 'refusal' in answered ? answered.refusal : null
}

test('a webhook is made, changed and removed, on each node', async () => {
  const second = await nodes.open('second')
  const made = await nodes.set(first, { kinds: ['silent', 'silent'] })
  expect(made).toMatchObject({ url: 'https://example.org/hook', kinds: ['silent'], masterId: 'master01' })
  await nodes.pass(1_000)
  expect(second.core.webhooks.list()).toEqual([made])
  const change = { webhookId: made.webhookId, url: 'https://example.org/other', kinds: [] }
  const changed = await second.schedule.until(second.core.webhooks.set(change, asker))
  await nodes.pass(1_000)
  expect(changed).toMatchObject({ ok: true, value: { ...change, masterId: 'master01' } })
  expect(first.core.webhooks.list()).toMatchObject([change])
  expect(await first.schedule.until(first.core.webhooks.remove(made.webhookId, asker))).toMatchObject({ ok: true })
  await nodes.pass(1_000)
  expect([first, second].map(({ core }) => core.webhooks.list())).toEqual([[], []])
})

test('a restart knows the webhooks', async () => {
  const made = await nodes.set(first)
  const next = await nodes.open('next')
  await next.core.webhooks.load()
  expect(next.core.webhooks.list()).toEqual([made])
})

describe('set() refuses', () => {
  test('a webhook that is not there, or was removed', async () => {
    const { webhookId } = await nodes.set(first)
    await first.schedule.until(first.core.webhooks.remove(webhookId, asker))
    for (const id of [webhookId, 'nothing1']) {
      const input = { webhookId: id, url: 'https://example.org', kinds: [] }
      expect(await refusalOf(first.core.webhooks.set(input, asker))).toEqual({ kind: 'webhook_not_found' })
      expect(await refusalOf(first.core.webhooks.remove(id, asker))).toEqual({ kind: 'webhook_not_found' })
    }
  })

  test('one webhook more than there may be, but not a change', async () => {
    const made = []
    for (let count = 0; count < webhooksMax; count += 1) made.push(await nodes.set(first))
    const input = { url: 'https://example.org', kinds: [] }
    const more = { ...input, webhookId: null }
    expect(await refusalOf(first.core.webhooks.set(more, asker))).toEqual({ kind: 'too_many_webhooks', webhooksMax })
    const change = { ...input, webhookId: made[0]?.webhookId ?? '' }
    expect(await refusalOf(first.core.webhooks.set(change, asker))).toBe(null)
  })

  test('a second one with the address and kinds of another', async () => {
    const { webhookId, url } = await nodes.set(first, { kinds: ['silent', 'backup_old'] })
    const again = { webhookId: null, url, kinds: ['backup_old', 'silent'] } as const
    expect(await refusalOf(first.core.webhooks.set(again, asker))).toEqual({ kind: 'webhook_exists', webhookId })
    expect(await refusalOf(first.core.webhooks.set({ ...again, kinds: [] }, asker))).toBe(null)
  })

  test('a new webhook without a master, and an address that is not allowed', async () => {
    const poor = await nodes.open('poor', { master: () => ({ why: 'No file.' }) })
    const set = (url: string) => poor.schedule.until(poor.core.webhooks.set({ webhookId: null, url, kinds: [] }, asker))
    expect(await set('https://example.org')).toEqual({
      ok: false,
      refusal: { kind: 'no_webhook_secret', why: 'No file.' },
    })
    expect(await set('http://example.org')).toMatchObject({ refusal: { kind: 'invalid_field', field: 'url' } })
  })
})

test('set() on two nodes at once keeps both webhooks', async () => {
  await nodes.set(first)
  const second = await nodes.open('second')
  await second.core.webhooks.load()
  const held = first.faults.hold('before')
  const delayed = nodes.set(first)
  await first.schedule.quiet()
  await nodes.set(second, { url: 'https://example.org/other' })
  held.release()
  await delayed
  await nodes.pass(1_000)
  expect(second.core.webhooks.list()).toHaveLength(3)
  expect(first.core.webhooks.list()).toEqual(second.core.webhooks.list())
})

test('a node that hears of a new webhook first reads the others, too', async () => {
  const { log } = nodes.cluster
  const made = await nodes.set(first)
  const position = (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
  const next = await nodes.open('next', {}, fromCheckpoint(log, position))
  const another = await nodes.set(first)
  next.late.deliver()
  await next.core.webhooks.load()
  expect(next.core.webhooks.list()).toEqual([made, another])
})

test('the secret is that of the master, and of no other master', async () => {
  const made = await nodes.set(first)
  expect(first.core.webhooks.secretOf(made)).toEqual({ secret: `whsec_${made.webhookId}` })
  const other = await nodes.open('other', { master: () => ({ id: 'other', secretOf: () => 'wrong' }) })
  await other.core.webhooks.load()
  expect(other.core.webhooks.secretOf(made)).toHaveProperty('why')
  const changed = await other.schedule.until(other.core.webhooks.set({ ...made, kinds: ['silent'] }, asker))
  expect(changed).toMatchObject({ ok: true, value: { kinds: ['silent'], masterId: made.masterId } })
})

test('a master that cannot be read is tried again, but not in each heartbeat', async () => {
  await nodes.set(first)
  let tries = 0
  const master = () => {
    tries += 1
    return tries > 2 ? { id: 'master01', secretOf: () => 'whsec_' } : { why: 'No file.' }
  }
  await nodes.open('poor', { master })
  const id = await nodes.record()
  nodes.kill(first)
  await nodes.pass(15_000)
  expect(tries).toBe(2)
  await nodes.pass(15_000)
  expect([tries, nodes.sent]).toEqual([3, [id]])
})

describe('a master whose file', () => {
  let file: string | null
  const master: WebhookParts['master'] = ({ mayMake }) => {
    if (mayMake) file ??= 'made'
    const id = file
    return id === null ? { why: 'No file.' } : { id, secretOf: () => `whsec_${id}` }
  }
  const input = { webhookId: null, url: 'https://example.org', kinds: [] }

  beforeEach(async () => {
    file = null
    nodes.kill(first)
    first = await nodes.open('next', { master })
    expect(first.core.webhooks.why()).toBe(null)
    expect(await nodes.set(first)).toMatchObject({ masterId: 'made' })
  })

  test.each([null, 'other'])('is %p after a restart is used again when it was put back', async (found) => {
    file = found
    nodes.kill(first)
    const next = await nodes.open('next', { master })
    const id = await nodes.record()
    await nodes.pass(15_000)
    expect([nodes.sent, next.core.figures().webhooks.failing]).toEqual([[], 1])
    file = 'made'
    await nodes.pass(12_000)
    expect([nodes.sent, next.core.figures().webhooks.failing]).toEqual([[id], 0])
  })

  test('is lost is not made again while there are webhooks', async () => {
    file = null
    nodes.kill(first)
    first = await nodes.open('next', { master })
    await nodes.pass(10_000)
    const refusal = { kind: 'no_webhook_secret', why: 'No file.' }
    expect(await refusalOf(first.core.webhooks.set(input, asker))).toEqual(refusal)
    expect([file, first.core.webhooks.why()]).toEqual([null, 'No file.'])
    for (const { webhookId } of first.core.webhooks.list())
      await first.schedule.until(first.core.webhooks.remove(webhookId, asker))
    expect(await first.schedule.until(first.core.webhooks.set(input, asker))).toMatchObject({ ok: true })
  })
})

test('the log has no secret', async () => {
  const { webhookId } = await nodes.set(first)
  const records = await nodes.cluster.log.read(webhooksStream, { limit: 10 })
  expect(typesOf(records)).toEqual(['WebhookSet'])
  expect(JSON.stringify(records)).not.toContain(`whsec_${webhookId}`)
})

import { expect, setDefaultTimeout, test } from 'bun:test'
import { recordsKeptMs } from '../../../src/actors/cellar/record-retention.ts'
import { dayMs, minuteMs } from '../../../src/domain/calendar.ts'
import { deliveriesStream, webhooksStream } from '../../../src/domain/stream-names.ts'
import { retentionMarginMs } from '../../../src/limits.ts'
import { changesIn, pass, readingsOf, startWatching } from '../../support/attention/watched-racks.ts'
import { ok, type Request, WebhookCluster } from '../../support/attention/webhook-nodes.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { asker, typesOf } from '../../support/two-nodes.ts'

setDefaultTimeout(600_000)

test('deliveries are purged after 30 days, also of a removed webhook, but the webhooks stay', async () => {
  const nodes = new WebhookCluster()
  const node = await nodes.open('first')
  const [kept, removed] = [await nodes.set(node), await nodes.set(node)]
  const dueMs = Date.UTC(2026, 2, 2) + recordsKeptMs.refusals + retentionMarginMs
  await nodes.record()
  await nodes.pass(minuteMs)
  await node.schedule.until(node.core.webhooks.remove(removed.webhookId, asker))
  const { clock, log } = nodes.cluster
  const sweepTo = async (ms: number): Promise<void> => {
    while (clock.now() < ms) {
      clock.set(Math.min(ms, clock.now() + dayMs / 2))
      await node.core.sweep()
    }
  }
  const typesIn = async (stream: string) => typesOf(await log.read(stream, { limit: 100 }))
  const streams = [kept, removed].map(({ webhookId }) => deliveriesStream(webhookId))
  await sweepTo(dueMs - 1)
  for (const stream of streams) expect(await typesIn(stream)).toEqual(['DeliveryBegun', 'DeliveryEnded'])
  await sweepTo(dueMs)
  for (const stream of streams) expect(await typesIn(stream)).toEqual(['RecordsPurged'])
  expect(await typesIn(webhooksStream)).toEqual(['WebhookSet', 'WebhookSet', 'WebhookRemoved'])
  nodes.requests.splice(0)
  const id = await nodes.record()
  await nodes.pass(minuteMs)
  expect(nodes.sent).toEqual([id])
  expect(await typesIn(deliveriesStream(kept.webhookId))).toEqual(['RecordsPurged', 'DeliveryBegun', 'DeliveryEnded'])
})

test('a rack that stops, and its return, are sent at once', async () => {
  // A file would answer in real time, and the clock of this test goes faster.
  const log = createMemoryLog()
  const clock = manualClock()
  const requests: Request[] = []
  const webhooksOf = (node: string) => ({
    node,
    sendsWaiting: true,
    master: () => ({ id: 'master01', secretOf: () => 'whsec_' }),
    send: async (sending: Omit<Request, 'node'>) => {
      requests.push({ ...sending, node })
      return ok
    },
    wordsOf: ({ kind, rack = '' }: { readonly kind: string; readonly rack?: string }) => `${kind} ${rack}`,
  })
  const nodes = [
    await startWatching({ log, clock, webhooks: webhooksOf('first') }),
    await startWatching({ log, clock, seed: 2, webhooks: webhooksOf('second') }),
  ]
  const [first] = nodes
  if (first === undefined) throw new Error('impossible')
  const { key, keyId } = await first.createKey()
  const input = { webhookId: null, url: 'https://example.org', kinds: [] }
  expect(await first.core.webhooks.set(input, testAsker)).toMatchObject({ ok: true })
  const alive = new Set(['rack-1', 'rack-2'])
  let sent = 0
  const each = async (nowMs: number): Promise<void> => {
    if (nowMs % minuteMs !== 0) return
    await first.postBatch(readingsOf([...alive], nowMs), key)
    sent += 2 * alive.size
    await first.untilFolded(keyId, sent)
  }
  await pass(nodes, 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass(nodes, 15 * minuteMs, each)
  alive.add('rack-2')
  await pass(nodes, 5 * minuteMs, each)
  expect(await changesIn(log)).toHaveLength(2)
  const told = requests.map(({ body }) => JSON.parse(body).data.text)
  expect(told).toEqual([
    expect.stringMatching(/^wine-berlin: silent rack-2\. \(2026-/),
    expect.stringMatching(/^Resolved: wine-berlin: silent rack-2\. \(2026-/),
  ])
  const recordedAts = requests.map(({ body }) => Date.parse(JSON.parse(body).timestamp))
  for (const [at, { atMs }] of requests.entries()) expect(atMs - (recordedAts[at] ?? 0)).toBeLessThan(6_000)
  for (const node of nodes) await node.stop()
  await log.close()
})

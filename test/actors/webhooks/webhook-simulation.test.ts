import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Sent } from '../../../src/actors/webhooks/webhook-parts.ts'
import { minuteMs } from '../../../src/domain/calendar.ts'
import { broken, ok, WebhookCluster } from '../../support/attention/webhook-nodes.ts'
import type { AppendFault } from '../../support/logs/faulty-log.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

setDefaultTimeout(120_000)

const seeds = Array.from({ length: 20 }, (_, at) => at + 1)
const faults: readonly AppendFault[] = ['not_written', 'unknown_not_written', 'unknown_written']

/** Up to three nodes, of which some are killed, hear late or cannot append. Returns the ids of the messages. */
const misfortunes = async (nodes: WebhookCluster, seed: number) => {
  const next = seededNumbers(seed)
  const isOneIn = (many: number): boolean => next() % many === 0
  const open = () => nodes.open(`node-${next()}`)
  const webhook = await nodes.set(await open())
  const answers: (() => void)[] = []
  nodes.answer = () => {
    const { promise, resolve } = Promise.withResolvers<Sent>()
    answers.push(() => resolve(isOneIn(4) ? broken : ok))
    return promise
  }
  const ids: string[] = []
  let kills = 0
  for (let step = 0; step < 150; step += 1) {
    const node = nodes.nodes[next() % nodes.nodes.length]
    if (node === undefined) throw new Error('impossible')
    if (isOneIn(4)) ids.push(await nodes.record())
    if (isOneIn(12)) node.faults.failAppend({ fault: faults[next() % faults.length] ?? 'not_written' })
    if (isOneIn(20)) {
      kills += 1
      nodes.kill(node)
    }
    if (nodes.nodes.length === 0 || (nodes.nodes.length < 3 && isOneIn(10))) await open()
    nodes.deliversTo = (one) => one !== node || step % 3 === 0
    await nodes.pass(500 * (1 + (next() % 20)))
    if (isOneIn(2)) for (const answer of answers.splice(0)) answer()
  }
  for (const answer of answers.splice(0)) answer()
  return { webhook, ids, kills }
}

test.each(seeds)('each message arrives over kills and outages, one at a time (seed %i)', async (seed) => {
  const nodes = new WebhookCluster()
  const { webhook, ids, kills } = await misfortunes(nodes, seed)
  nodes.deliversTo = () => true
  nodes.answer = async () => ok
  await nodes.pass(15 * minuteMs)
  const records = await nodes.deliveries(webhook)
  const ends = records.flatMap(({ type, data }) => (type === 'DeliveryEnded' ? [data] : []))
  const delivered = ends.flatMap(({ outcome, messageId }) => (outcome === 'delivered' ? [messageId] : []))
  expect(delivered.toSorted()).toEqual(ids.toSorted())
  expect(nodes.mostAtOnce).toBe(1)
  // Only a kill leaves an attempt without a known end.
  expect(ends.filter(({ outcome }) => outcome === 'unknown').length).toBeLessThanOrEqual(kills)
  expect(nodes.nodes.flatMap(({ bugs }) => bugs)).toEqual([])
})

import { expect, test } from 'bun:test'
import { type ListParts, listEvents } from '../../../src/actors/search/list-events.ts'
import { anyEvent } from '../../../src/domain/search/event-filter.ts'
import { logReadPageEvents } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'
import { Cluster, cellar, makeTestKey } from '../../support/two-nodes.ts'

const filter = { ...anyEvent, kind: 'readings' } as const
const newest = { direction: 'backwards', from: null, limit: 10 } as const

/** Two keys with many readings each. The newer readings are those of the second key. */
const twoKeys = async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const [first, second] = [await makeTestKey(node), await makeTestKey(node)]
  for (const keyId of [first, second]) await node.post(keyId, 2 * logReadPageEvents)
  const readAll: EventLog['readAll'] = () => {
    throw new Error('Cannot read the whole log: the test forbids it')
  }
  const log = { ...cluster.log, read: cluster.log.read.bind(cluster.log), readAll }
  const ask = naiveAsk(cluster.log)
  const parts: ListParts = { log, ask, cellarOfKey: async () => cellar, isOver: () => true }
  return { parts, first, second }
}

test('listEvents() reads the readings by a key from the stream of the key alone', async () => {
  const { parts, first, second } = await twoKeys()
  const { events, end } = await listEvents(parts, { ...filter, actor: `clr_${first}` }, newest)
  expect([events.length, end.kind, new Set(events.map(({ stream }) => stream))]).toEqual([
    newest.limit,
    'page_full',
    new Set([`readings-${first}`]),
  ])
  const others = await listEvents(parts, { ...filter, actor: `clr_${first}`, key: second, until: 1 }, newest)
  expect(others).toEqual({ events: [], end: { kind: 'complete' } })
})

test('listEvents() searches no readings by anybody but a key', async () => {
  const { parts } = await twoKeys()
  for (const actor of ['cli', 'system', 'ada@example.org']) {
    expect(await listEvents(parts, { ...filter, actor }, newest)).toEqual({ events: [], end: { kind: 'complete' } })
  }
})

import { expect, test } from 'bun:test'
import { historyOf } from '../../../projections/audit-trail.ts'
import { readKeyEvents } from '../../../src/actors/key/key-events.ts'
import { keyStream } from '../../../src/domain/stream-names.ts'
import { asker, Cluster, makeTestKey } from '../../support/two-nodes.ts'

test('readKeyEvents() finds fences and the seal without reading the readings', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  const { keys } = node.core
  await node.post(keyId, 3)
  await node.schedule.until(keys.setLimit(keyId, { readings: 5, windowMs: 60_000 }, asker))
  await node.post(keyId, 2)
  await node.schedule.until(keys.suspend(keyId, 'cleaning', asker))
  await node.schedule.until(keys.resume(keyId, '', asker))
  await node.schedule.until(keys.revoke(keyId, 'leaked', asker))
  node.late.deliver()

  const { read } = node.faults
  const streamsRead = new Set<string>()
  node.faults.read = (stream, options) => {
    streamsRead.add(stream)
    return read.call(node.faults, stream, options)
  }
  const history = historyOf(await readKeyEvents(node.core, keyId))
  expect(history.map(({ event }) => [event.type, event.revision])).toEqual([
    ['KeyCreated', 0],
    ['KeyLimitChanged', 1],
    ['ReadingsFenced', 3],
    ['KeySuspended', 2],
    ['ReadingsFenced', 6],
    ['KeyResumed', 3],
    ['ReadingsSealed', 7],
    ['KeyRevoked', 4],
  ])
  expect([...streamsRead]).toEqual([keyStream(keyId)])
})

import { expect, test } from 'bun:test'
import { answerOf } from '../../src/actors/ask/answer-of.ts'
import { knownOfHistory } from '../../src/actors/ask/known-of-history.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { keyStream } from '../../src/domain/stream-names.ts'
import { asker, Cluster, makeTestKey } from '../support/two-nodes.ts'

test('the history of a key has fences and the seal without reading the readings', async () => {
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
  const questions = questionsOfLog(node.faults)
  const nowMs = cluster.clock.now()
  const wanted = { ...knownOfHistory(node.core, keyId), isEverything: true, page: null, atMs: null, nowMs }
  const { shown } = answerOf(await questions.ask('keyHistory', wanted, { owner: 'cli' }))
  expect(shown.flat().map(({ event }) => [event.type, event.revision])).toEqual([
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
  const ahead = { ...wanted, revision: 5 }
  await expect(questions.ask('keyHistory', ahead, { owner: 'cli' })).rejects.toThrow('revision 5 to 5 are missing')
})

import { expect, test } from 'bun:test'
import { answerOf } from '../../src/actors/ask/answer-of.ts'
import { knownOfHistory } from '../../src/actors/ask/known-of-history.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { keyHistory } from '../../src/cli/control/history-of-key.ts'
import { keyStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { DamagedLog, type EventLog } from '../../src/log/event-log.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import { keySuspensions } from '../support/logs/sample-events.ts'
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
  const page = { number: 1, perPage: 100, isOldestFirst: true }
  const wanted = { ...knownOfHistory(node.core, keyId), isEverything: true, page, atMs: null, nowMs }
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
  for (const row of shown.flat()) expect(Object.getOwnPropertyDescriptor(row, 'after')?.get).toBeUndefined()
  const ahead = { ...wanted, revision: 5 }
  await expect(questions.ask('keyHistory', ahead, { owner: 'cli' })).rejects.toThrow('revision 5 to 5 are missing')
})

/** A server that lacks the last event of a stream in the first reads of it. */
const behind = (log: EventLog, reads: number): EventLog => {
  let left = reads
  const read: EventLog['read'] = async (stream, options) => {
    const events = await log.read(stream, options)
    left -= 1
    return left >= 0 ? events.slice(0, -1) : events
  }
  return { ...passingLog(log), lags: true, read }
}

test('a shared store that lacks the newest change for a moment is no damage', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  await node.schedule.until(node.core.keys.suspend(keyId, 'cleaning', asker))
  node.late.deliver()
  const page = { number: 1, perPage: 100 }
  const wanted = { ...knownOfHistory(node.core, keyId), isEverything: true, page, atMs: null, nowMs: 0 }
  const history = (reads: number) =>
    questionsOfLog(behind(cluster.log, reads)).ask('keyHistory', wanted, { owner: 'cli' })
  const { shown } = answerOf(await history(1))
  expect(shown.flat().map(({ event }) => event.type)).toContain('KeySuspended')
  const fault: unknown = await history(Number.POSITIVE_INFINITY).catch((error: unknown) => error)
  expect(String(fault)).toContain('revision 1 to 1 are missing')
  expect(fault).not.toBeInstanceOf(DamagedLog)
})

test('`key history` asks for a long history page by page, oldest first', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  const changes = keySuspensions(readPageEventsMax).map((event, index) => ({
    ...event,
    metadata: { ...event.metadata, requestId: `request ${index}` },
  }))
  await cluster.log.append(keyStream(keyId), 0, changes)
  node.late.deliver()
  const core = { ...node.core, questions: questionsOfLog(cluster.log) }
  const revisions: unknown[] = []
  for await (const { value } of keyHistory(core, keyId, null)) if ('revision' in value) revisions.push(value.revision)
  expect(revisions).toEqual(Array.from({ length: readPageEventsMax + 1 }, (_, revision) => revision))
})

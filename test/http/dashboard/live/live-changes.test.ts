import { expect, test } from 'bun:test'
import { LiveChanges } from '../../../../src/http/dashboard/live/live-changes.ts'
import { sampleRun } from '../../../support/sample-run.ts'
import { cellar } from '../../../support/two-nodes.ts'

test('a run counts with all its readings, for its cellar and its key', () => {
  const changes = new LiveChanges()
  const topics = [{ cellar }, { cellar: 'other' }, { keyId: 'k1' }, { keyId: 'k2' }, 'all', 'no readings'] as const
  for (const topic of topics) changes.watch(topic)
  changes.note(sampleRun('k1', { revision: 0, position: 1 }))
  const readings = topics.map((topic) => changes.of({ topic, listsEvents: false }).readings)
  expect(readings).toEqual([4, 0, 4, 0, 4, 0])
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections } from '../../../projections/projections.ts'
import { AskFold } from '../../../src/actors/ask/ask-fold.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { askFromLog } from '../../support/ask/ask-from-log.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { randomHistory } from '../../support/random-history.ts'

/** Folds the events in changes of `size` events. */
const indexOf = async (events: readonly RecordedEvent[], size: number): Promise<MemoryAskIndex> => {
  const projections = createProjections()
  const index = new MemoryAskIndex()
  const fold = new AskFold({
    ofKey: (keyId) => projections.keys.get(keyId)?.cellar ?? null,
    ofStream: (stream) => projections.cellars.ofStream(stream)?.cellar ?? null,
  })
  const nowMs = events.at(-1)?.recordedAt ?? 0
  fold.begin(null, -1, nowMs)
  for (let at = 0; at < events.length; at += size) {
    const part = events.slice(at, at + size)
    projections.fold(part)
    fold.fold(part)
    const change = fold.take(nowMs)
    if (change !== null) await index.write(change)
  }
  return index
}

describe('AskFold', () => {
  test('says what a simple computation says, for any history and any size of changes', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(), fc.integer({ min: 1, max: 50 }), async (events, size) => {
        const index = await indexOf(events, size)
        expect(index.contents()).toEqual(askFromLog(events))
        expect(index.foldedTo?.position).toBe(events.at(-1)?.position)
      }),
      { numRuns: 60 },
    )
  })
})

import { expect, spyOn, test } from 'bun:test'
import { openCore } from '../../../src/actors/open-core.ts'
import { findKeys, keysPerPieceMax } from '../../../src/actors/search/find-keys.ts'
import { anyKey, keySorts } from '../../../src/domain/search/key-filter.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

test('findKeys() pauses for each piece of keys that it reads, sorts or merges', async () => {
  const core = await openCore({ log: createMemoryLog(), clock: manualClock(), entropy: seededEntropy() })
  await core.cellars.create({ cellar: 'berlin', title: '' }, testAsker)
  const created = await core.keys.create(
    { cellar: 'berlin', label: '', note: '', limit: null, expiresAt: null },
    testAsker,
  )
  if (!created.ok) throw new Error('no key')
  const { state } = created.value
  const [pieces, merges] = [8, 3]
  const keys = Array.from({ length: pieces * keysPerPieceMax }, (_, at) => ({
    ...state,
    keyId: `key ${at}`,
    label: `press ${at}`,
    created: { ...state.created, at: 1_000 - at },
  }))
  using _each = spyOn(core.projections.keys, 'each').mockImplementation(function* () {
    yield* keys
  })
  for (const sort of keySorts)
    for (const isReversed of [false, true]) {
      let pauses = 0
      const pause = async () => {
        pauses += 1
      }
      const found = await findKeys(core, { filter: anyKey, sort, isReversed }, { owner: 'test', pause })
      expect(found.keys).toEqual(isReversed ? keys.toReversed() : keys)
      expect(pauses).toBeGreaterThanOrEqual(pieces * (1 + 1 + merges))
    }
})

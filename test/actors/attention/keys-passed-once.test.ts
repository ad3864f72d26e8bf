import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { dayMs } from '../../../src/domain/calendar.ts'
import { changesIn, readingsOf, startWatching } from '../../support/attention/watched-racks.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

test('a look that finds a change passes the keys of the cellar once', async () => {
  const node = await startWatching({ log: await openFreshLog(), clock: manualClock() })
  const { key, keyId } = await node.createKey({ expiresAt: node.clock.now() + dayMs })
  await node.postBatch(readingsOf(['rack-1'], node.clock.now()), key)
  await node.untilFolded(keyId, 2)
  const usage = spyOn(node.core.projections.readings, 'usage')
  await node.sweep()
  expect((await changesIn(node.log)).map(({ began }) => began)).toEqual([[`key_expires ${keyId}`]])
  expect(usage).toHaveBeenCalledTimes(1)
  await node.stop()
})

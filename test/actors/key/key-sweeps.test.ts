import { expect, test } from 'bun:test'
import { openCore } from '../../../src/actors/open-core.ts'
import { faultyLog } from '../../support/logs/faulty-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { Cluster, makeTestKey, reading, typesOf } from '../../support/two-nodes.ts'

test('a start serves before it records missed expiries, each once', async () => {
  const cluster = new Cluster()
  const { clock } = cluster
  const node = await cluster.open()
  const expiresAt = clock.now() + 1_000
  const keyIds = [await makeTestKey(node, { expiresAt }), await makeTestKey(node, { expiresAt })]
  clock.advance(1_000)
  const log = faultyLog(cluster.log)
  const held = log.hold('before')
  const schedule = drivenSchedule()
  const { keys, sweep } = await schedule.until(openCore({ log, clock, entropy: seededEntropy(7), schedule }))
  expect(held.waiting).toBe(1)
  // The sweep of the start is held back, so no expiry is recorded yet. But the expired key is refused. A second sweep joins the
  // first one, so each expiry is recorded only once.
  const [, last = ''] = keyIds
  expect(await keys.accept(last, reading, cluster.newId())).toEqual({ ok: false, refusal: { kind: 'key_expired' } })
  const swept = sweep()
  held.release()
  await schedule.until(swept)
  for (const keyId of keyIds) {
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated', 'KeyExpired'])
  }
})

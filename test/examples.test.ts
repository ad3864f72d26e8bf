/** One example of each common kind of test, for copying. test/README.md says when to use which. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { paths } from '../views/paths.ts'
import { signedIn, startWithOperators } from './http/dashboard/visitor.ts'
import { answerOf, expectRefusal } from './support/answers.ts'
import { type Service, validReading } from './support/test-service.ts'
import { asker, Cluster, makeTestKey, typesOf } from './support/two-nodes.ts'

describe('through the assembled app', () => {
  let service: Service
  beforeAll(async () => {
    service = await startWithOperators()
  })
  afterAll(async () => {
    await service.stop()
  })

  test('a device: a reading of another cellar is refused', async () => {
    const { key } = await service.createKey()
    const answer = await answerOf(await service.post({ ...validReading, cellar: 'other' }, key))
    expectRefusal(answer, 403, 'CELLAR_MISMATCH')
  })

  test('a clock: a key is refused at the millisecond of its expiry', async () => {
    const { key } = await service.createKey({ expiresAt: service.clock.now() + 1_000 })
    service.clock.advance(999)
    expect((await service.post(validReading, key)).status).toBe(200)
    service.clock.advance(1)
    expect((await service.post(validReading, key)).status).toBe(401)
  })

  test('a person: an admin revokes a key, and the next reading is refused', async () => {
    const { key, keyId } = await service.createKey()
    const admin = await signedIn(service, 'admin')
    await admin.get(paths.revokeKey(keyId))
    const revoked = await admin.post(paths.revokeKey(keyId), { reason: 'stolen' })
    expect([revoked.status, revoked.location]).toEqual([303, paths.key(keyId)])
    expect((await service.post(validReading, key)).status).toBe(401)
  })
})

describe('on two nodes with one log', () => {
  test('a node that has not heard of a revocation stores no reading after it', async () => {
    const cluster = new Cluster()
    const [one, other] = [await cluster.open(), await cluster.open()]
    const keyId = await makeTestKey(one)
    // The other node gets events only when the test delivers them. Here it learns of the key, but later not of the
    // revocation.
    other.late.deliver()
    await other.post(keyId)

    // The node's timers run only while the test waits in `until` or `advance`.
    const revoked = await one.schedule.until(one.core.keys.revoke(keyId, 'stolen', asker))
    expect(revoked.ok).toBe(true)
    const [answer] = await other.post(keyId)
    expect(answer?.ok).toBe(false)
    expect(typesOf((await cluster.streams(keyId)).readings)).toEqual(['ReadingAccepted', 'ReadingsSealed'])
  })

  test('a fault: an append that was stored without an answer is not stored twice', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const keyId = await makeTestKey(node)
    node.faults.failAppend({ fault: 'unknown_written' })
    const [answer] = await node.post(keyId)
    expect(answer?.ok).toBe(true)
    expect(typesOf((await cluster.streams(keyId)).readings)).toEqual(['ReadingAccepted'])
  })
})

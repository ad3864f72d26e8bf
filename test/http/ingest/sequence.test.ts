import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { acceptedReadings, answerOf, expectAccepted, expectUnauthorized } from '../../support/answers.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'

let service: Service
beforeEach(async () => {
  service = await startService()
})
afterEach(() => service.stop())

const post = async (key: string) => answerOf(await service.post(validReading, key))

describe('the life of a key', () => {
  test('ends with the answer that confirms its revocation', async () => {
    const cellar = await service.core.cellars.create({ cellar: testCellar, title: 'Wine' }, testAsker)
    expect(cellar.ok).toBe(true)
    const { key, keyId } = await service.createKey({ label: 'Rack 17' })
    const { readings } = service.core.projections
    expect(readings.usage(keyId)).toBeNull()

    service.clock.advance(5_000)
    for (const accepted of [1, 2]) {
      service.clock.advance(1)
      expectAccepted(await post(key))
      await service.untilFolded(keyId, accepted)
      expect(readings.usage(keyId)).toMatchObject({ lastUsedAt: service.clock.now(), accepted })
    }

    expect((await service.core.keys.revoke(keyId, 'lost', testAsker)).ok).toBe(true)
    expectUnauthorized(await post(key), 'Invalid API key')
    expect((await acceptedReadings(service.log)).length).toBe(2)
  })

  test('a new expiry takes effect with its answer', async () => {
    const { key, keyId } = await service.createKey()
    expectAccepted(await post(key))
    const expiresAt = service.clock.now() + 1
    expect((await service.core.keys.setExpiry(keyId, expiresAt, testAsker)).ok).toBe(true)
    expectAccepted(await post(key))
    service.clock.set(expiresAt)
    expectUnauthorized(await post(key), 'API key has expired')
    expect((await service.core.keys.setExpiry(keyId, expiresAt + 60_000, testAsker)).ok).toBe(true)
    const revived = await post(key)
    expectAccepted(revived)
    expect(revived.header('X-API-Key-Expires-At')).toBe(new Date(expiresAt + 60_000).toISOString())
    expect((await service.core.keys.setExpiry(keyId, null, testAsker)).ok).toBe(true)
    expect((await post(key)).header('X-API-Key-Expires-At')).toBeNull()
  })

  test('no reading is accepted after the revocation', async () => {
    const { key, keyId } = await service.createKey()
    const before = Array.from({ length: 50 }, () => post(key))
    const revoked = service.core.keys.revoke(keyId, 'race', testAsker)
    const beside = Array.from({ length: 50 }, () => post(key))
    expect((await revoked).ok).toBe(true)
    expectUnauthorized(await post(key), 'Invalid API key')

    const answers = await Promise.all([...before, ...beside])
    const accepted = answers.filter((answer) => answer.status === 200)
    const events = await service.log.readAll({ limit: 1_000 })
    const types = events.map((event) => event.type)
    expect(types.lastIndexOf('ReadingAccepted')).toBeLessThan(types.indexOf('KeyRevoked'))
    const stored = events.filter((event) => event.type === 'ReadingAccepted').map((event) => event.id)
    expect(stored.toSorted()).toEqual(accepted.map((answer) => String(answer.header('X-Request-Id'))).toSorted())
  })
})

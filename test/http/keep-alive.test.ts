/**
 * A device that sends once a minute keeps its connection. Its client learns from `Keep-Alive` how long that holds. These tests
 * do not wait 75 s: after an update of Bun, try by hand that a connection still answers then.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { keepAliveSecondsMin } from '../../src/http/ingest/answer-headers.ts'
import { askToCloseConnections } from '../../src/http/serve.ts'
import { serverOptions } from '../../src/http/server-options.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'

let service: Service
let key: string
beforeEach(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterEach(() => service.stop())

const keepAliveOf = async (answering: Promise<Response>): Promise<readonly unknown[]> => {
  const { status, headers } = await answering
  return [status, headers.get('Keep-Alive')]
}

describe('an idle connection', () => {
  test('stays open longer than the answers promise', () => {
    const stepSeconds = 4
    expect(serverOptions.idleTimeout - stepSeconds).toBeGreaterThan(keepAliveSecondsMin)
    expect(keepAliveSecondsMin).toBeGreaterThan(60)
  })
})

describe('an answer to stored readings', () => {
  test('says how long an idle connection stays open', async () => {
    const repeated = { 'Idempotency-Key': 'a' }
    expect(await keepAliveOf(service.post(validReading, key, repeated))).toEqual([200, 'timeout=75'])
    expect(await keepAliveOf(service.post(validReading, key, repeated))).toEqual([200, 'timeout=75'])
    expect(await keepAliveOf(service.postBatch([validReading], key))).toEqual([200, 'timeout=75'])
    expect(await keepAliveOf(service.postBatch([validReading, {}], key))).toEqual([207, 'timeout=75'])
    expect(await keepAliveOf(service.post({}, key))).toEqual([400, null])
  })

  test('does not say so when its connection is closed', async () => {
    askToCloseConnections(service.server, service.app)
    const { status, headers } = await service.post(validReading, key)
    expect([status, headers.get('Connection'), headers.get('Keep-Alive')]).toEqual([200, 'close', null])
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { watchHealth } from '../../../src/health.ts'
import { bodyReservedBytesMin, readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import {
  deviceBodiesBytesMax,
  deviceLargeBodiesBytesMax,
  keyBodiesBytesMax,
} from '../../../src/http/unfinished-bodies.ts'
import { heartbeatMs, overloadedLooksMin, troubleLookMs } from '../../../src/limits.ts'
import { answerOf, expectRefusal } from '../../support/answers.ts'
import { type RawConnection, rawConnect } from '../../support/raw-http.ts'
import { type Service, validReading } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators } from '../dashboard/visitor.ts'

let schedule: DrivenSchedule
let service: Service
let key: string
let connections: RawConnection[]
let lines: [level: string, what: string, reason: unknown][]
beforeEach(async () => {
  schedule = drivenSchedule()
  service = await startWithOperators({ bodySchedule: schedule })
  key = (await service.createKey()).key
  connections = []
  lines = []
  const line = (level: string) => (what: string, facts?: { readonly reason?: unknown }) => {
    lines.push([level, what, facts?.reason])
  }
  watchHealth(
    service.reasons,
    { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    schedule,
  )
})
afterEach(async () => {
  for (const connection of connections) connection.drop()
  await service.stop()
})

type Leaked = { readonly key: string; readonly keyId: string }

type Bodies = { readonly path: string; readonly leaked: string; readonly count: number }

/** Starts bodies that reserve the most memory possible, and never end. */
const stall = async ({ path, leaked, count }: Bodies): Promise<void> => {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${leaked}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`
  const stalled = service.bodies.count + count
  const one = async (): Promise<void> => {
    const connection = await rawConnect(service.url)
    connections.push(connection)
    await connection.send(head)
  }
  await Promise.all(Array.from({ length: count }, one))
  await until(() => service.bodies.count === stalled)
}

/** Fills the memory for batches with stalled bodies. Returns the keys that sent them. */
const stallBatches = async (): Promise<readonly Leaked[]> => {
  const keys: Leaked[] = []
  for (let left = deviceLargeBodiesBytesMax; left > 0; left -= keyBodiesBytesMax) {
    const leaked = await service.createKey()
    const count = Math.min(left, keyBodiesBytesMax) / batchBodyBytesMax
    await stall({ path: '/api/v1/ingest/batch', leaked: leaked.key, count })
    keys.push(leaked)
  }
  return keys
}

/** Large batches may use only a part of the memory for bodies. This fills the rest with stalled single readings. */
const stallReadings = async (): Promise<void> => {
  const { key: leaked } = await service.createKey()
  const count = (deviceBodiesBytesMax - deviceLargeBodiesBytesMax) / readingBodyBytesMax
  await stall({ path: '/api/v1/ingest', leaked, count })
}

const aLargeBatch = JSON.stringify({ readings: [validReading] }).padEnd(readingBodyBytesMax + 1)
const postBatch = async () => answerOf(await service.postBatch(aLargeBatch, key))
const postReading = async () => answerOf(await service.post(validReading, key))

const kinds = (): readonly string[] => service.reasons().map(({ kind }) => kind)
const readyStatus = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status

/** The service looks for trouble once a second. Each of these looks finds one refusal. */
const refusedFor = async (looks: number, refuse: () => Promise<unknown>): Promise<void> => {
  for (let look = 0; look < looks; look += 1) {
    await refuse()
    await schedule.advance(troubleLookMs)
  }
}

describe('stalled batches of four keys', () => {
  test('leave room for single readings and small batches', async () => {
    await stallBatches()
    expect(service.bodies.reservedBytes('devices')).toBe(deviceLargeBodiesBytesMax)
    expectRefusal(await postBatch(), 503, 'OVERLOADED')
    expect((await postReading()).status).toBe(200)
    expect((await service.postBatch([validReading], key)).status).toBe(200)
    const [first] = connections
    first?.drop()
    await until(() => service.bodies.reservedBytes('devices') < deviceLargeBodiesBytesMax)
    expect((await postBatch()).status).toBe(200)
  })

  test('are a warning after 5 s', async () => {
    const auditor = await signedIn(service, 'auditor')
    const [first] = await stallBatches()
    await refusedFor(overloadedLooksMin - 1, postBatch)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
    await refusedFor(1, postBatch)
    expect([kinds(), await readyStatus()]).toEqual([['batches'], 200])
    await schedule.advance(heartbeatMs)
    const what = 'Unfinished request bodies use all the memory reserved for batches.'
    expect(lines).toEqual([['warn', what, 'batches']])
    const page = (await auditor.get('/cellars')).body
    for (const told of [what, 'Single readings are still stored.', `${first?.keyId} (16 MiB)`])
      expect(page).toContain(told)

    await schedule.advance((overloadedLooksMin - 1) * troubleLookMs - heartbeatMs)
    expect(kinds()).toEqual(['batches'])
    await schedule.advance(troubleLookMs)
    expect([kinds(), await readyStatus()]).toEqual([[], 200])
    await schedule.advance(heartbeatMs)
    expect(lines.slice(1)).toEqual([['info', `It is over: ${what}`, 'batches']])
  })

  test('are no warning for one key alone', async () => {
    const [leaked] = await stallBatches()
    await refusedFor(2 * overloadedLooksMin, async () => {
      expectRefusal(await answerOf(await service.postBatch(aLargeBatch, leaked?.key ?? '')), 503, 'OVERLOADED')
    })
    expect(kinds()).toEqual([])
  })
})

test('a pool without room for a single reading is the reason `bodies`', async () => {
  await stallBatches()
  await stallReadings()
  expect(service.bodies.reservedBytes('devices')).toBe(deviceBodiesBytesMax)
  const long = JSON.stringify(validReading).padEnd(bodyReservedBytesMin + 1)
  const postLong = async () => answerOf(await service.post(long, key))
  await refusedFor(overloadedLooksMin, async () => expectRefusal(await postLong(), 503, 'OVERLOADED'))
  expect((await postReading()).status).toBe(200)
  expect([kinds(), await readyStatus()]).toEqual([['bodies'], 503])
  for (const connection of connections) connection.drop()
  await until(() => service.bodies.count === 0)
  expect((await postReading()).status).toBe(200)
  await schedule.advance(overloadedLooksMin * troubleLookMs)
  expect([kinds(), await readyStatus()]).toEqual([[], 200])
})

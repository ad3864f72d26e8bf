import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keyStream, readingsStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { startLoad } from '../support/load.ts'
import { storeUrl } from '../support/logs/engine.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'

/** Two service processes on one log. Each has its own data folder. */
const store = { EVENTSTORE_URL: await storeUrl(), EVENTSTORE_PREFIX: freshPrefix() }
const folders = [newFolder(), newFolder()] as const
const environments = folders.map(({ path }) => ({ DATA_DIR: path, ...store }))
const [onOne, onOther] = environments
let one: ServiceProcess
let other: ServiceProcess
let log: EventLog

beforeAll(async () => {
  one = await startProcess(folders[0].path, { environment: store })
  other = await startProcess(folders[1].path, { environment: store })
  log = await openAt(store.EVENTSTORE_URL, store.EVENTSTORE_PREFIX)
  await cellarbook(['cellar', 'create', 'load'], onOne)
}, 600_000)

afterAll(async () => {
  await log.close()
  await Promise.all([one.stop(), other.stop()])
  for (const folder of folders) folder.remove()
}, 600_000)

const createKey = async (environment: Readonly<Record<string, string>> | undefined) => {
  const words = ['key', 'create', '--cellar', 'load', '--limit', '10000000/60', '--json']
  const created = await cellarbook(words, environment)
  return { key: textOf(created.lines[0], 'key'), id: textOf(created.lines[0], 'id') }
}

const statusOf = async (url: string, key: string): Promise<number> => {
  const response = await fetch(`${url}/api/v1/ingest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ cellar: 'load', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
  })
  return response.status
}

/** A node answers 401 until it learns about the other node's key, usually within a second. */
const firstStatusOf = async (url: string, key: string): Promise<number> => {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    const status = await statusOf(url, key)
    if (status !== 401) return status
  }
  return 401
}

test('a key made on either node works on the other', async () => {
  expect(await firstStatusOf(other.url, (await createKey(onOne)).key)).toBe(200)
  expect(await firstStatusOf(one.url, (await createKey(onOther)).key)).toBe(200)
}, 600_000)

test('a revocation on one node stops a key on both, and its seal is last', async () => {
  const { key, id } = await createKey(onOne)
  await firstStatusOf(other.url, key)
  let value = 0
  const loads = [one, other].map(({ url }) =>
    startLoad({ url, key, cellar: 'load', devices: 4, nextValue: () => value++ }),
  )
  for (const load of loads) await load.untilAcknowledged(100)
  expect((await cellarbook(['key', 'revoke', id], onOther)).exitCode).toBe(0)
  const { readings, revoked } = await lastOf(id)
  expect(readings).toMatchObject({ type: 'ReadingsSealed' })
  expect(revoked).toMatchObject({ type: 'KeyRevoked', data: { sealId: readings?.id } })

  for (const { url } of [one, other]) {
    for (let post = 0; post < 5; post++) expect(await statusOf(url, key)).toBe(401)
  }
  expect((await lastOf(id)).readings?.revision).toBe(readings?.revision)
  const receipts = loads.flatMap((load) => load.acknowledged.map(({ receipt }) => receipt))
  expect(new Set(receipts).size).toBe(receipts.length)
  for (const receipt of receipts) expect(Number(receipt.split('@')[1])).toBeLessThan(readings?.revision ?? -1)
}, 600_000)

test('keys suspended on one node are suspended in the list of the other', async () => {
  const ids: string[] = []
  for (let made = 0; made < 3; made += 1) ids.push((await createKey(onOne)).id)
  expect((await cellarbook(['key', 'suspend', ...ids], onOne)).exitCode).toBe(0)
  const listed = async (): Promise<readonly unknown[]> => {
    const { lines } = await cellarbook(['key', 'list', '--status', 'suspended', '--json'], onOther)
    return lines.map((line) => line['id']).toSorted()
  }
  while (!Bun.deepEquals(await listed(), ids.toSorted()));
}, 600_000)

const sendBatch = async (
  url: string,
  key: string,
  request: { readonly key: string; readonly values: readonly number[] },
) => {
  const readings = request.values.map((value) => ({
    cellar: 'load',
    rack: 'r',
    keg: 'k',
    value,
    timestamp: '2026-03-01T12:00:00Z',
  }))
  const response = await fetch(`${url}/api/v1/ingest/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, 'Idempotency-Key': request.key },
    body: JSON.stringify({ readings: [...readings, 'none'] }),
  })
  const { status, headers } = response
  return {
    status,
    body: await response.text(),
    receipt: headers.get('X-Receipt'),
    isReplay: headers.has('Idempotent-Replayed'),
  }
}

test('a batch is stored once, and retries on both nodes get the same answer', async () => {
  const { key, id } = await createKey(onOne)
  await firstStatusOf(other.url, key)
  const before = (await lastOf(id)).readings?.revision ?? -1
  const rounds = 10
  for (let round = 0; round < rounds; round++) {
    const request = { key: `retry ${round}`, values: [round, round + 0.5] }
    const first = await sendBatch(one.url, key, request)
    expect(first).toMatchObject({ status: 207, isReplay: false })
    for (const { url } of [other, one]) expect(await sendBatch(url, key, request)).toEqual({ ...first, isReplay: true })
    const another = await sendBatch(other.url, key, { ...request, values: [round] })
    expect(another).toMatchObject({ status: 422, receipt: null })

    const both = { key: `both ${round}`, values: [round] }
    const answers = await Promise.all([one, other].map(({ url }) => sendBatch(url, key, both)))
    const told = new Set(answers.map(({ status, body, receipt }) => JSON.stringify([status, body, receipt])))
    expect(told.size).toBe(1)
    expect(answers.filter(({ isReplay }) => isReplay)).toHaveLength(1)
  }
  expect((await lastOf(id)).readings?.revision).toBe(before + 3 * rounds)
}, 600_000)

const lastOf = async (keyId: string) => {
  const [readings] = await log.read(readingsStream(keyId), { direction: 'backwards', limit: 1 })
  const events = await log.read(keyStream(keyId), { limit: readPageEventsMax })
  return { readings, revoked: events.at(-1) }
}

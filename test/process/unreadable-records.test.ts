/** A node of a newer version wrote records that this version does not know. This version must still start and serve. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordsKeptMs } from '../../src/actors/cellar/record-retention.ts'
import { dayMs } from '../../src/domain/calendar.ts'
import { visitor } from '../http/dashboard/visitor.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { freshPrefix } from '../support/logs/event-store-log.ts'
import { addUnknownToFile, addUnknownToServer, unknownType } from '../support/logs/unknown-records.ts'

setDefaultTimeout(600_000)

let server: LogServer
beforeAll(async () => {
  server = await startLogServer()
})
afterAll(() => server.stop())

const streams = ['signins-node', 'exports-x', 'refusals-x', 'proofs-x'] as const

const onEngine = {
  'the embedded log': () => {
    const folder = newFolder()
    const environment: Record<string, string> = { EVENTSTORE_URL: '' }
    return { folder, environment, add: (stream: string, at = Date.now()) => addUnknownToFile(folder.path, stream, at) }
  },
  EventStoreDB: () => {
    const folder = newFolder()
    const prefix = freshPrefix()
    const environment: Record<string, string> = { EVENTSTORE_URL: server.url, EVENTSTORE_PREFIX: prefix }
    return {
      folder,
      environment,
      add: (stream: string, at = Date.now()) => addUnknownToServer(server.state, prefix + stream, at),
    }
  },
}

type Place = ReturnType<(typeof onEngine)[keyof typeof onEngine]>

const run = ({ folder, environment }: Place, ...words: readonly string[]) =>
  cellarbook(words, { DATA_DIR: folder.path, ...environment })

const newKey = async (place: Place): Promise<string> => {
  await run(place, 'cellar', 'create', 'wine')
  const { lines } = await run(place, 'key', 'create', '--cellar', 'wine', '--json')
  return textOf(lines[0], 'key')
}

const isServed = async ({ url }: ServiceProcess, key: string): Promise<readonly number[]> => {
  const reading = { cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  const post = await fetch(`${url}/api/v1/ingest`, { method: 'POST', headers, body: JSON.stringify(reading) })
  return [(await fetch(`${url}/readyz`)).status, post.status]
}

/** Signs the first admin in. Returns their account page. */
const signInFirst = async (place: Place, url: string): Promise<{ readonly status: number; readonly body: string }> => {
  const { lines } = await run(place, 'operator', 'link', '--json')
  const browser = visitor(url)
  const { pathname } = new URL(textOf(lines[0], 'url'))
  await browser.get(pathname)
  const password = 'a quiet harbour in November'
  const answer = await browser.post(pathname, { email: 'ada@example.org', password })
  expect(answer.status).toBe(303)
  return browser.get('/account')
}

const typesIn = async (place: Place, stream: string): Promise<readonly unknown[]> => {
  const read = await run(place, 'log', 'read', '--stream', stream, '--json')
  expect(read.exitCode).toBe(0)
  return read.lines.map(({ type, revision, data }) => [revision, type, data])
}

describe.each(Object.entries(onEngine))('records of a newer version in %s', (engine, open) => {
  const unreadable = (revision: number) => [
    revision,
    'RecordUnreadable',
    { type: unknownType, why: 'this version does not know its type' },
  ]

  test('leave a node ready, allow sign-ins, and are shown by the command line', async () => {
    const place = open()
    const key = await newKey(place)
    for (const stream of streams) place.add(stream)
    const service = await startProcess(place.folder.path, { environment: place.environment })
    try {
      expect(await isServed(service, key)).toEqual([200, 200])
      // While this node runs, another node can write only on a separate store.
      const live = engine === 'EventStoreDB' ? streams : []
      for (const stream of live) place.add(stream)
      expect(await isServed(service, key)).toEqual([200, 200])
      const account = await signInFirst(place, service.url)
      expect([account.status, account.body]).toEqual([200, expect.stringContaining('Signed in')])
      const [first, ...others] = await typesIn(place, 'signins-node')
      expect(first).toEqual(unreadable(0))
      expect(others.at(-1)).toEqual([1 + Math.min(live.length, 1), 'SignInSeen', expect.anything()])
      for (const stream of streams.slice(1)) {
        expect(await typesIn(place, stream)).toEqual([unreadable(0), ...(live.length > 0 ? [unreadable(1)] : [])])
      }
      expect((await run(place, 'log', 'read')).stdout).toContain(unknownType)
      expect(await service.stop()).toBe(0)
    } finally {
      service.signal('SIGKILL')
      await service.exited
      place.folder.remove()
    }
  })

  test('are purged by a start when too old, also behind a later record', async () => {
    const place = open()
    const key = await newKey(place)
    place.add('signins-node', Date.now() + 3_650 * dayMs)
    place.add('signins-node', Date.now() - recordsKeptMs.signins - 2 * dayMs)
    place.add('signins-node')
    const service = await startProcess(place.folder.path, { environment: place.environment })
    try {
      expect(await isServed(service, key)).toEqual([200, 200])
      // Waits for the purge. If it never comes, the test times out.
      let left = await typesIn(place, 'signins-node')
      while (left.length !== 2 || JSON.stringify(left).includes('[1,')) left = await typesIn(place, 'signins-node')
      expect(left).toEqual([
        unreadable(2),
        [3, 'RecordsPurged', { firstRevision: 0, lastRevision: 1, recordedBefore: expect.any(Number) }],
      ])
    } finally {
      service.signal('SIGKILL')
      await service.exited
      place.folder.remove()
    }
  })
})

import { makeKey, makeKeyId } from '../../src/domain/key-format.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { batchBodyBytesMax } from '../../src/http/ingest/ingest-batch.ts'
import { batchReadingsMax, keyLimitDefault } from '../../src/limits.ts'
import { table } from '../figures.ts'
import { createKey, type EmptyService, type ServiceOptions, startEmptyService } from '../servers.ts'
import {
  type HeldLoop,
  openWorstCellar,
  requestsOf,
  sentAs,
  type WorstRequest,
  worstCellar,
} from '../watch/loop-holds.ts'
import type { Flood, FloodResult } from './flood.ts'
import type { LiveViewers, LiveViewersResult } from './live-viewers.ts'
import { type Answers, type StartedLoad, startLoad, type Times } from './load-process.ts'
import { newOperators } from './new-operators.ts'
import { batchesToFill, newRacksBody, postNewRacks, type RackNames, rackNames } from './new-racks.ts'
import type { PacedDevices, PacedDevicesResult } from './paced-devices.ts'
import type { StalledBodies, StalledBodiesResult } from './stalled-bodies.ts'
import { chunkedBatchName, chunkedFormName, emptyBlocksName, worstBodies } from './worst-bodies.ts'

const goodPerSecond = 200
/** Bad devices post one reading for every 20 readings of good devices. */
const badPerSecond = goodPerSecond / 20
/**
 * This allows 1,000 readings a second, five times what the good devices send. So their own readings never reach the
 * limit.
 */
const goodLimit = { readings: 60_000, windowMs: 60_000 }
const goodConnections = 64
const goodCellar = 'good-cellar'
const p99TargetMs = 25

/** The good devices post alone for this time, so that the service is warm before the bad client begins. */
const aloneMs = 3_000
const settledMs = 1_000
/**
 * If the timers of the load process were later than this, its latencies contain that delay. Its row of the results then
 * gets a note.
 */
const loadLateMsMax = 2

type Seen = { readonly perSecond: string; readonly answers: Answers; readonly note: string }

/** `prepare` creates keys and starts the load process. `run` then disturbs the service until `times.endMs`. */
type Neighbour = {
  readonly name: string
  readonly prepare: (service: EmptyService) => Promise<{ run(times: Times): Promise<Seen> }>
  /** True if the bad devices use the key of the good devices. Even then, the good devices must lose no reading. */
  readonly sharesKey?: boolean
}

/**
 * These requests are tried in every run, so that runs can be compared. A run also tries the worst requests of its own
 * `benchLoopHolds`.
 */
const alwaysTried: readonly (readonly [name: string, sentAs: string])[] = [
  ['deep: 1,048,000 times [', 'gzip'],
  ['invalid: 1 valid, 999 × invalid_body', 'plain, key'],
  ['junk: a valid reading and 1 MiB of 2-byte characters', 'gzip'],
  ['valid: 1,000 readings with junk up to 1 MiB', 'plain'],
  [chunkedFormName, 'chunks'],
  [chunkedBatchName, 'chunks'],
  [emptyBlocksName, 'gzip'],
]
const worstTried = 2

/**
 * Measures the latency of 200 readings a second of one key, while one kind of bad client (a neighbour) disturbs the
 * service. `held` has the results of `benchLoopHolds`, worst first. `only` selects neighbours whose name contains it.
 */
export const benchNeighbours = async (
  held: readonly HeldLoop[],
  { seconds, only, ...options }: ServiceOptions & { readonly seconds: number; readonly only: string },
): Promise<void> => {
  const neighbours = neighboursOf(triedRequests(held)).filter(({ name }) => name.includes(only))
  const rows: string[][] = []
  for (const neighbour of neighbours) rows.push(await measure(neighbour, seconds, options))
  console.log(`\n${goodPerSecond} readings a second of one key, beside a neighbour for ${seconds} s\n`)
  const head = ['beside', 'p50 ms', 'p99 ms', 'max ms', 'not 200', 'its requests/s', 'its answers', 'note']
  console.log(table([head, ...rows]))
  console.log(`\nTarget: p99 at ${p99TargetMs} ms or below, and every answer a 200.`)
}

const triedRequests = (held: readonly HeldLoop[]): readonly WorstRequest[] => {
  const tried = [...everyRequest()].filter((request) =>
    alwaysTried.some(([name, as]) => request.name === name && sentAs(request) === as),
  )
  for (const { request } of held) {
    if (tried.length >= alwaysTried.length + worstTried) break
    if (!tried.some(({ name }) => name === request.name)) tried.push(request)
  }
  return tried
}

function* everyRequest(): Generator<WorstRequest> {
  for (const body of worstBodies(worstCellar)) yield* requestsOf(body)
}

const neighboursOf = (requests: readonly WorstRequest[]): readonly Neighbour[] => [
  { name: 'nobody', prepare: async () => ({ run: async () => noFigures }) },
  ...requests.map((request) => ({
    name: `4 connections: ${request.name} (${sentAs(request)})`,
    prepare: (service: EmptyService) => floodOfOneKey(service, request),
  })),
  ...requests
    .filter(({ name }) => name !== chunkedFormName)
    .map((request) => ({ ...request, hasIdempotencyKey: true }))
    .map((request) => ({
      name: `4 connections, full window, Idempotency-Keys: ${request.name} (${sentAs(request)})`,
      prepare: (service: EmptyService) => floodOfFullKey(service, request),
    })),
  ...rackNames.map((names) => ({
    name: `1 batch/s of new racks ${names.what}`,
    prepare: (service: EmptyService) => postRacks(service, names),
  })),
  { name: '512 live streams of 128 sessions', prepare: watchLivePages },
  { name: '200 stalled bodies of one key', prepare: stallBodies },
  { name: '64 connections of wrong keys', prepare: floodOfWrongKeys },
  { name: '64 connections of one refused key', prepare: (service) => floodOfRefusedKeys(service, 1) },
  { name: '64 connections of 10,000 refused keys', prepare: (service) => floodOfRefusedKeys(service, 10_000) },
  { name: '5% bad devices of the same key', prepare: async () => ({ run: async () => noFigures }), sharesKey: true },
]

const noFigures: Seen = { perSecond: '', answers: {}, note: '' }

const measure = async (neighbour: Neighbour, seconds: number, options: ServiceOptions): Promise<string[]> => {
  const service = await startEmptyService(options)
  try {
    await openWorstCellar(service)
    await service.ask({ op: 'create_cellar', cellar: goodCellar, title: '' })
    const goodKey = await createKey(service, goodCellar, goodLimit)
    const prepared = await neighbour.prepare(service)
    const good = await startGoodDevices(service.url, goodKey, neighbour.sharesKey === true)
    const startMs = Date.now() + 500
    const endMs = startMs + aloneMs + seconds * 1_000
    const [shown, bad, seen] = await Promise.all([
      good.devices.askOnce({ startMs, endMs }),
      good.badDevices?.askOnce({ startMs: startMs + aloneMs, endMs }) ?? null,
      prepared.run({ startMs: startMs + aloneMs, endMs }),
    ])
    const beside = bad === null ? seen : { perSecond: String(badPerSecond), answers: bad.answers, note: '' }
    return rowOf(neighbour.name, shown, beside)
  } finally {
    await service.stop()
  }
}

type GoodDevices = {
  readonly devices: StartedLoad<Times, PacedDevicesResult>
  readonly badDevices: StartedLoad<Times, PacedDevicesResult> | null
}

const startGoodDevices = async (url: string, key: string, hasBadDevices: boolean): Promise<GoodDevices> => {
  const paced = (
    timestamp: string,
    perSecond: number,
    latencyFromMs: number,
  ): Promise<StartedLoad<Times, PacedDevicesResult>> =>
    startLoad<PacedDevices, Times, PacedDevicesResult>('paced-devices.ts', {
      url,
      requests: Array.from({ length: 64 }, (_, rack) => ({
        key,
        path: '/api/v1/ingest',
        body: JSON.stringify({
          cellar: goodCellar,
          rack: `rack-${rack}`,
          keg: 'temperature',
          value: 18 + rack,
          timestamp,
        }),
      })),
      perSecond,
      connections: goodConnections,
      latencyFromMs,
    })
  return {
    devices: await paced(
      '2026-03-01T12:00:00Z',
      goodPerSecond - (hasBadDevices ? badPerSecond : 0),
      aloneMs + settledMs,
    ),
    badDevices: hasBadDevices ? await paced('yesterday', badPerSecond, 0) : null,
  }
}

const rowOf = (name: string, good: PacedDevicesResult, { perSecond, answers, note }: Seen): string[] => {
  const all = Object.values(good.answers).reduce((sum, count) => sum + count, good.unanswered)
  const failed = all - (good.answers['200'] ?? 0)
  const others = Object.entries(good.answers).filter(([what]) => what !== '200')
  const late = `the load itself was late: p99 ${good.lateP99Ms.toFixed(1)}, max ${good.lateMaxMs.toFixed(1)} ms`
  return [
    name,
    good.p50Ms.toFixed(1),
    good.p99Ms.toFixed(1),
    good.maxMs.toFixed(1),
    `${failed} of ${all}${failed === 0 ? '' : ` (${answersText(Object.fromEntries(others))}, unanswered ${good.unanswered})`}`,
    perSecond,
    answersText(answers),
    [note, ...(good.lateP99Ms > loadLateMsMax ? [late] : [])].filter((text) => text !== '').join('; '),
  ]
}

const answersText = (answers: Answers): string =>
  Object.entries(answers)
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ')

const floodOfOneKey = async (service: EmptyService, request: WorstRequest) =>
  startFlood(service, request, await createKey(service, worstCellar, keyLimitDefault))

/** Fills the rate window of the key first, so the flood measures requests that the rate limit refuses. */
const floodOfFullKey = async (service: EmptyService, request: WorstRequest) => {
  const key = await createKey(service, worstCellar, keyLimitDefault)
  for (let count = 0; count < keyLimitDefault.readings; count += batchReadingsMax) {
    await postReadings(service.url, { key, cellar: worstCellar, first: count })
  }
  return startFlood(service, request, key)
}

type Posted = { readonly key: string; readonly cellar: string; readonly first: number }

const postReadings = async (url: string, { key, cellar, first }: Posted): Promise<void> => {
  const readings = Array.from({ length: batchReadingsMax }, (_, index) => ({
    cellar,
    rack: `rack-${first + index}`,
    keg: 'sensor-temperature',
    value: 18 + index / 7,
    timestamp: '2026-03-01T12:00:00Z',
  }))
  const answer = await fetch(`${url}/api/v1/ingest/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ readings }),
  })
  if (answer.status !== 200) throw new Error(`Cannot prepare the service: a batch was answered with ${answer.status}`)
}

const startFlood = async ({ url }: EmptyService, request: WorstRequest, key: string) => {
  return flooding({ ...request, url, body: request.bytes.toBase64(), keys: [key], connections: 4 })
}

const flooding = async (flood: Flood) => {
  const load = await startLoad<Flood, Times, FloodResult>('flood.ts', flood)
  return {
    run: async (times: Times): Promise<Seen> => {
      const { perSecond, answers } = await load.askOnce(times)
      return { perSecond: perSecond.toFixed(0), answers, note: '' }
    },
  }
}

/** Every secret is wrong. Half of the keys have an id that exists, so the service compares their secret. */
const floodOfWrongKeys = async (service: EmptyService) => {
  const known = (await createKey(service, worstCellar)).slice(4, 12)
  const wrong = (keyId: string): string => makeKey(keyId, systemEntropy.bytes(32)).key
  const keys = Array.from({ length: 64 }, (_, index) =>
    wrong(index % 2 === 0 ? known : makeKeyId(systemEntropy.bytes(16))),
  )
  return floodOfKeys(service, keys, {})
}

/** The keys are valid, but they post into the cellar of the good devices. So the service refuses and counts each reading. */
const floodOfRefusedKeys = async (service: EmptyService, count: number) => {
  const keys: string[] = []
  while (keys.length < count) keys.push(await createKey(service, worstCellar))
  const reading = {
    cellar: goodCellar,
    rack: 'rack-1',
    keg: 'temperature',
    value: 18,
    timestamp: '2026-03-01T12:00:00Z',
  }
  return floodOfKeys(service, keys, reading)
}

const floodOfKeys = ({ url }: EmptyService, keys: readonly string[], body: object) =>
  flooding({
    url,
    path: '/api/v1/ingest',
    keys,
    body: Buffer.from(JSON.stringify(body)).toBase64(),
    contentType: 'application/json',
    isPacked: false,
    isInChunks: false,
    hasIdempotencyKey: false,
    connections: 64,
  })

/** The maps by name are full before the measurement. The key has the default limit, so it can post six batches a minute. */
const postRacks = async (service: EmptyService, names: RackNames) => {
  const { url } = service
  const bodies = Array.from({ length: batchesToFill + 60 }, (_, batch) => newRacksBody(worstCellar, names, batch))
  const filling = await createKey(service, worstCellar)
  for (const body of bodies.splice(0, batchesToFill)) await postNewRacks(url, filling, body)
  const key = await createKey(service, worstCellar, keyLimitDefault)
  const load = await startLoad<PacedDevices, Times, PacedDevicesResult>('paced-devices.ts', {
    url,
    requests: bodies.map((body) => ({ key, path: '/api/v1/ingest/batch', body })),
    perSecond: 1,
    connections: 4,
    latencyFromMs: 0,
  })
  return {
    run: async (times: Times): Promise<Seen> => ({
      perSecond: '1',
      answers: (await load.askOnce(times)).answers,
      note: '',
    }),
  }
}

const stallBodies = async (service: EmptyService) => {
  const key = await createKey(service, worstCellar, keyLimitDefault)
  const load = await startLoad<StalledBodies, Times, StalledBodiesResult>('stalled-bodies.ts', {
    url: service.url,
    key,
    connections: 200,
    declaredBytes: batchBodyBytesMax,
  })
  return {
    run: async (times: Times): Promise<Seen> => {
      const { openAtEnd, answers } = await load.askOnce(times)
      return { perSecond: '', answers, note: `${openAtEnd} open at the end` }
    },
  }
}

const liveOperators = 8
const liveSessions = 128
const liveCellars = 8
const kegsOfLiveCellar = 2_000
/** Readings per second to each cellar. They come more often than pushes, so each push finds a changed page. */
const liveReadingsPerSecond = 4

/** Opens 4 live streams in each of 128 sessions, and each stream shows another page. Devices post to every cellar. */
const watchLivePages = async (service: EmptyService) => {
  const { url } = service
  const requests: { key: string; path: string; body: string }[] = []
  for (let index = 0; index < liveCellars; index += 1) {
    const cellar = cellarName(index)
    await service.ask({ op: 'create_cellar', cellar, title: '' })
    const key = await createKey(service, cellar)
    for (let first = 0; first < kegsOfLiveCellar; first += batchReadingsMax)
      await postReadings(url, { key, cellar, first })
    const reading = { cellar, rack: 'rack-1', keg: 'sensor-temperature', value: 20, timestamp: '2026-03-01T12:00:01Z' }
    requests.push({ key, path: '/api/v1/ingest', body: JSON.stringify(reading) })
  }
  const links = await newOperators(service, liveOperators)
  const paths = Array.from({ length: liveSessions }, (_, session) => livePaths(session))
  const viewers = await startLoad<LiveViewers, Times, LiveViewersResult>('live-viewers.ts', {
    url,
    links,
    sessions: liveSessions,
    paths,
  })
  const devices = await startLoad<PacedDevices, Times, PacedDevicesResult>('paced-devices.ts', {
    url,
    requests,
    perSecond: liveReadingsPerSecond * liveCellars,
    connections: liveCellars,
    latencyFromMs: 0,
  })
  return {
    run: async (times: Times): Promise<Seen> => {
      const [seen] = await Promise.all([viewers.askOnce(times), devices.askOnce(times)])
      const { openAtEnd, answers, pushesPerSecond, mebibytesPerSecond } = seen
      const note = `${openAtEnd} open at the end, ${pushesPerSecond.toFixed(0)} pushes/s, ${mebibytesPerSecond.toFixed(1)} MiB/s`
      return { perSecond: '', answers, note }
    },
  }
}

const cellarName = (index: number): string => `live-cellar-${index}`

/** Every keg matches each of these searches, so each page is full. */
const searches = ['', 'rack', 'sensor', 'rack sensor'] as const

/** Two sessions share the pages of all cellars, because further streams of one session would be polls. */
const livePaths = (session: number): readonly string[] => {
  const pair = Math.floor(session / 2)
  const find = searches[pair % searches.length] ?? ''
  const page = 1 + Math.floor(pair / searches.length)
  return Array.from({ length: liveCellars / 2 }, (_, index) => {
    const cellar = cellarName(2 * index + (session % 2))
    return `/live/cellars/${cellar}/readings?find=${encodeURIComponent(find)}&page=${page}`
  })
}

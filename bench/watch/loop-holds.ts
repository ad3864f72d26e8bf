import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { batchBodyBytesMax } from '../../src/http/ingest/ingest-batch.ts'
import { median, table } from '../figures.ts'
import { AnswerReader, inChunks } from '../load/load-process.ts'
import {
  chunkedBatchName,
  chunkedFormName,
  emptyBlocksName,
  pack,
  type WorstBody,
  worstBodies,
} from '../load/worst-bodies.ts'
import { createKey, type EmptyService, freePort, type ServiceOptions, startEmptyService } from '../servers.ts'
import type { Holds } from './hold-watch.ts'

export type HeldLoop = {
  readonly request: WorstRequest
  /** The different statuses of the rounds; usually all rounds have the same. */
  readonly statuses: readonly number[]
  readonly code: string
  readonly longestMs: number
  readonly longestMsMax: number
  readonly processorMs: number
  readonly processorMsMax: number
  readonly allMs: number
  readonly allProcessorMs: number
}

export type WorstRequest = {
  readonly name: string
  readonly path: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
  readonly isPacked: boolean
  readonly isInChunks: boolean
  /** `null` if the bytes unpack to more than `batchBodyBytesMax` or are not valid gzip. */
  readonly unpackedBytes: number | null
  readonly hasIdempotencyKey: boolean
  readonly isWithinStructure: boolean
}

export const worstCellar = 'wine-berlin1'
const holdTargetMs = 10
/** The processor time of the service for the whole request. Before these bodies were bounded, they took 10 to 30 times as long. */
const processorTargetsMs: Readonly<Record<string, number>> = {
  [chunkedFormName]: 5,
  [chunkedBatchName]: 80,
  [emptyBlocksName]: 20,
}

const warmUps = 2
/** The service still works after its answer. The measurement waits this long, so that the work counts. */
const settleMs = 5
const rowsPrinted = 25

/** `onlyTargets`: only the bodies of `processorTargetsMs`. */
type Measured = ServiceOptions & { readonly rounds: number; readonly onlyTargets: boolean }

/**
 * Measures how long one request holds the event loop, for each body of `worstBodies`. Each request has a key with the
 * highest limit, so no rate limit refuses it.
 */
export const benchLoopHolds = async ({ rounds, onlyTargets, ...options }: Measured): Promise<readonly HeldLoop[]> => {
  const port = await freePort()
  const env = { BUN_OPTIONS: `--preload ${join(import.meta.dir, 'hold-watch.ts')}`, BENCH_HOLD_PORT: String(port) }
  const service = await startEmptyService({ ...options, env })
  try {
    await openWorstCellar(service)
    const watched: Watched = { service, watchUrl: `http://127.0.0.1:${port}` }
    await compileHotPaths(watched)
    const held: HeldLoop[] = []
    for (const body of worstBodies(worstCellar)) {
      if (onlyTargets && processorTargetsMs[body.name] === undefined) continue
      for (const request of requestsOf(body)) held.push(await measure(watched, request, rounds))
    }
    const sorted = held.toSorted((a, b) => b.longestMs - a.longestMs)
    report(sorted, rounds)
    return sorted
  } finally {
    await service.stop()
  }
}

const century = 36_500 * 86_400_000

/** Gives the cellar limits for timestamps, so that items of the years 0001 and 9999 are refused. */
export const openWorstCellar = async (service: EmptyService): Promise<void> => {
  await service.ask({ op: 'create_cellar', cellar: worstCellar, title: '' })
  const changes = { readingAgeMsMax: century, readingAheadMsMax: century }
  await service.ask({ op: 'cellar_policy', cellar: worstCellar, changes, isConfirmed: true })
}

/**
 * A batch is sent plain and packed, each with and without an `Idempotency-Key`. A single reading is never packed, and a
 * body that is already gzip is not packed again. A body in chunks is sent as it is.
 */
export const requestsOf = (body: WorstBody): readonly WorstRequest[] => {
  const { name, kind, isInChunks, isWithinStructure } = body
  const both = (bytes: Uint8Array<ArrayBuffer>, isPacked: boolean): readonly WorstRequest[] => {
    const unpackedBytes = isPacked ? unpackedBytesOf(bytes) : bytes.length
    const contentType = kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
    const request = {
      name,
      path: pathOf[kind],
      bytes,
      contentType,
      isPacked,
      isInChunks,
      unpackedBytes,
      isWithinStructure,
    }
    return [false, true].map((hasIdempotencyKey) => ({ ...request, hasIdempotencyKey }))
  }
  if (body.encoding === 'gzip') return both(body.bytes, true)
  if (isInChunks) return both(body.bytes, false).slice(0, 1)
  if (kind === 'reading') return both(body.bytes, false)
  return [...both(body.bytes, false), ...both(pack(body.bytes), true)]
}

const pathOf = { reading: '/api/v1/ingest', batch: '/api/v1/ingest/batch', form: '/sign-in' } as const

const unpackedBytesOf = (bytes: Uint8Array): number | null => {
  try {
    return gunzipSync(bytes, { maxOutputLength: batchBodyBytesMax }).length
  } catch {
    return null
  }
}

type Watched = { readonly service: EmptyService; readonly watchUrl: string }

/**
 * Sends requests before the measurement. The first requests of a process are always slow, because its code is not
 * compiled yet.
 */
const compileHotPaths = async (watched: Watched): Promise<void> => {
  for (const body of worstBodies(worstCellar)) {
    const isUsual = body.name.startsWith('valid:') || body.name.startsWith('invalid:') || body.name === 'reading: valid'
    if (isUsual) for (const request of requestsOf(body)) await measure(watched, request, 1)
  }
}

type Sent = { readonly status: number; readonly code: string; readonly holds: Holds }

const measure = async ({ service, watchUrl }: Watched, request: WorstRequest, rounds: number): Promise<HeldLoop> => {
  const key = await createKey(service, worstCellar)
  const sent: Sent[] = []
  for (let round = -warmUps; round < rounds; round += 1) {
    await fetch(`${watchUrl}/begin`)
    const { status, code } = await (request.isInChunks ? sendInChunks : send)(service.url, request, key)
    await Bun.sleep(settleMs)
    const holds: Holds = JSON.parse(await (await fetch(`${watchUrl}/end`)).text())
    if (round >= 0) sent.push({ status, code, holds })
  }
  return {
    request,
    statuses: [...new Set(sent.map(({ status }) => status))],
    code: sent[0]?.code ?? '',
    longestMs: median(sent.map(({ holds }) => holds.longestMs)),
    longestMsMax: Math.max(...sent.map(({ holds }) => holds.longestMs)),
    processorMs: median(sent.map(({ holds }) => holds.longestProcessorMs)),
    processorMsMax: Math.max(...sent.map(({ holds }) => holds.longestProcessorMs)),
    allMs: median(sent.map(({ holds }) => holds.allMs)),
    allProcessorMs: median(sent.map(({ holds }) => holds.allProcessorMs)),
  }
}

const send = async (url: string, request: WorstRequest, key: string): Promise<Omit<Sent, 'holds'>> => {
  const answer = await fetch(url + request.path, {
    method: 'POST',
    headers: headersOf(request, key),
    body: request.bytes,
  })
  return { status: answer.status, code: codeIn(await answer.text()) }
}

/** Sends the body in chunks of one byte over a socket, because `fetch` joins chunks. */
const sendInChunks = async (url: string, request: WorstRequest, key: string): Promise<Omit<Sent, 'holds'>> => {
  const { hostname, port, host } = new URL(url)
  const headers = { Host: host, 'Transfer-Encoding': 'chunked', ...headersOf(request, key) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n`
  let unsent: Buffer = Buffer.concat([Buffer.from(head), inChunks(request.bytes)])
  const answered = Promise.withResolvers<string>()
  const reader = new AnswerReader(answered.resolve)
  const push = (socket: Bun.Socket<undefined>): void => {
    unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
  }
  const data = (_: Bun.Socket<undefined>, bytes: Buffer): void => reader.take(bytes)
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { open: push, drain: push, data } })
  const status = await answered.promise
  socket.end()
  return { status: Number(status), code: '' }
}

const headersOf = (request: WorstRequest, key: string): Record<string, string> => ({
  'Content-Type': request.contentType,
  'X-API-Key': key,
  ...(request.isPacked ? { 'Content-Encoding': 'gzip' } : {}),
  ...(request.hasIdempotencyKey ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
})

const codeIn = (text: string): string => {
  const answer: { readonly code?: string } = JSON.parse(text)
  return answer.code ?? ''
}

const report = (held: readonly HeldLoop[], rounds: number): void => {
  const within = held.filter(({ request }) => request.isWithinStructure)
  console.log(
    `\nThe event loop's time for one request, ${rounds} times each; the worst ${rowsPrinted} of ${held.length}\n`,
  )
  console.log(table([head, ...held.slice(0, rowsPrinted).map(row)]))
  console.log(`\nOf these ${within.length} keep the bounds on structure; the worst ${rowsPrinted}\n`)
  console.log(table([head, ...within.slice(0, rowsPrinted).map(row)]))
  console.log(`\nTarget: no turn is longer than ${holdTargetMs} ms. Requests with a longer one:\n`)
  console.log(
    table([['', 'by the median', 'at least once'], over('all', held), over('within the bounds on structure', within)]),
  )
  console.log('\nProcessor time of the event loop for the whole request, by the median\n')
  console.log(table([['body', 'sent as', 'target ms', 'ms'], ...held.flatMap(targetRow)]))
}

const head = [
  'body',
  'sent as',
  'bytes',
  'unpacked',
  'status',
  'code',
  'longest turn ms: median',
  'max',
  'its processor time: median',
  'max',
  'all turns: median',
]

const over = (name: string, held: readonly HeldLoop[]): string[] => {
  const count = (figure: (one: HeldLoop) => number): number => held.filter((one) => figure(one) > holdTargetMs).length
  const both = (wall: number, processor: number): string => `${wall} (${processor} by processor time) of ${held.length}`
  return [
    name,
    both(
      count((one) => one.longestMs),
      count((one) => one.processorMs),
    ),
    both(
      count((one) => one.longestMsMax),
      count((one) => one.processorMsMax),
    ),
  ]
}

const row = (one: HeldLoop): string[] => [
  one.request.name,
  sentAs(one.request),
  String(one.request.bytes.length),
  String(one.request.unpackedBytes ?? '–'),
  one.statuses.join(', '),
  one.code,
  ...[one.longestMs, one.longestMsMax, one.processorMs, one.processorMsMax, one.allMs].map((ms) => ms.toFixed(1)),
]

const targetRow = ({ request, allProcessorMs }: HeldLoop): string[][] => {
  const targetMs = processorTargetsMs[request.name]
  return targetMs === undefined ? [] : [[request.name, sentAs(request), String(targetMs), allProcessorMs.toFixed(1)]]
}

export const sentAs = ({ isPacked, isInChunks, hasIdempotencyKey }: WorstRequest): string =>
  (isPacked ? 'gzip' : isInChunks ? 'chunks' : 'plain') + (hasIdempotencyKey ? ', key' : '')

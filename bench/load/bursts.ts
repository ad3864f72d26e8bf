/**
 * Sends bursts of requests on kept connections. A connection sends its next request when the last one is answered. Some requests
 * of a burst can be refused: they are spread evenly among the others.
 */
import { AnswerReader, serveLoad } from './load-process.ts'

export type Bursts = {
  readonly url: string
  /** The accepted requests take these in turn. */
  readonly keys: readonly string[]
  readonly cellar: string
  /** 0 means single readings instead of batches. */
  readonly batchReadings: number
  readonly connections: number
  /** Single readings with these keys in turn are refused, because their value is a text. */
  readonly refusedKeys: readonly string[]
}

/** Numbers of requests. */
export type Burst = { readonly accepted: number; readonly refused: number }

/** How long the burst took, in ms. */
export type BurstMs = number

type Connection = { readonly next: () => void }

const bodies = 16

const prepare = async (options: Bursts) => {
  const { hostname, port } = new URL(options.url)
  const accepted = Array.from({ length: bodies }, (_, index) => requestBytes(options, index))
  const refused = options.refusedKeys.map((key) => refusedBytes(options, key))
  let refusedShare = 0
  let left = 0
  let underWay = 0
  let number = 0
  let burst = Promise.withResolvers<void>()
  const open = async (): Promise<Connection> => {
    let unsent: Buffer = Buffer.alloc(0)
    let expected = ''
    const push = (): void => {
      unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
    }
    const next = (): void => {
      if (left === 0) {
        if (underWay === 0) burst.resolve()
        return
      }
      left -= 1
      underWay += 1
      number += 1
      const refusals = Math.floor(number * refusedShare)
      const isRefused = refusals > Math.floor((number - 1) * refusedShare)
      unsent = (isRefused ? refused[refusals % refused.length] : accepted[number % accepted.length]) ?? unsent
      expected = isRefused ? '400' : '200'
      push()
    }
    const reader = new AnswerReader((status) => {
      underWay -= 1
      if (status !== expected) burst.reject(new Error(`Cannot quote a figure: a request was answered with ${status}`))
      next()
    })
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => reader.take(bytes),
        drain: push,
        close: () => burst.reject(new Error('Cannot quote a figure: the service has closed a connection')),
      },
    })
    return { next }
  }
  const connections = await Promise.all(Array.from({ length: options.connections }, open))
  return async (counts: Burst): Promise<BurstMs> => {
    const startMs = performance.now()
    burst = Promise.withResolvers<void>()
    left = counts.accepted + counts.refused
    refusedShare = counts.refused / left
    number = 0
    for (const { next } of connections) if (left > 0) next()
    await burst.promise
    return performance.now() - startMs
  }
}

const requestBytes = ({ keys, cellar, batchReadings }: Bursts, index: number): Buffer => {
  const reading = (of: number) => ({
    cellar,
    rack: `rack-${String((index * 61 + of) % 1_000).padStart(4, '0')}`,
    keg: 'temperature',
    value: 18 + (of + index) / 7,
    timestamp: `2026-03-01T12:${String(index).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}Z`,
  })
  const isBatch = batchReadings > 0
  const body = JSON.stringify(
    isBatch ? { readings: Array.from({ length: batchReadings }, (_, of) => reading(of)) } : reading(0),
  )
  return postOf(`/api/v1/ingest${isBatch ? '/batch' : ''}`, keys[index % keys.length] ?? '', body)
}

const refusedBytes = ({ cellar }: Bursts, key: string): Buffer => {
  const reading = { cellar, rack: 'rack-0001', keg: 'temperature', value: 'warm', timestamp: '2026-03-01T12:00:00Z' }
  return postOf('/api/v1/ingest', key, JSON.stringify(reading))
}

const postOf = (path: string, key: string, body: string): Buffer => {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-API-Key: ${key}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

await serveLoad<Bursts, Burst, BurstMs>(prepare)

/** Sends bursts of requests on kept connections. A connection sends its next request when the last one is answered. */
import { AnswerReader, serveLoad } from './load-process.ts'

export type Bursts = {
  readonly url: string
  readonly key: string
  readonly cellar: string
  /** 0 means single readings instead of batches. */
  readonly batchReadings: number
  readonly connections: number
}

/** Number of requests. */
export type Burst = number

type Connection = { readonly next: () => void }

const bodies = 16

const prepare = async (options: Bursts) => {
  const { hostname, port } = new URL(options.url)
  const requests = Array.from({ length: bodies }, (_, index) => requestBytes(options, index))
  let left = 0
  let underWay = 0
  let number = 0
  let burst = Promise.withResolvers<void>()
  const open = async (): Promise<Connection> => {
    let unsent: Buffer = Buffer.alloc(0)
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
      unsent = requests[number % requests.length] ?? unsent
      push()
    }
    const reader = new AnswerReader((status) => {
      underWay -= 1
      if (status !== '200') burst.reject(new Error(`Cannot quote a figure: a request was answered with ${status}`))
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
  return async (count: Burst): Promise<null> => {
    burst = Promise.withResolvers<void>()
    left = count
    for (const { next } of connections) if (left > 0) next()
    await burst.promise
    return null
  }
}

const requestBytes = ({ key, cellar, batchReadings }: Bursts, index: number): Buffer => {
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
  const head = [
    `POST /api/v1/ingest${isBatch ? '/batch' : ''} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-API-Key: ${key}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

await serveLoad<Bursts, Burst, null>(prepare)

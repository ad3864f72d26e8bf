/** Floods the service: each connection sends the next request as soon as the last one is answered. */
import { AnswerReader, type Answers, inChunks, serveLoad, type Times, untilInstant } from './load-process.ts'

export type Flood = {
  readonly url: string
  readonly path: string
  /** The connections take the keys in turn, and each of them takes other keys in its next requests if there are more. */
  readonly keys: readonly string[]
  /** Base64. */
  readonly body: string
  readonly contentType: string
  readonly isPacked: boolean
  /** True if the body is sent in chunks of one byte. */
  readonly isInChunks: boolean
  readonly hasIdempotencyKey: boolean
  readonly connections: number
}

export type FloodResult = { readonly perSecond: number; readonly answers: Answers }

const reconnectMs = 10

const run = async (flood: Flood, { startMs, endMs }: Times): Promise<FloodResult> => {
  const { hostname, port } = new URL(flood.url)
  const requestsOf = requests(flood, Buffer.from(flood.body, 'base64'))
  const answers: Record<string, number> = {}
  let answered = 0
  const count = (what: string): void => {
    answers[what] = (answers[what] ?? 0) + 1
    answered += 1
  }
  const open = async (index: number): Promise<void> => {
    const requestOf = requestsOf(index)
    let unsent: Buffer = Buffer.alloc(0)
    let hasAnswer = false
    const push = (socket: Bun.Socket<undefined>): void => {
      unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
      // The service can answer before it has read the whole body. The next request must wait until the rest of this
      // body is sent.
      if (unsent.length === 0 && hasAnswer) next(socket)
    }
    const next = (socket: Bun.Socket<undefined>): void => {
      if (Date.now() >= endMs) return
      hasAnswer = false
      unsent = requestOf()
      push(socket)
    }
    let current: Bun.Socket<undefined> | null = null
    const reader = new AnswerReader((status) => {
      count(status)
      hasAnswer = true
      if (unsent.length === 0 && current !== null) next(current)
    })
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => {
          current = socket
          next(socket)
        },
        data: (_, bytes) => reader.take(bytes),
        drain: push,
        close: () => {
          if (!hasAnswer) count('closed')
          if (Date.now() < endMs) setTimeout(() => open(index).catch(() => count('not connected')), reconnectMs)
        },
      },
    })
  }
  await untilInstant(startMs)
  await Promise.all(Array.from({ length: flood.connections }, (_, index) => open(index)))
  await untilInstant(endMs)
  return { perSecond: (answered * 1_000) / (endMs - startMs), answers }
}

/** Returns the requests of each connection, one at each call. */
const requests = (flood: Flood, whole: Buffer): ((connection: number) => () => Buffer) => {
  const { keys, connections, isInChunks, hasIdempotencyKey } = flood
  const heads = keys.map((key) => headOf(flood, key, whole))
  const body = isInChunks ? inChunks(whole) : whole
  const plain = hasIdempotencyKey ? [] : heads.map((head) => Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]))
  return (connection) => {
    const from = crypto.randomUUID()
    let number = 0
    return () => {
      const turn = (connection + number * connections) % keys.length
      number += 1
      if (!hasIdempotencyKey) return plain[turn] ?? body
      return Buffer.concat([Buffer.from(`${heads[turn]}\r\nIdempotency-Key: ${from}-${number}\r\n\r\n`), body])
    }
  }
}

const headOf = ({ path, contentType, isPacked, isInChunks }: Flood, key: string, body: Buffer): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Type: ${contentType}`,
    ...(key === '' ? [] : [`X-API-Key: ${key}`]),
    ...(isPacked ? ['Content-Encoding: gzip'] : []),
    isInChunks ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ].join('\r\n')

await serveLoad<Flood, Times, FloodResult>(async (flood) => (times) => run(flood, times))

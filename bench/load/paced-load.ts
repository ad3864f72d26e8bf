/**
 * Posts at a fixed rate, which `wrk` cannot. Latency counts from the time at which a request was due, even if every
 * connection was busy. Otherwise a slow service would look faster.
 */

import { percentile } from '../figures.ts'
import { readingOf, timestampNow } from '../filled-log.ts'

export type PacedLoad = {
  readonly url: string
  readonly cellar: string
  readonly keys: readonly string[]
  readonly perSecond: number
  readonly connections: number
  readonly seconds: number
}

export type PacedResult = {
  readonly answered: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Processor time of this process. */
  readonly busySeconds: number
}

type Connection = { readonly socket: Bun.Socket<undefined>; dueMs: number }

const run = async (load: PacedLoad): Promise<PacedResult> => {
  const { hostname, port } = new URL(load.url)
  const requests = load.keys.map((key, of) => requestOf(load, key, of))
  const latencies: number[] = []
  const idle: Connection[] = []
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>()
  for (let count = 0; count < load.connections; count += 1) {
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        // The answers are so short that each arrives in one piece, so one piece is one answer.
        data: (_, bytes) => {
          if (!bytes.toString('latin1', 0, 13).startsWith('HTTP/1.1 200')) fail(new Error(bytes.toString()))
          latencies.push(performance.now() - connection.dueMs)
          idle.push(connection)
          send()
        },
        close: () => fail(new Error('the service has closed a connection')),
      },
    })
    const connection: Connection = { socket, dueMs: 0 }
    idle.push(connection)
  }
  const startMs = performance.now()
  const total = Math.floor(load.perSecond * load.seconds)
  let sent = 0
  const send = (): void => {
    for (const now = performance.now(); sent < total; sent += 1) {
      const dueMs = startMs + (sent * 1_000) / load.perSecond
      const connection = dueMs <= now ? idle.pop() : undefined
      if (connection === undefined) break
      connection.dueMs = dueMs
      connection.socket.write(requests[sent % requests.length] ?? '')
    }
    if (latencies.length === total) end()
  }
  const pace = setInterval(send, 1)
  await ended
  clearInterval(pace)
  const used = process.cpuUsage()
  return {
    answered: total,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    maxMs: percentile(latencies, 100),
    busySeconds: (used.user + used.system) / 1e6,
  }
}

const requestOf = ({ cellar }: PacedLoad, key: string, of: number): Buffer => {
  const body = JSON.stringify(readingOf(cellar, of, 0, timestampNow()))
  const head = [
    'POST /api/v1/ingest HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-API-Key: ${key}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

// The API keys come by stdin, because every process can read the arguments of a command.
console.log(JSON.stringify(await run(JSON.parse(await Bun.stdin.text()))))
process.exit(0)

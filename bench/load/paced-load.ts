/**
 * Posts at a fixed rate, which `wrk` cannot. Latency counts from the time at which a request was due, even if every
 * connection was busy. Otherwise a slow service would look faster. Without a rate, each connection posts again when its
 * answer has come: this is the top rate of the service beside this load.
 */

import { percentile } from '../figures.ts'
import { readingOf, timestampNow } from '../filled-log.ts'

export type PacedLoad = {
  readonly url: string
  readonly cellar: string
  readonly keys: readonly string[]
  /** `null`: as fast as the answers come. */
  readonly perSecond: number | null
  readonly connections: number
  /** The first requests are not counted: this process is slow until its code is compiled, and latency counts from the due time. */
  readonly warmUpSeconds: number
  /** After the warm-up. */
  readonly seconds: number
}

export type PacedResult = {
  readonly answered: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** The part of a processor that this process took. */
  readonly cores: number
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
          answered += 1
          if (connection.dueMs >= countedFromMs) latencies.push(performance.now() - connection.dueMs)
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
  const { perSecond } = load
  const countedFromMs = startMs + load.warmUpSeconds * 1_000
  const endMs = countedFromMs + load.seconds * 1_000
  const dueOf = (request: number, now: number): number =>
    perSecond === null ? now : startMs + (request * 1_000) / perSecond
  let sent = 0
  let answered = 0
  const send = (): void => {
    const now = performance.now()
    for (;;) {
      const dueMs = dueOf(sent, now)
      const connection = dueMs <= now && dueMs < endMs ? idle.pop() : undefined
      if (connection === undefined) break
      connection.dueMs = dueMs
      connection.socket.write(requests[sent % requests.length] ?? '')
      sent += 1
    }
    if (answered === sent && dueOf(sent, now) >= endMs) end()
  }
  const pace = setInterval(send, 1)
  await ended
  clearInterval(pace)
  const { user, system } = process.cpuUsage()
  return {
    answered: latencies.length,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    maxMs: percentile(latencies, 100),
    cores: (user + system) / 1e3 / performance.now(),
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

/**
 * Devices post at a fixed rate. Latency counts from the time at which a request was due, even if no connection was
 * free. Otherwise a blocked service would get fewer requests and look faster.
 */
import { percentile } from '../figures.ts'
import { AnswerReader, type Answers, serveLoad, type Times, untilInstant } from './load-process.ts'

export type PacedDevices = {
  readonly url: string
  /** The devices send these requests in turn. */
  readonly requests: readonly { readonly key: string; readonly path: string; readonly body: string }[]
  readonly perSecond: number
  readonly connections: number
  /** Time after the start, in ms. Requests that were due earlier have no latency in the result. */
  readonly latencyFromMs: number
}

export type PacedDevicesResult = {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly answers: Answers
  readonly unanswered: number
  /** How late the timers of this process were. If they were very late, the latencies say little about the service. */
  readonly lateP99Ms: number
  readonly lateMaxMs: number
}

const paceMs = 1
/** After the end of the load, the process still waits this long for missing answers. */
const graceMs = 10_000

type Connection = { socket: Bun.Socket<undefined> | null; dueMs: number }

const run = async (load: PacedDevices, { startMs, endMs }: Times): Promise<PacedDevicesResult> => {
  const { hostname, port } = new URL(load.url)
  const requests = load.requests.map(requestBytes)
  const latencies: number[] = []
  const late: number[] = []
  const answers: Record<string, number> = {}
  const idle: Connection[] = []
  let answered = 0
  const total = Math.floor((load.perSecond * (endMs - startMs)) / 1_000)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()

  const count = (what: string, { dueMs }: Connection): void => {
    answers[what] = (answers[what] ?? 0) + 1
    answered += 1
    if (dueMs >= startMs + load.latencyFromMs) latencies.push(nowMs() - dueMs)
    if (answered === total) end()
  }
  const connect = async (connection: Connection): Promise<void> => {
    const reader = new AnswerReader((status) => {
      count(status, connection)
      idle.push(connection)
      send()
    })
    connection.socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => reader.take(bytes),
        close: () => {
          const at = idle.indexOf(connection)
          if (at >= 0) idle.splice(at, 1)
          else count('closed', connection)
          connect(connection).catch(() => {})
        },
      },
    })
    idle.push(connection)
  }
  const dueOf = (number: number): number => startMs + (number * 1_000) / load.perSecond
  let sent = 0
  const send = (): void => {
    for (const now = nowMs(); sent < total; sent += 1) {
      const dueMs = dueOf(sent)
      if (dueMs > now) break
      const connection = idle.pop()
      if (connection === undefined) break
      connection.dueMs = dueMs
      connection.socket?.write(requests[sent % requests.length] ?? '')
    }
  }
  for (let index = 0; index < load.connections; index += 1) await connect({ socket: null, dueMs: 0 })
  await untilInstant(startMs)
  const stop = callEvenly(send, late)
  await Promise.race([ended, untilInstant(endMs + graceMs)])
  stop()
  // Requests without an answer count with their waiting time so far. Without them, a service that hangs would look fast.
  for (let number = answered; number < total; number += 1) latencies.push(nowMs() - dueOf(number))
  return { ...figuresOf(latencies, late), answers, unanswered: total - answered }
}

/**
 * Calls `send` every `paceMs`, and adds to `late` by how many ms each call was late. Returns a function that stops the
 * calls.
 */
const callEvenly = (send: () => void, late: number[]): (() => void) => {
  let tickMs = nowMs()
  const pace = setInterval(() => {
    const beforeMs = tickMs
    tickMs = nowMs()
    late.push(tickMs - beforeMs - paceMs)
    send()
  }, paceMs)
  return () => clearInterval(pace)
}

const figuresOf = (latencies: readonly number[], late: readonly number[]) => ({
  p50Ms: percentile(latencies, 50),
  p99Ms: percentile(latencies, 99),
  maxMs: percentile(latencies, 100),
  lateP99Ms: percentile(late, 99),
  lateMaxMs: percentile(late, 100),
})

/** Like `Date.now`, but with fractions of a millisecond, because many latencies are shorter than 1 ms. */
const nowMs = (): number => performance.timeOrigin + performance.now()

const requestBytes = ({ key, path, body }: PacedDevices['requests'][number]): Buffer => {
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', `X-API-Key: ${key}`]
  return Buffer.from(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

await serveLoad<PacedDevices, Times, PacedDevicesResult>(async (load) => (times) => run(load, times))

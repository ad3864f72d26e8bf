/** A way to the service that goes wrong as the test says: before the request, after it, or with an answer of its own. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Step =
  /** The service gets the request, and the client gets its answer. */
  | 'pass'
  /** The connection breaks before the service gets the request. */
  | 'lose request'
  /** The service gets the request and answers. Then the connection breaks. */
  | 'lose answer'
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array
    }

export type Arrived = {
  readonly atMs: number
  readonly path: string
  readonly idempotencyKey: string | undefined
  readonly body: string
}

export type UnreliableWay = {
  readonly url: string
  readonly arrived: readonly Arrived[]
  close(): Promise<void>
}

/** Each request takes the next step. After the last one, every request passes. */
export const openWay = async (serviceUrl: string, steps: readonly Step[]): Promise<UnreliableWay> => {
  const arrived: Arrived[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    const step = steps[arrived.length] ?? 'pass'
    const path = request.url ?? ''
    const atMs = performance.now()
    arrived.push({ atMs, path, idempotencyKey: headerOf(request.headers, 'idempotency-key'), body: body.toString() })
    if (step === 'lose request') return void request.socket.destroy()
    if (typeof step === 'object') return void response.writeHead(step.status, step.headers).end(step.body ?? '')
    const answer = await fetch(`${serviceUrl}${path}`, {
      method: request.method ?? '',
      headers: ['x-api-key', 'content-type', 'idempotency-key'].flatMap((name): [string, string][] => {
        const value = headerOf(request.headers, name)
        return value === undefined ? [] : [[name, value]]
      }),
      body,
    })
    const text = await answer.text()
    if (step === 'lose answer') return void request.socket.destroy()
    response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const headerOf = (headers: NodeJS.Dict<string | string[]>, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

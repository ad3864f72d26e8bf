/**
 * Tries to fill the memory that the service has for bodies. Each connection declares a long body, sends its first bytes
 * and then nothing more. A second after the service has closed a connection, the client opens a new one.
 */
import { AnswerReader, type Answers, serveLoad, type Times, untilInstant } from './load-process.ts'

export type StalledBodies = {
  readonly url: string
  readonly key: string
  readonly connections: number
  readonly declaredBytes: number
}

export type StalledBodiesResult = { readonly openAtEnd: number; readonly answers: Answers }

const comeBackMs = 1_000

const run = async (load: StalledBodies, { startMs, endMs }: Times): Promise<StalledBodiesResult> => {
  const { hostname, port } = new URL(load.url)
  const head = [
    'POST /api/v1/ingest/batch HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-API-Key: ${load.key}`,
    `Content-Length: ${load.declaredBytes}`,
  ].join('\r\n')
  const answers: Record<string, number> = {}
  const count = (what: string): void => {
    answers[what] = (answers[what] ?? 0) + 1
  }
  const stalled = new Set<Bun.Socket<undefined>>()
  const open = async (): Promise<void> => {
    let current: Bun.Socket<undefined> | null = null
    let hasAnswer = false
    const reader = new AnswerReader((status) => {
      hasAnswer = true
      count(status)
      current?.end()
    })
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => {
          current = socket
          stalled.add(socket)
          socket.write(`${head}\r\n\r\n{"readings":[`)
        },
        data: (_, bytes) => reader.take(bytes),
        close: (socket) => {
          stalled.delete(socket)
          if (!hasAnswer) count('closed')
          if (Date.now() < endMs) setTimeout(() => open().catch(() => count('not connected')), comeBackMs)
        },
      },
    })
  }
  await untilInstant(startMs)
  await Promise.all(Array.from({ length: load.connections }, open))
  await untilInstant(endMs)
  return { openAtEnd: stalled.size, answers }
}

await serveLoad<StalledBodies, Times, StalledBodiesResult>(async (load) => (times) => run(load, times))

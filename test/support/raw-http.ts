import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Sends bytes as they are over a socket, for requests that no client library would send. */
export type RawAnswer = {
  readonly status: number
  /** The names are in lower case. The values of a repeated header are joined with `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export type RawConnection = {
  /** Never rejects, because a server may close early. `answers` then returns what came before. */
  send(text: string | Uint8Array): Promise<void>
  /** Resolves with `count` answers, or with fewer if the server closes first. */
  answers(count: number): Promise<readonly RawAnswer[]>
  /** All bytes so far as text, for answers that never end, such as live streams. */
  received(): string
  receivedBytes(): number
  readonly closed: Promise<void>
  /** Stops reading, so that the answer waits in the service. */
  pause(): void
  /** Closes only the sending side, so answers can still come. */
  finish(): void
  drop(): void
}

export const rawConnect = async (url: string): Promise<RawConnection> => {
  const socket = await opened(new URL(url))
  let received: Buffer = Buffer.alloc(0)
  let isClosed = false
  let wake = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  // A server may refuse a request and close early. Without this listener, the error would end the test process.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true
      resolve()
      wake()
    })
  })
  return {
    send: (text) => new Promise((resolve) => socket.write(text, () => resolve())),
    answers: async (count) => {
      for (;;) {
        const parsed = parseAnswers(received)
        if (parsed.length >= count || isClosed) return parsed
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    received: () => received.toString(),
    receivedBytes: () => received.length,
    closed,
    pause: () => socket.pause(),
    finish: () => socket.end(),
    drop: () => socket.destroy(),
  }
}

/** Sends one text, reads `count` answers and closes the connection. */
export const rawExchange = async (url: string, text: string | Uint8Array, count = 1): Promise<readonly RawAnswer[]> => {
  const connection = await rawConnect(url)
  await connection.send(text)
  const answers = await connection.answers(count)
  connection.drop()
  return answers
}

/** With TLS, accepts every certificate, because test servers sign their own. */
const opened = ({ protocol, hostname, port }: URL): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const address = { host: hostname, port: Number(port) }
    const isOpen = () => resolve(socket)
    const socket =
      protocol === 'https:' ? connectTls({ ...address, rejectUnauthorized: false }, isOpen) : connect(address, isOpen)
    socket.once('error', reject)
  })

const parseAnswers = (bytes: Buffer): readonly RawAnswer[] => {
  const answers: RawAnswer[] = []
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const headers = new Map<string, string>()
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 1).trim()
      headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value)
    }
    const bodyStart = headEnd + 4
    const bodyEnd = bodyStart + Number(headers.get('content-length') ?? 0)
    if (bytes.length < bodyEnd) break
    answers.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: bytes.toString('utf8', bodyStart, bodyEnd),
    })
    at = bodyEnd
  }
  return answers
}

/** @throws if the server closes first. */
export const onlyAnswer = async (connection: RawConnection): Promise<RawAnswer> => {
  const [answer] = await connection.answers(1)
  if (answer === undefined) throw new Error('closed without an answer')
  return answer
}

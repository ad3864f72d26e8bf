/** Signs in operators through the real forms, and opens live streams in each session. */
import { type Answers, serveLoad, type Times, untilInstant } from './load-process.ts'
import { type OperatorLink, signInAgain, useLink } from './new-operators.ts'

export type LiveViewers = {
  readonly url: string
  /**
   * Each operator has one link, by which the load sets the password. The sessions are shared out among the operators.
   */
  readonly links: readonly OperatorLink[]
  readonly sessions: number
  /** `paths[session]` are the paths of the streams that this session opens. */
  readonly paths: readonly (readonly string[])[]
}

export type LiveViewersResult = {
  readonly openAtEnd: number
  /** How often each status was the answer to the request for a stream. Answers to the forms do not count. */
  readonly answers: Answers
  readonly pushesPerSecond: number
  readonly mebibytesPerSecond: number
}

const prepare = async ({ url, links, sessions, paths }: LiveViewers) => {
  const cookies: string[] = []
  for (const link of links) cookies.push(await useLink(link))
  for (let index = 0; cookies.length < sessions; index += 1) {
    const link = links[index % links.length]
    if (link !== undefined) cookies.push(await signInAgain(url, link))
  }
  return (times: Times): Promise<LiveViewersResult> => watch(url, { cookies, paths }, times)
}

type Watching = { readonly cookies: readonly string[]; readonly paths: LiveViewers['paths'] }

const watch = async (
  url: string,
  { cookies, paths }: Watching,
  { startMs, endMs }: Times,
): Promise<LiveViewersResult> => {
  const { hostname, port } = new URL(url)
  const answers: Record<string, number> = {}
  const count = (what: string): void => {
    answers[what] = (answers[what] ?? 0) + 1
  }
  let open = 0
  let bytesRead = 0
  let pushes = 0
  const sockets: Bun.Socket[] = []
  const view = async (path: string, cookie: string): Promise<void> => {
    let hasAnswer = false
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => {
          open += 1
          socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nCookie: ${cookie}\r\n\r\n`)
        },
        data: (_, bytes) => {
          if (!hasAnswer) count(bytes.toString('latin1', 9, 12))
          hasAnswer = true
          bytesRead += bytes.length
          // A push of server-sent events ends with an empty line.
          if (bytes.includes('\n\n')) pushes += 1
        },
        close: () => {
          open -= 1
          if (Date.now() < endMs) count('closed')
        },
      },
    })
    sockets.push(socket)
  }
  await untilInstant(startMs)
  await Promise.all(cookies.flatMap((cookie, index) => (paths[index] ?? []).map((path) => view(path, cookie))))
  await untilInstant(endMs)
  const seconds = (endMs - startMs) / 1_000
  const openAtEnd = open
  for (const socket of sockets) socket.terminate()
  return {
    openAtEnd,
    answers,
    pushesPerSecond: pushes / seconds,
    mebibytesPerSecond: bytesRead / 1_048_576 / seconds,
  }
}

await serveLoad<LiveViewers, Times, LiveViewersResult>(prepare)

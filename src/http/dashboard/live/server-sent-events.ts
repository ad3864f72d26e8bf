import { retrySoon } from '../../problem.ts'

/** With more bytes waiting for a slow browser, updates are skipped. */
const liveBytesWaitingMax = 256 * 1024
export const liveReconnectMs = 500
/** Also after it found another page of the session polling. */
export const livePollMs = 4_000
export const liveBusyPollMs = 1_000

export type LiveStream = {
  readonly operator: string
  readonly isAllowed: () => boolean
  readonly hasRoom: () => boolean
  readonly isPoll: boolean
  /** False, and nothing is sent, if too many bytes wait or the stream has ended. */
  readonly send: (message: Uint8Array) => boolean
  readonly end: () => void
}

/** `isPoll`: ends after its first message, and the browser asks again after `livePollMs`. */
type Opening = Pick<LiveStream, 'operator' | 'isAllowed' | 'isPoll'> & { readonly signal: AbortSignal }

export const openLiveStream = (
  { signal, operator, isAllowed, isPoll }: Opening,
  onEnd: (stream: LiveStream) => void,
): { readonly body: ReadableStream<Uint8Array>; readonly stream: LiveStream } => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const leave = (): void => {
    controller = null
    signal.removeEventListener('abort', leave)
    onEnd(stream)
  }
  const hasRoom = (): boolean => controller !== null && (controller.desiredSize ?? 0) > 0
  const stream: LiveStream = {
    operator,
    isAllowed,
    hasRoom,
    isPoll,
    send: (message) => {
      if (!hasRoom()) return false
      controller?.enqueue(message)
      if (isPoll) stream.end()
      return true
    },
    end: () => {
      controller?.close()
      leave()
    },
  }
  // The signal is always aborted, but `cancel` is not always called.
  signal.addEventListener('abort', leave)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => {
        controller = started
        started.enqueue(askAgainAfter(isPoll ? livePollMs : liveReconnectMs))
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: liveBytesWaitingMax }),
  )
  return { body, stream }
}

const encoder = new TextEncoder()

/** Without traffic, a proxy or this service would close the connection. */
export const heartbeat = encoder.encode(': still here\n\n')

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/** Each line needs `data:`. Splitting 250 KB would delay all readings by 2 ms, so HTML without line breaks is not split. */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** The page does not connect again by itself (`views/assets/app.js`). */
export const sessionOver = encoder.encode('event: end\ndata:\n\n')

/** Needs an event, because the browser ignores a message without one. */
const askAgainAfter = (ms: number): Uint8Array<ArrayBuffer> => encoder.encode(`event: pace\nretry: ${ms}\ndata:\n\n`)

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** With another status than 200, the page would not read the message, and would try to connect forever. */
export const endOfStream = (): Response => new Response(sessionOver, { headers: eventStreamType })

/** 200, because the page still counts as live. */
export const pollLater = (): Response => new Response(askAgainAfter(liveBusyPollMs), { headers: eventStreamType })

/** At 503, the page connects again, after longer and longer pauses. */
export const askAgain = (): Response => emptyStream(503)

/** At 429, the page shows that there are too many live pages, and connects again later. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

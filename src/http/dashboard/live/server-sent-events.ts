import { retrySoon } from '../../problem.ts'
import { GzipEnd, gzipHead, type Message, shortMessage } from './packed-stream.ts'

/** With more bytes waiting for a slow browser, updates are skipped. */
const liveBytesWaitingMax = 256 * 1024
/** As sent. After a large message, a stream rests for so long that it keeps to this. */
export const liveBytesPerSecondMax = 10 * 1024
export const liveReconnectMs = 500
/** Also after it found another page of the session polling. */
export const livePollMs = 2_000
export const liveBusyPollMs = 500

export type LiveStream = {
  readonly operator: string
  readonly isAllowed: () => boolean
  readonly isPoll: boolean
  readonly isPacked: boolean
  /** False while too many bytes wait, or while the stream rests after a large message. */
  readonly hasRoom: () => boolean
  /** Sends even while the stream rests. False, and nothing is sent, if too many bytes wait or the stream has ended. */
  readonly send: (message: Message) => boolean
  readonly passTime: (ms: number) => void
  readonly end: () => void
}

/** `isPoll`: ends after its first message. The browser asks again after `livePollMs`, or later after a large message. */
type Opening = Pick<LiveStream, 'operator' | 'isAllowed' | 'isPoll' | 'isPacked'> & { readonly signal: AbortSignal }

export const openLiveStream = (
  { signal, operator, isAllowed, isPoll, isPacked }: Opening,
  onEnd: (stream: LiveStream) => void,
): { readonly body: ReadableStream<Uint8Array>; readonly stream: LiveStream } => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  /** Sent beyond what `liveBytesPerSecondMax` has allowed so far. */
  let bytesAhead = 0
  const gzipEnd = isPacked ? new GzipEnd() : null
  const leave = (): void => {
    controller = null
    signal.removeEventListener('abort', leave)
    onEnd(stream)
  }
  const isRead = (): boolean => controller !== null && (controller.desiredSize ?? 0) > 0
  const enqueue = (bytes: Uint8Array, plain: Uint8Array): void => {
    gzipEnd?.note(plain)
    bytesAhead += bytes.length
    controller?.enqueue(bytes)
  }
  const pace = (ms: number): void => {
    const { plain, packed } = shortMessage(askAgainAfter(ms))
    enqueue(isPacked ? packed : plain, plain)
  }
  const stream: LiveStream = {
    operator,
    isAllowed,
    isPoll,
    isPacked,
    // So that no page waits because of a heartbeat.
    hasRoom: () => isRead() && bytesAhead < 1024,
    send: ({ plain, packed }) => {
      const bytes = isPacked ? packed : plain
      if (bytes === null || !isRead()) return false
      enqueue(bytes, plain)
      if (!isPoll) return true
      const restMs = restMsAfter(bytesAhead)
      if (restMs > livePollMs) pace(restMs)
      stream.end()
      return true
    },
    passTime: (ms) => {
      bytesAhead = Math.max(0, bytesAhead - (liveBytesPerSecondMax * ms) / 1_000)
    },
    end: () => {
      if (gzipEnd !== null) controller?.enqueue(gzipEnd.bytes())
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
        if (isPacked) started.enqueue(gzipHead)
        pace(isPoll ? livePollMs : liveReconnectMs)
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: liveBytesWaitingMax }),
  )
  return { body, stream }
}

/** Browsers wait up to 30 % shorter than told (`reconnectJitter` of htmx), so that they do not all come at once. */
const restMsAfter = (bytes: number): number => Math.ceil((bytes * 1_000) / liveBytesPerSecondMax / 0.7)

const encoder = new TextEncoder()

/** Without traffic, a proxy or this service would close the connection. */
export const heartbeat = shortMessage(encoder.encode(': still here\n\n'))

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/** Each line needs `data:`. Splitting 250 KB would delay all readings by 2 ms, so HTML without line breaks is not split. */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** The page does not connect again by itself (`views/assets/app.js`). */
export const sessionOver = shortMessage(encoder.encode('event: end\ndata:\n\n'))

/** Needs an event, because the browser ignores a message without one. */
const askAgainAfter = (ms: number): Uint8Array<ArrayBuffer> => encoder.encode(`event: pace\nretry: ${ms}\ndata:\n\n`)

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** With another status than 200, the page would not read the message, and would try to connect forever. */
export const endOfStream = (): Response => new Response(sessionOver.plain, { headers: eventStreamType })

/** 200, because the page still counts as live. */
export const pollLater = (): Response => new Response(askAgainAfter(liveBusyPollMs), { headers: eventStreamType })

/** At 503, the page connects again, after longer and longer pauses. */
export const askAgain = (): Response => emptyStream(503)

/** At 429, the page shows that there are too many live pages, and connects again later. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

import { liveBytesWaitingMax } from '../../../limits.ts'
import { retrySoon } from '../../problem.ts'

export type LiveStream = {
  readonly isAllowed: () => boolean
  readonly hasRoom: () => boolean
  /** Returns false, and sends nothing, if too many bytes wait for a slow browser, or if the stream has ended. */
  readonly send: (message: Uint8Array) => boolean
  readonly end: () => void
}

/** Calls `onEnd` when the browser or this service has ended the stream. */
export const openLiveStream = (
  { signal, isAllowed }: { readonly signal: AbortSignal; readonly isAllowed: () => boolean },
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
    isAllowed,
    hasRoom,
    send: (message) => {
      if (!hasRoom()) return false
      controller?.enqueue(message)
      return true
    },
    end: () => {
      controller?.close()
      leave()
    },
  }
  // When the browser closes the connection, the signal is always aborted, but `cancel` is not always called. So both call
  // `leave`.
  signal.addEventListener('abort', leave)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => {
        controller = started
        started.enqueue(heartbeat)
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: liveBytesWaitingMax }),
  )
  return { body, stream }
}

const encoder = new TextEncoder()

/** Keeps an idle stream open: without traffic, a proxy or this service would close its connection. */
export const heartbeat = encoder.encode(': still here\n\n')

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/**
 * In server-sent events, each line needs `data:`. HTML without line breaks is not split, because splitting 250 KB would delay
 * all readings by 2 ms.
 */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** After one of these messages, the page does not connect again by itself (`views/assets/app.js`). */
export const endMessages = {
  sessionOver: encoder.encode('event: end\ndata:\n\n'),
  tooManyPages: encoder.encode('event: end\ndata: crowded\n\n'),
} as const

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/**
 * Tells the page that its session is over. The status must be 200. With another status, the page would not read the message,
 * and would try to connect forever.
 */
export const endOfStream = (): Response => new Response(endMessages.sessionOver, { headers: eventStreamType })

/** With status 503, the page connects again, after longer and longer pauses. */
export const askAgain = (): Response => emptyStream(503)

/** With status 429, the page shows that there are too many live pages, and connects again later. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

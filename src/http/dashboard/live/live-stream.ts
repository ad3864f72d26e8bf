import { liveBytesWaitingMax } from '../../../limits.ts'
import { retrySoon } from '../../problem.ts'

/** One open connection of a browser that shows a live page. */
export type LiveStream = {
  /** True if the session is still open and has the same role. */
  readonly isAllowed: () => boolean
  /** False while the browser has not taken enough of the earlier messages. */
  readonly hasRoom: () => boolean
  /** Returns false if the stream has no room or has ended. */
  readonly send: (message: Uint8Array) => boolean
  readonly end: () => void
}

/** One encoded message is shared by all streams of a page. `onEnd` is called once, whichever side ends the stream. */
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
  // When a browser goes away, the signal is always aborted. The stream is not always cancelled.
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

/** A comment. Without heartbeats, this service and proxies close an idle connection. */
export const heartbeat = encoder.encode(': still here\n\n')

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/** Few pages have a line break, and splitting 250 KB takes 2 ms. */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** The last message. After it the page does not open a stream again (`views/assets/app.js`). */
export const endMessages = {
  sessionOver: encoder.encode('event: end\ndata:\n\n'),
  /** The session has opened newer pages. */
  tooManyPages: encoder.encode('event: end\ndata: crowded\n\n'),
} as const

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** Tells the page to stop asking. With another status than 200, the page would not read the body and would ask forever. */
export const endOfStream = (): Response => new Response(endMessages.sessionOver, { headers: eventStreamType })

/** The page asks again, less and less often. */
export const askAgain = (): Response => emptyStream(503)

/** The same, and the status tells the page what to say. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

import { liveBytesWaitingMax } from '../../../limits.ts'
import { retrySoon } from '../../problem.ts'

export type LiveStream = {
  readonly isAllowed: () => boolean
  readonly hasRoom: () => boolean
  /** False if it has no room, or has ended. */
  readonly send: (message: Uint8Array) => boolean
  readonly end: () => void
}

/** `onEnd` is called once, whichever side ends the stream. */
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
  // A browser that goes away aborts the signal, but does not always cancel the stream.
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

/** Otherwise proxies and this service close an idle connection. */
export const heartbeat = encoder.encode(': still here\n\n')

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/** Splitting 250 KB takes 2 ms, and few pages have a line break. */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** Then the page opens no stream again (`views/assets/app.js`). */
export const endMessages = {
  sessionOver: encoder.encode('event: end\ndata:\n\n'),
  tooManyPages: encoder.encode('event: end\ndata: crowded\n\n'),
} as const

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** With another status than 200, the page would not read the body, and would ask forever. */
export const endOfStream = (): Response => new Response(endMessages.sessionOver, { headers: eventStreamType })

/** The page asks again, less often each time. */
export const askAgain = (): Response => emptyStream(503)

/** The page tells the reader, and asks again. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

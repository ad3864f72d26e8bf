import { liveBytesWaitingMax } from '../../../limits.ts'

/** One browser that watches a page. */
export type Watcher = {
  readonly isAllowed: () => boolean
  /** Whether the browser has taken enough of the earlier pushes. */
  readonly hasRoom: () => boolean
  /** False if it has no room, or is gone. */
  readonly send: (bytes: Uint8Array) => boolean
  readonly end: () => void
}

const encoder = new TextEncoder()

/** A comment. Without it, idle connections are closed by this service and by proxies. */
export const heartbeat = encoder.encode(': still here\n\n')

export const serverSentEvent = (html: string): Uint8Array => encoder.encode(`data: ${dataLines(html)}\n\n`)

/** Nearly no page has a line break, and splitting one of 250 KB takes 2 ms. */
const dataLines = (html: string): string =>
  html.includes('\n') || html.includes('\r') ? html.split(/\r\n|\r|\n/).join('\ndata: ') : html

/** Why a page stops asking: its session is over, or has opened newer pages (`app.js` reads the word). */
export const endings = {
  over: encoder.encode('event: end\ndata:\n\n'),
  crowded: encoder.encode('event: end\ndata: crowded\n\n'),
} as const

/** Encoded text is shared by all watchers of a page. `onEnd` is called once, whoever ends the stream. */
export const eventStream = (
  { signal, isAllowed }: { readonly signal: AbortSignal; readonly isAllowed: () => boolean },
  onEnd: (watcher: Watcher) => void,
): { readonly body: ReadableStream<Uint8Array>; readonly watcher: Watcher } => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const leave = (): void => {
    controller = null
    signal.removeEventListener('abort', leave)
    onEnd(watcher)
  }
  const hasRoom = (): boolean => controller !== null && (controller.desiredSize ?? 0) > 0
  const watcher: Watcher = {
    isAllowed,
    hasRoom,
    send: (bytes) => {
      if (!hasRoom()) return false
      controller?.enqueue(bytes)
      return true
    },
    end: () => {
      controller?.close()
      leave()
    },
  }
  // A browser that goes away shows in the signal; that the stream is cancelled as well is not to be relied on.
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
  return { body, watcher }
}

import { retrySoon } from '../../problem.ts'
import { endings } from './live-stream.ts'

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** Tells a live page to stop asking. Of another status it would not read the body, and would ask again for ever. */
export const endOfStream = (): Response => new Response(endings.over, { headers: eventStreamType })

/** For what may be otherwise in a moment. Without a message: the page goes on asking, less and less often. */
export const askAgain = (): Response => emptyStream(503)

/** The status tells the page what to say; it goes on asking, too. */
export const tooManyStreams = (): Response => emptyStream(429)

const emptyStream = (status: number): Response =>
  new Response(null, { status, headers: { ...eventStreamType, ...retrySoon } })

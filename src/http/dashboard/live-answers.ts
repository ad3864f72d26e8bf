import { unavailableRetryAfterSeconds } from '../../limits.ts'

export const eventStreamType = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' }

/** Tells a live page to stop asking. Of another status it would not read the body, and would ask again for ever. */
export const endOfStream = (): Response => new Response('event: end\ndata:\n\n', { headers: eventStreamType })

/** For what may be otherwise in a moment. Without a message: the page goes on asking, less and less often. */
export const askAgain = (): Response =>
  new Response(null, {
    status: 503,
    headers: { ...eventStreamType, 'Retry-After': String(unavailableRetryAfterSeconds) },
  })

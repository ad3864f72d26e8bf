import { bodyReservedBytesMin } from './http-bounds.ts'
import { nextTurn } from './own-turns.ts'
import type { BodyHolder, UnfinishedBodies, UnfinishedBody } from './unfinished-bodies.ts'

/** Reading a body in one piece takes 0.1 ms less than a stream. A usual batch of 1,000 readings has 105 KB. */
export const bodyInOnePieceBytesMax = 128 * 1024

/** `overloaded`: no memory is left for unfinished bodies of this client, or of all clients of its kind. */
export type BodyFault = 'too_large' | 'overloaded' | 'too_slow' | 'client_gone'

type BodyBound = BodyHolder & { readonly bytesMax: number }

/**
 * Every route must use this, because the server itself does not bound bodies (`server-options.ts`). Unpacking, parsing and
 * checking a large or gzip body takes up to 20 ms, so it gets its own turn of the event loop. The account of memory is in
 * docs/decisions/020-unfinished-bodies-reserve-memory.md.
 */
export const readBody = (
  bodies: UnfinishedBodies,
  request: Request,
  bound: BodyBound & { readonly isPacked?: boolean },
): Promise<Uint8Array | BodyFault> => {
  const { bytesMax, isPacked = false } = bound
  const declared = request.headers.get('content-length')
  if (declared === null && request.body === null) return empty
  const bytes = declared === null ? bytesMax : Number(declared)
  if (bytes > bytesMax) return tooLarge
  if (declared !== null && bytes <= bodyReservedBytesMin && !isPacked) {
    return settled(bodies, bodies.beginUnreserved(request, bytes), request.bytes())
  }
  const body = bodies.begin(request, bound, bytes)
  if (body === null) return overloaded
  // Only a stream shows how many bytes have arrived, which finds slow bodies.
  if (declared === null || bytes > bodyInOnePieceBytesMax) {
    return settled(bodies, body, inItsTurn(bodies, counted(body, bytesMax)))
  }
  body.receivedBytes = bytes
  const read = request.bytes()
  return settled(bodies, body, isPacked ? inItsTurn(bodies, read) : read)
}

/**
 * For a client that may be waiting for a `100 Continue` that Bun does not send. `not_begun`: no byte came within
 * `continueWaitMs`. Only a stream shows the first byte.
 */
export const readAwaitedBody = async (
  bodies: UnfinishedBodies,
  request: Request,
  bound: BodyBound,
): Promise<Uint8Array | BodyFault | 'not_begun'> => {
  const { bytesMax } = bound
  const bytes = Number(request.headers.get('content-length') ?? bytesMax)
  if (bytes > bytesMax) return tooLarge
  const body = bodies.begin(request, bound, bytes)
  if (body === null) return overloaded
  body.mustBegin = true
  const read = await settled(bodies, body, inItsTurn(bodies, counted(body, bytesMax)))
  return read === 'too_slow' && body.receivedBytes === 0 ? 'not_begun' : read
}

/** The memory stays reserved until the turn comes, so the number of waiting bodies is bounded, too. */
const inItsTurn = async <T>(bodies: UnfinishedBodies, reading: Promise<T>): Promise<T> => {
  const read = await reading
  await bodies.nextTurn()
  return read
}

const noBytes = new Uint8Array()
const empty = Promise.resolve(noBytes)
const tooLarge = Promise.resolve('too_large' as const)
const overloaded = Promise.resolve('overloaded' as const)

const settled = (
  bodies: UnfinishedBodies,
  body: UnfinishedBody,
  reading: Promise<Uint8Array | BodyFault>,
): Promise<Uint8Array | BodyFault> =>
  new Promise((resolve, reject) => {
    body.onTooSlow = resolve
    reading.then(
      (read) => {
        bodies.end(body)
        resolve(read)
      },
      (thrown: unknown) => {
        bodies.end(body)
        if (isClientGone(thrown)) resolve('client_gone')
        else reject(thrown)
      },
    )
  })

const isClientGone = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === 'AbortError'

const counted = async (body: UnfinishedBody, bytesMax: number): Promise<Uint8Array | 'too_large'> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body.request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return 'too_large'
    body.receivedBytes = bytes
    chunks.push(chunk)
    // In this turn, Bun joins all that arrives into the next chunk. A body in chunks of one byte would hold the event loop
    // twenty times as long.
    await nextTurn()
  }
  const [first = noBytes] = chunks
  return chunks.length > 1 ? Buffer.concat(chunks, bytes) : first
}

import { bodyInOnePieceBytesMax, bodyReservedBytesMin } from '../limits.ts'
import type { BodyHolder, BodyInFlight, UnfinishedBodies } from './unfinished-bodies.ts'

/**
 * Over the route's bound; no room beside other unfinished bodies; given up because it came too slowly; or the client went
 * away. In the last case nobody waits for an answer.
 */
export type BodyFault = 'too_large' | 'overloaded' | 'too_slow' | 'client_gone'

/**
 * The whole body, or why not. A declared length over the bound, or one that has no room beside other unfinished bodies, is
 * refused before a byte is read. A body without a declared length is counted while it streams, and cut off at the bound.
 * The server itself sets no bound (see `server-options.ts`): every route that reads a body reads it here.
 *
 * A short body takes no more memory than its connection, which is the proxy's to bound, and reserves nothing: to keep an
 * account of it would cost every reading a twentieth of its processor time. Bun's idle timer cuts it off after 30 s.
 *
 * A large body, or a packed one that may be large, waits for a turn of the event loop of its own. To judge one takes up to
 * 10 ms, and without that wait a few which come together hold up every other request for their sum.
 */
export const readBody = (
  bodies: UnfinishedBodies,
  request: Request,
  bound: BodyHolder & { readonly bytesMax: number; readonly isPacked?: boolean },
): Promise<Uint8Array | BodyFault> => {
  const { bytesMax, isPacked = false } = bound
  const declared = request.headers.get('content-length')
  if (declared === null && request.body === null) return empty
  const bytes = declared === null ? bytesMax : Number(declared)
  if (bytes > bytesMax) return tooLarge
  if (declared !== null && bytes <= bodyReservedBytesMin && !isPacked) return request.bytes().catch(clientGone)
  const body = bodies.begin(request, bound, bytes)
  if (body === null) return overloaded
  // A stream costs 0.1 ms more than `bytes()`, but only a stream tells how much has come.
  if (declared === null || bytes > bodyInOnePieceBytesMax) {
    return settled(bodies, body, inItsTurn(bodies, counted(body, bytesMax)))
  }
  body.receivedBytes = bytes
  const read = request.bytes()
  return settled(bodies, body, isPacked && bytesMax > bodyInOnePieceBytesMax ? inItsTurn(bodies, read) : read)
}

/** The body keeps its reservation until then, so that those which wait are bounded too. */
const inItsTurn = async <T>(bodies: UnfinishedBodies, reading: Promise<T>): Promise<T> => {
  const read = await reading
  await bodies.nextTurn()
  return read
}

const noBytes = new Uint8Array()
const empty = Promise.resolve(noBytes)
const tooLarge = Promise.resolve('too_large' as const)
const overloaded = Promise.resolve('overloaded' as const)

/** However the reading ends, the reservation ends first. */
const settled = (
  bodies: UnfinishedBodies,
  body: BodyInFlight,
  reading: Promise<Uint8Array | BodyFault>,
): Promise<Uint8Array | BodyFault> =>
  new Promise((resolve, reject) => {
    body.onTooSlow = () => resolve('too_slow')
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

const clientGone = (thrown: unknown): 'client_gone' => {
  if (isClientGone(thrown)) return 'client_gone'
  throw thrown
}

const isClientGone = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === 'AbortError'

const counted = async (body: BodyInFlight, bytesMax: number): Promise<Uint8Array | 'too_large'> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body.request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return 'too_large'
    body.receivedBytes = bytes
    chunks.push(chunk)
  }
  const [first = noBytes] = chunks
  return chunks.length > 1 ? Buffer.concat(chunks, bytes) : first
}

/** Over the bound; or the client went away, and nobody waits for an answer. */
export type BodyFault = 'too_large' | 'client_gone'

/**
 * The whole body, or why not. What declares its length is refused before a byte is read; what does not is counted while it
 * streams, and cut off at the bound. The server itself sets no bound (see `server-options.ts`): every route that reads a
 * body reads it here. No `async` on the way that every reading takes.
 */
export const readBody = (request: Request, bytesMax: number): Promise<Uint8Array | BodyFault> => {
  const declared = request.headers.get('content-length')
  if (declared === null) return counted(request.body, bytesMax).catch(clientGone)
  return Number(declared) > bytesMax ? tooLarge : request.bytes().catch(clientGone)
}

const tooLarge = Promise.resolve('too_large' as const)

const clientGone = (thrown: unknown): 'client_gone' => {
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return 'client_gone'
  throw thrown
}

const counted = async (
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array | 'too_large'> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return 'too_large'
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

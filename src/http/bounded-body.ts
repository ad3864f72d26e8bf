/** Over the bound; or the client went away, and nobody waits for an answer. */
export type BodyFault = 'too_large' | 'client_gone'

/**
 * The whole body, or why not. What declares its length is refused before a byte is read; what does not is counted while it
 * streams, and cut off at the bound. The server itself sets no bound (see `server-options.ts`): every route that reads a
 * body reads it here.
 */
export const readBody = async (request: Request, bytesMax: number): Promise<Uint8Array | BodyFault> => {
  try {
    const declared = request.headers.get('content-length')
    if (declared === null) return request.body === null ? new Uint8Array(0) : await counted(request.body, bytesMax)
    return Number(declared) > bytesMax ? 'too_large' : await request.bytes()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'client_gone'
    throw error
  }
}

const counted = async (body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array | 'too_large'> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return 'too_large'
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

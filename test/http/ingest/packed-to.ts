import { gzipSync } from 'node:zlib'

/** Packs a text to exactly this number of bytes: a comment in the head of the gzip data fills the rest. */
export const packedTo = (bytes: number, text: string): Uint8Array<ArrayBuffer> => {
  const packed = gzipSync(text)
  const head = packed.subarray(0, 10)
  head[3] = hasComment
  const comment = Buffer.alloc(bytes - packed.length, 'c')
  comment[comment.length - 1] = 0
  return new Uint8Array(Buffer.concat([head, comment, packed.subarray(10)]))
}

/** A flag of gzip (RFC 1952, section 2.3.1). */
const hasComment = 16

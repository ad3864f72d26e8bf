import { gunzipSync } from 'node:zlib'
import { gunzipChunkBytes } from '../../limits.ts'

/**
 * What was packed, or why not: it has more than `bytesMax`, and was unpacked no further; or it is not gzip from its first
 * byte to its last, checksum and length included. Several members one behind the other are one body (RFC 1952, section 2.2).
 */
export const gunzip = (body: Uint8Array, bytesMax: number): Uint8Array | 'too_large' | 'not_gzip' => {
  try {
    return gunzipSync(body, { maxOutputLength: bytesMax, chunkSize: Math.min(bytesMax, gunzipChunkBytes) })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null
    if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large'
    if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR') return 'not_gzip'
    throw thrown
  }
}

import { gunzipSync } from 'node:zlib'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import type { BodyFault } from '../read-body.ts'

/** With Node's default of 16 KiB, a batch takes twice as long. */
const gunzipChunkBytes = 128 * 1024

export type IngestBody = Uint8Array | BodyFault | 'not_gzip'

const json = 'application/json'

/** Ignores `charset=latin1` and the like, because JSON is always UTF-8 (RFC 8259, section 8.1). */
export const contentTypeRefusal = (headers: Headers): ReadingRefusal | null => {
  const type = headers.get('content-type')
  if (type === json || isJson(type ?? '')) return null
  return { kind: 'unsupported_media_type', what: 'content_type' }
}

const isJson = (type: string): boolean => {
  const semicolon = type.indexOf(';')
  const essence = semicolon < 0 ? type : type.slice(0, semicolon)
  return essence.trim().toLowerCase() === json
}

/** `x-gzip` is an old name of gzip (RFC 9110, section 8.4.1.3). */
export const contentEncoding = (headers: Headers): 'plain' | 'gzip' | 'unknown' => {
  const encoding = headers.get('content-encoding')
  if (encoding === null) return 'plain'
  switch (encoding.toLowerCase()) {
    case '':
    case 'identity':
      return 'plain'
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    default:
      return 'unknown'
  }
}

/** The body can be several gzip files in a row (RFC 1952, section 2.2). */
export const gunzip = (packed: Uint8Array, bytesMax: number): Uint8Array | 'too_large' | 'not_gzip' => {
  try {
    return gunzipSync(packed, { maxOutputLength: bytesMax, chunkSize: Math.min(bytesMax, gunzipChunkBytes) })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null
    if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large'
    if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR') return 'not_gzip'
    throw thrown
  }
}

/**
 * What a faulty body takes from the key's cost budget. If unpacking failed, or the body was read up to `bytesMax`, its size
 * is not known, and the largest possible one is taken.
 */
export const failedBodyBytes = (sent: Uint8Array | BodyFault, headers: Headers, bytesMax: number): number => {
  if (typeof sent !== 'string') return Math.min(bytesMax, sent.byteLength * deflateRatioMax)
  return sent === 'too_large' && !headers.has('content-length') ? bytesMax : 0
}

/** Deflate packs at most 258 bytes into 2 bits. */
const deflateRatioMax = 1_032

/** A missing or too small `Content-Length` makes a body empty or ends it too early. */
export const lengthFault = (refusal: ReadingRefusal, headers: Headers): ReadingRefusal => {
  if (refusal.kind !== 'malformed_json') return refusal
  const declared = headers.get('content-length')
  switch (refusal.fault) {
    case 'empty':
      return declared === null && !headers.has('transfer-encoding') ? noLength : refusal
    case 'ends_early':
      // In a gzip body, the byte at which the JSON ends counts unpacked bytes. It cannot be compared with `Content-Length`.
      return contentEncoding(headers) === 'plain' && declared !== null
        ? { ...refusal, isLengthDeclared: true }
        : refusal
    default:
      return refusal
  }
}

/** A body with a too large `Content-Length` never ends, which the service cannot tell from a slow one. */
export const tooSlow = (headers: Headers): ReadingRefusal => {
  const declared = headers.get('content-length')
  return { kind: 'request_timeout', declaredBytes: declared === null ? null : Number(declared) }
}

const noLength: ReadingRefusal = { kind: 'malformed_json', fault: 'no_length' }

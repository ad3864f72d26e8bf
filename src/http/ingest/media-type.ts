import type { ReadingRefusal } from '../../domain/refusal.ts'

const json = 'application/json'

/** Parameters of the type are ignored: JSON is UTF-8 whatever they claim (RFC 8259, section 8.1), and that is checked. */
export const mediaTypeRefusal = (headers: Headers): ReadingRefusal | null => {
  const type = headers.get('content-type')
  if (type === json || isJson(type ?? '')) return null
  return { kind: 'unsupported_media_type', what: 'content_type' }
}

const isJson = (type: string): boolean => {
  const semicolon = type.indexOf(';')
  const essence = semicolon < 0 ? type : type.slice(0, semicolon)
  return essence.trim().toLowerCase() === json
}

/** How the body is packed; `unknown` in any way but gzip, or in several. `x-gzip` is an old name of it (RFC 9110, section 8.4.1.3). */
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

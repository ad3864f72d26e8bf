import type { ReadingRefusal } from '../../domain/refusal.ts'

const json = 'application/json'

/** Parameters of the type are ignored: JSON is UTF-8 whatever they claim (RFC 8259, section 8.1), and that is checked. */
export const mediaTypeRefusal = (headers: Headers): ReadingRefusal | null => {
  const type = headers.get('content-type')
  if (type !== json && !isJson(type ?? '')) return { kind: 'unsupported_media_type', what: 'content_type' }
  const encoding = headers.get('content-encoding')
  if (encoding === null || encoding === '' || encoding.toLowerCase() === 'identity') return null
  return { kind: 'unsupported_media_type', what: 'content_encoding' }
}

const isJson = (type: string): boolean => {
  const semicolon = type.indexOf(';')
  const essence = semicolon < 0 ? type : type.slice(0, semicolon)
  return essence.trim().toLowerCase() === json
}

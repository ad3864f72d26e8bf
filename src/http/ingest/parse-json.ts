import { done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The body as JSON. A byte order mark is allowed (RFC 8259, section 8.1); of a name given twice the last one counts. */
export const parseJson = (body: Uint8Array): Outcome<unknown, ReadingRefusal> => {
  if (body.byteLength === 0) return malformed('empty')
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return malformed('not_utf8')
  }
  try {
    return done(JSON.parse(text))
  } catch {
    return malformed(isBlank(text) ? 'empty' : hasBareNaN(text) ? 'bare_nan' : 'not_json')
  }
}

const malformed = (fault: 'empty' | 'not_utf8' | 'not_json' | 'bare_nan') =>
  refused<ReadingRefusal>({ kind: 'malformed_json', fault })

const isBlank = (text: string): boolean => text.trim() === ''

/**
 * Whether `NaN` or `Infinity` stands outside a string, as Python's standard library prints them. One pass by hand: a regular
 * expression for strings takes quadratic time on a body of nothing but opening quotes.
 */
const hasBareNaN = (text: string): boolean => {
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') inString = !inString
    else if (inString && char === '\\') at += 1
    else if (!inString && (text.startsWith('NaN', at) || text.startsWith('Infinity', at))) return true
  }
  return false
}

import { done, type Outcome, type ReadingRefusal, refused } from '../../../domain/refusal.ts'
import { batchReadingsMax, batchStructuralCharsMax, readingStructuralCharsMax } from '../../../limits.ts'
import type { IngestWork } from '../api-call.ts'
import { limitStructure } from './json-structure.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the body. Before that, `limitStructure` overwrites texts in `body` that no reading uses, so that `JSON.parse` stays
 * fast. A byte order mark is allowed (RFC 8259, section 8.1).
 */
export const parseJson = (
  body: Uint8Array,
  what: 'reading' | 'batch',
  work: IngestWork,
): Outcome<unknown, ReadingRefusal> => {
  if (body.byteLength === 0) return malformed('empty')
  const structure = limitStructure(body, structuralCharsMax[what])
  if (typeof structure === 'string') return refusals[what][structure]
  work.bytesLookedAt += structure
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return malformed('not_utf8')
  }
  work.bodiesParsed += 1
  try {
    return done(JSON.parse(text))
  } catch {
    return malformed(isBlank(text) ? 'empty' : hasBareNaN(body) ? 'bare_nan' : 'not_json')
  }
}

const structuralCharsMax = { reading: readingStructuralCharsMax, batch: batchStructuralCharsMax } as const

const tooDeep = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'nesting' })
const tooMuch = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'structure' })
const tooLarge = (bound: 'batch' | 'structure') =>
  refused<ReadingRefusal>({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound })

const refusals = {
  reading: { too_deep: tooDeep, too_many: tooMuch, too_many_names: tooMuch },
  // A batch with too many names of cellars, racks and kegs has more than 1,000 readings. So the refusal says that there are too
  // many readings.
  batch: { too_deep: tooDeep, too_many: tooLarge('structure'), too_many_names: tooLarge('batch') },
} as const

const malformed = (fault: 'empty' | 'not_utf8' | 'not_json' | 'bare_nan') =>
  refused<ReadingRefusal>({ kind: 'malformed_json', fault })

const isBlank = (text: string): boolean => text.trim() === ''

/**
 * True if the body has `NaN` or `Infinity` outside strings. Python's standard library writes them, but they are not JSON. So
 * this fault has a text of its own in the refusal.
 */
const hasBareNaN = (body: Uint8Array): boolean => {
  let inString = false
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]
    if (byte === quote) inString = !inString
    else if (inString && byte === backslash) at += 1
    else if (!inString && (byte === letterN || byte === letterI) && isBareNaN(body, at)) return true
  }
  return false
}

const [quote, backslash, letterN, letterI] = [0x22, 0x5c, 0x4e, 0x49]
const nan = Buffer.from('NaN')
const infinity = Buffer.from('Infinity')

/** Compares in a plain loop. For a body of a million letters N, a million calls of a library function would take too long. */
const isBareNaN = (body: Uint8Array, from: number): boolean => {
  const word = body[from] === letterN ? nan : infinity
  for (let at = 1; at < word.length; at += 1) if (body[from + at] !== word[at]) return false
  return true
}

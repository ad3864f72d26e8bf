import {
  type BodyPlace,
  done,
  type MalformedJson,
  type Outcome,
  type ReadingRefusal,
  refused,
} from '../../../domain/refusal.ts'
import { batchReadingsMax } from '../../../limits.ts'
import { batchStructuralCharsMax, readingStructuralCharsMax } from '../../http-bounds.ts'
import type { IngestWork } from '../api-call.ts'
import { findFault } from './find-fault.ts'
import { limitStructure } from './json-structure.ts'
import { utf8FaultAt } from './utf8-fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * `limitStructure` overwrites texts in `body` that no reading uses. A byte order mark is allowed (RFC 8259, section 8.1).
 */
export const parseJson = (
  body: Uint8Array,
  what: 'reading' | 'batch',
  work: IngestWork,
): Outcome<unknown, ReadingRefusal> => {
  if (body.byteLength === 0) return malformed({ fault: 'empty' })
  const structure = limitStructure(body, structuralCharsMax[what])
  if (typeof structure === 'string') return refusals[what][structure]
  work.bytesLookedAt += structure
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return malformed({ fault: 'not_utf8', place: utf8Place(body, what) })
  }
  work.bodiesParsed += 1
  try {
    return done(JSON.parse(text))
  } catch {
    return malformed(isBlank(text) ? { fault: 'empty' } : jsonFault(body, what))
  }
}

const structuralCharsMax = { reading: readingStructuralCharsMax, batch: batchStructuralCharsMax } as const

const tooDeep = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'nesting' })
const tooMuch = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'structure' })
const tooLarge = (bound: 'batch' | 'structure') =>
  refused<ReadingRefusal>({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound })

const refusals = {
  reading: { too_deep: tooDeep, too_many: tooMuch, too_many_names: tooMuch },
  // A batch with too many names of cellars, racks and kegs has more than 1,000 readings.
  batch: { too_deep: tooDeep, too_many: tooLarge('structure'), too_many_names: tooLarge('batch') },
} as const

type Fault = DistributiveOmit<MalformedJson, 'kind'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

const malformed = (fault: Fault) => refused<ReadingRefusal>({ kind: 'malformed_json', ...fault })

const isBlank = (text: string): boolean => text.trim() === ''

const jsonFault = (body: Uint8Array, what: 'reading' | 'batch'): Fault => {
  const found = findFault(body)
  if (found === null) throw new Error('Cannot find the fault of a body that JSON.parse refused')
  const place = { byte: found.byte, item: what === 'batch' ? found.item : null }
  return found.fault === 'ends_early'
    ? { fault: found.fault, inside: found.inside, place, isLengthDeclared: false }
    : { fault: found.fault, place }
}

const utf8Place = (body: Uint8Array, what: 'reading' | 'batch'): BodyPlace => {
  const byte = utf8FaultAt(body)
  return { byte, item: what === 'batch' ? (findFault(body.subarray(0, byte))?.item ?? null) : null }
}

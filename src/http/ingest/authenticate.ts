import type { KeyQueries } from '../../../projections/queries.ts'
import type { KeyState } from '../../domain/key.ts'
import { parseKey, secretMatches } from '../../domain/key-format.ts'
import { refusalOfKey } from '../../domain/reading/admission.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { hasTwoHosts } from '../host-header.ts'

/** `key` is known whenever the secret was right, so that its admin can be told why it is refused. */
export type Authentication =
  | { readonly key: KeyState; readonly refusal: ReadingRefusal | null }
  | { readonly key: null; readonly refusal: ReadingRefusal }

const missing: Authentication = { key: null, refusal: { kind: 'key_missing' } }
const ambiguous: Authentication = { key: null, refusal: { kind: 'ambiguous_host' } }
const unknown: Authentication = { key: null, refusal: { kind: 'key_invalid', why: 'unknown' } }

/**
 * Finds the key that a request carries and judges it at `now` (ms). The header sent twice reaches us as one text with a
 * comma in it, which no key has. Expired or not is told only to who holds the secret.
 */
export const authenticate = (keys: KeyQueries, headers: Headers, now: number): Authentication => {
  if (hasTwoHosts(headers)) return ambiguous
  const text = headers.get('x-api-key')
  if (text === null || text === '') return missing
  const parsed = parseKey(text)
  if (parsed === null) return unknown
  const key = keys.get(parsed.keyId)
  if (key === null || !secretMatches(parsed, key.secretHash)) return unknown
  return { key, refusal: refusalOfKey(key, false, now) }
}

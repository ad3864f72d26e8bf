import type { KeyQueries } from '../../../projections/queries.ts'
import type { KeyState } from '../../domain/key.ts'
import { parseKey, secretMatches } from '../../domain/key-format.ts'
import { refusalOfKey } from '../../domain/key-refusal.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { hasTwoHosts } from '../host-header.ts'

/** `key` is set if the secret is right, even if the key is refused. Then the key's page shows the refusal. */
type Authentication =
  | { readonly key: KeyState; readonly refusal: ReadingRefusal | null }
  | { readonly key: null; readonly refusal: ReadingRefusal }

const missing: Authentication = { key: null, refusal: { kind: 'key_missing' } }
const ambiguous: Authentication = { key: null, refusal: { kind: 'ambiguous_host' } }
const unknown: Authentication = { key: null, refusal: { kind: 'key_invalid', why: 'unknown' } }

/**
 * Two `X-API-Key` headers arrive as one text with a comma, which is never a valid key. The secret is compared before the
 * expiry, so only a client with the right secret learns that a key has expired.
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

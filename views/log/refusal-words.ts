import type { ReadingRefusal } from '../../src/domain/refusal.ts'

/** As `src/http/problem.ts` makes them. */
type RefusalCode =
  | Uppercase<Exclude<ReadingRefusal['kind'], 'key_invalid'>>
  | 'KEY_UNKNOWN'
  | 'KEY_REVOKED'
  | 'KEY_SUSPENDED'

/** For people. The texts for devices are in `src/http/problem.ts`. */
export const refusalWords = (code: string): string => words.get(code) ?? code

const wordsOfCodes: Readonly<Record<RefusalCode, string>> = {
  KEY_MISSING: 'no API key',
  KEY_UNKNOWN: 'unknown API key',
  KEY_REVOKED: 'the key is revoked',
  KEY_SUSPENDED: 'the key is suspended',
  KEY_EXPIRED: 'the key has expired',
  RATE_LIMITED: 'over the limit',
  UNSUPPORTED_MEDIA_TYPE: 'wrong Content-Type or Content-Encoding',
  PAYLOAD_TOO_LARGE: 'the body is too large',
  INVALID_BODY: 'the body is no reading',
  BATCH_EMPTY: 'the batch is empty',
  BATCH_TOO_LARGE: 'the batch is too large',
  BATCH_REJECTED: 'no reading of the batch is valid',
  MALFORMED_JSON: 'the body is not valid JSON',
  MISSING_FIELD: 'a field is missing',
  INVALID_TYPE: 'a field has the wrong type',
  INVALID_NAME: 'a name is invalid',
  INVALID_VALUE: 'the value is not a finite number',
  INVALID_TIMESTAMP: 'the timestamp is invalid',
  TIMESTAMP_TOO_OLD: 'the timestamp is too old',
  TIMESTAMP_IN_FUTURE: 'the timestamp is in the future',
  CELLAR_MISMATCH: 'the key belongs to another cellar',
  INVALID_IDEMPOTENCY_KEY: 'the idempotency key is invalid',
  IDEMPOTENCY_IN_PROGRESS: 'a request with the same idempotency key is still running',
  IDEMPOTENCY_KEY_REUSED: 'the idempotency key belongs to another payload',
  AMBIGUOUS_HOST: 'two Host headers',
  NOT_FOUND: 'wrong path',
  METHOD_NOT_ALLOWED: 'wrong method',
  STORE_UNAVAILABLE: 'the store was unavailable',
  STORAGE_FULL: 'the disk was full',
  OVERLOADED: 'the service was overloaded',
  EXPECTATION_FAILED: 'wrong Expect header',
  REQUEST_TIMEOUT: 'the body came too slowly',
  INTERNAL_ERROR: 'the service failed',
}

const words: ReadonlyMap<string, string> = new Map(Object.entries(wordsOfCodes))

import type { Limit, Role } from './events.ts'
import type { NameField, ReadingField } from './reading/fields.ts'

/**
 * Contains no text of the request, so answers and log lines cannot repeat a secret. `http/problem.ts` has texts and
 * statuses.
 */
export type ReadingRefusal =
  | { readonly kind: 'key_missing' }
  /** The answer is the same for each `why`, so it does not show whether a key exists. */
  | { readonly kind: 'key_invalid'; readonly why: 'unknown' | 'revoked' | 'suspended' }
  | { readonly kind: 'key_expired' }
  | { readonly kind: 'rate_limited'; readonly limit: Limit; readonly retryAfterMs: number; readonly window: 'readings' }
  /** The key sent too many requests that store nothing. `allowed` is per second. */
  | {
      readonly kind: 'rate_limited'
      readonly retryAfterMs: number
      readonly window: 'cost'
      readonly allowed: { readonly requests: number; readonly bytes: number }
    }
  | { readonly kind: 'unsupported_media_type'; readonly what: 'content_type' | 'content_encoding' }
  | {
      readonly kind: 'payload_too_large'
      readonly what: 'reading' | 'batch' | 'packed' | 'events'
      readonly bytesMax: number
    }
  | { readonly kind: 'invalid_body'; readonly what: 'batch' | 'nesting' | 'structure' }
  | { readonly kind: 'batch_empty' }
  | { readonly kind: 'batch_too_large'; readonly readingsMax: number; readonly bound: 'batch' | 'key' | 'structure' }
  | MalformedJson
  | { readonly kind: 'batch_rejected'; readonly rejected: readonly RejectedItem[]; readonly atMs: number }
  | ItemRefusal
  | { readonly kind: 'invalid_idempotency_key' }
  /** The first request is still running, or its outcome is unknown. */
  | { readonly kind: 'idempotency_in_progress' }
  | { readonly kind: 'idempotency_key_reused' }
  | { readonly kind: 'ambiguous_host' }
  /** `meant` is the path that the request spells in another way, such as `/api//v1/ingest`. */
  | { readonly kind: 'not_found'; readonly meant: string | null }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'store_unavailable' }
  | { readonly kind: 'storage_full' }
  | { readonly kind: 'overloaded' }
  /** `not_begun`: the body has waited for a `100 Continue`. */
  | { readonly kind: 'expectation_failed'; readonly what: 'unknown' | 'not_begun' }
  /** `declaredBytes` is the `Content-Length`, or `null` without that header. */
  | { readonly kind: 'request_timeout'; readonly declaredBytes: number | null }
  | { readonly kind: 'internal_error' }

/** Permanent: a device should not send the same reading again. */
export type ItemRefusal =
  | { readonly kind: 'invalid_body'; readonly what: 'reading' | 'item' }
  | { readonly kind: 'missing_field'; readonly fields: readonly ReadingField[] }
  | { readonly kind: 'invalid_type'; readonly field: ReadingField; readonly expected: 'string' | 'number' }
  | { readonly kind: 'invalid_name'; readonly field: NameField; readonly fault: NameFault }
  | { readonly kind: 'invalid_value' }
  | { readonly kind: 'invalid_timestamp'; readonly fault: 'form' | 'no_such_instant' }
  | { readonly kind: 'timestamp_too_old'; readonly ageMsMax: number }
  | { readonly kind: 'timestamp_in_future'; readonly aheadMsMax: number }
  | { readonly kind: 'cellar_mismatch'; readonly cellar: string }

export type MalformedJson = {
  readonly kind: 'malformed_json'
} /** `no_length`: without `Content-Length` and chunks, HTTP reads no body. */ & (
  | { readonly fault: 'empty' | 'no_length' | 'not_gzip' }
  | { readonly fault: 'not_utf8' | JsonFault; readonly place: BodyPlace }
  /** `isLengthDeclared`: `Content-Length` is equal to the byte at which the body ends. */
  | {
      readonly fault: 'ends_early'
      readonly place: BodyPlace
      readonly inside: JsonPart
      readonly isLengthDeclared: boolean
    }
)

/** Both numbers begin with 0. `byte` counts in the unpacked body. `item` is `null` outside of the items of a batch. */
export type BodyPlace = { readonly byte: number; readonly item: number | null }

export type JsonFault =
  /** For instance `nan`, `-NaN` or `Infinity`. */
  | 'not_a_number'
  | 'decimal_comma'
  | 'plus_sign'
  | 'leading_zero'
  | 'dot_first'
  | 'dot_last'
  | 'number'
  | 'no_value'
  | 'extra_comma'
  | 'no_quotes'
  | 'word'
  | 'no_colon'
  | 'no_comma'
  | 'control_character'
  | 'escape'
  | 'nul_inside'
  | 'nul_behind'
  | 'bytes_behind'
  | 'unexpected'

export type JsonPart = 'text' | 'number' | 'word' | 'object' | 'list'

export type RejectedItem = { readonly index: number; readonly refusal: ItemRefusal }

export type NameFault = 'blank' | 'outer_space' | 'too_long' | 'control_character' | 'lone_surrogate'

export type CommandRefusal =
  | { readonly kind: 'cellar_exists' }
  | { readonly kind: 'cellar_not_found' }
  | { readonly kind: 'key_exists' }
  | { readonly kind: 'key_not_found' }
  | { readonly kind: 'key_is_revoked' }
  | { readonly kind: 'key_is_expired' }
  /** The successor is in use, so rotate the successor instead. */
  | { readonly kind: 'key_is_superseded'; readonly successorId: string }
  | { readonly kind: 'too_many_keys'; readonly keysMax: number }
  | { readonly kind: 'too_many_units'; readonly unitsMax: number }
  | { readonly kind: 'attention_line_not_found' }
  | { readonly kind: 'too_many_silence_rules'; readonly rulesMax: number }
  | { readonly kind: 'webhook_not_found' }
  | { readonly kind: 'too_many_webhooks'; readonly webhooksMax: number }
  | { readonly kind: 'webhook_exists'; readonly webhookId: string }
  /** Without this secret, this node cannot sign messages to the webhook. `why` is a sentence. */
  | { readonly kind: 'no_webhook_secret'; readonly why: string }
  | { readonly kind: 'expiry_in_past'; readonly isNew: boolean }
  /** `rule` is a sentence that says which values are valid. */
  | { readonly kind: 'invalid_field'; readonly field: string; readonly rule: string }
  | { readonly kind: 'operator_exists' }
  | { readonly kind: 'operator_not_found' }
  | { readonly kind: 'operator_is_invited'; readonly role: Role }
  /** A removed operator used a set-up link. An invitation is needed instead. */
  | { readonly kind: 'operator_was_removed' }
  | { readonly kind: 'last_admin' }
  /** Only a link for the first admin can have no e-mail. */
  | { readonly kind: 'link_needs_email' }
  | { readonly kind: 'link_keeps_role'; readonly role: Role }
  | { readonly kind: 'link_invalid' }
  | { readonly kind: 'wrong_credentials' }
  | { readonly kind: 'own_password_needed' }
  | { readonly kind: 'wrong_own_password' }
  /** The session has ended, or the operator lost the admin role while the command ran. */
  | { readonly kind: 'session_has_ended' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'not_confirmed' }
  | { readonly kind: 'store_unavailable' }
  | { readonly kind: 'storage_full' }

export type Outcome<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R }

export const done = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })
export const refused = <R>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal })

export const assertNever = (value: never): never => {
  throw new Error(`Cannot happen: ${JSON.stringify(value)}`)
}

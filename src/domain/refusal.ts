import type { Limit, Role } from './events.ts'

/**
 * Every way the system says no, as a value. Words and HTTP status are `http/problem.ts`'s; a refusal carries only what
 * those words need, and never the caller's input.
 */
export type ReadingRefusal =
  | { readonly kind: 'key_missing' }
  /** Unknown, malformed, wrong secret, revoked, suspended, sealed: all the same to the caller. `why` is for the admin. */
  | { readonly kind: 'key_invalid'; readonly why: 'unknown' | 'revoked' | 'suspended' }
  | { readonly kind: 'key_expired' }
  | { readonly kind: 'rate_limited'; readonly limit: Limit; readonly retryAfterMs: number; readonly window: 'readings' }
  /** The key's cost budget is empty; `allowed` is what it may spend in a second on requests that store nothing. */
  | {
      readonly kind: 'rate_limited'
      readonly retryAfterMs: number
      readonly window: 'cost'
      readonly allowed: { readonly requests: number; readonly bytes: number }
    }
  | { readonly kind: 'unsupported_media_type'; readonly what: 'content_type' | 'content_encoding' }
  | { readonly kind: 'payload_too_large'; readonly what: 'reading' | 'batch' | 'events'; readonly bytesMax: number }
  | { readonly kind: 'invalid_body'; readonly what: 'batch' | 'nesting' | 'structure' }
  | { readonly kind: 'batch_empty' }
  | { readonly kind: 'batch_too_large'; readonly readingsMax: number; readonly bound: 'batch' | 'key' | 'structure' }
  | { readonly kind: 'malformed_json'; readonly fault: 'empty' | 'not_gzip' | 'not_utf8' | 'not_json' | 'bare_nan' }
  /** Every item of the batch, judged at that instant (ms). */
  | { readonly kind: 'batch_rejected'; readonly rejected: readonly RejectedItem[]; readonly atMs: number }
  | ItemRefusal
  | { readonly kind: 'invalid_idempotency_key' }
  /** A request with the same key has not ended, or nobody knows yet how it did. */
  | { readonly kind: 'idempotency_in_progress' }
  /** That key has stored another payload. */
  | { readonly kind: 'idempotency_key_reused' }
  /** The `Host` header was sent twice. */
  | { readonly kind: 'ambiguous_host' }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'store_unavailable' }
  | { readonly kind: 'storage_full' }
  | { readonly kind: 'overloaded' }
  /** The body came too slowly, and was given up. */
  | { readonly kind: 'request_timeout' }
  | { readonly kind: 'internal_error' }

/** What can be wrong with a reading by itself: it stays so, however often it is sent. */
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

/** One reading of a batch, by its place in it. */
export type RejectedItem = { readonly index: number; readonly refusal: ItemRefusal }

export type NameField = 'cellar' | 'rack' | 'keg'
export type ReadingField = NameField | 'value' | 'timestamp'
export type NameFault = 'blank' | 'outer_space' | 'too_long' | 'control_character' | 'lone_surrogate'

/** Why a command of an admin was refused. */
export type CommandRefusal =
  | { readonly kind: 'cellar_exists' }
  | { readonly kind: 'cellar_not_found' }
  | { readonly kind: 'key_exists' }
  | { readonly kind: 'key_not_found' }
  | { readonly kind: 'key_is_revoked' }
  | { readonly kind: 'key_is_expired' }
  /** Its successor is in use, and is the one to rotate. */
  | { readonly kind: 'key_is_superseded'; readonly successorId: string }
  | { readonly kind: 'too_many_keys'; readonly keysMax: number }
  /** `isNew`: of a key that is not there yet, and so need not be ended. */
  | { readonly kind: 'expiry_in_past'; readonly isNew: boolean }
  /** A field of a form or an option: `field` is its name, `rule` a sentence that names the bound. */
  | { readonly kind: 'invalid_field'; readonly field: string; readonly rule: string }
  | { readonly kind: 'operator_exists' }
  | { readonly kind: 'operator_not_found' }
  /** Has a link, and no account yet whose role could be changed. */
  | { readonly kind: 'operator_is_invited'; readonly role: Role }
  /** A set-up link for somebody whose access was taken away: only a link of their own gives it back. */
  | { readonly kind: 'operator_was_removed' }
  | { readonly kind: 'last_admin' }
  /** A link for nobody by name, though there is somebody already. */
  | { readonly kind: 'link_needs_email' }
  /** A link for somebody who is there, with another role than theirs, which a link does not change. */
  | { readonly kind: 'link_keeps_role'; readonly role: Role }
  | { readonly kind: 'link_invalid' }
  | { readonly kind: 'wrong_credentials' }
  /** Somebody who is signed in must give the own password again. */
  | { readonly kind: 'own_password_needed' }
  | { readonly kind: 'wrong_own_password' }
  /** The session ended, or its operator lost the right, while the command was under way. */
  | { readonly kind: 'session_has_ended' }
  /** The mailbox of commands is full, or the actor is stopping. */
  | { readonly kind: 'busy' }
  /** The command may have taken effect: the store did not say. */
  | { readonly kind: 'not_confirmed' }
  | { readonly kind: 'store_unavailable' }
  | { readonly kind: 'storage_full' }

/** Done with a value, or refused: never thrown. */
export type Outcome<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R }

export const done = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })
export const refused = <R>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal })

export const assertNever = (value: never): never => {
  throw new Error(`Cannot happen: ${JSON.stringify(value)}`)
}

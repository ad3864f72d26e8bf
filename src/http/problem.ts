/**
 * HTTP: requests in, answers out. Here live the routes, one folder for each area, and nothing that decides: what is
 * admitted is the actors' and the domain's to say.
 *
 * This file is the one table from a refusal to its status, code and words, for devices, for pages and for the command line.
 * A text begins with the field, names the rule and the bound, says what to do, and never repeats what was sent.
 */
import { secondText } from '../domain/instant.ts'
import {
  assertNever,
  type CommandRefusal,
  type NameFault,
  type ReadingField,
  type ReadingRefusal,
  type RejectedItem,
} from '../domain/refusal.ts'
import {
  batchReadingsMax,
  batchStructuralCharsMax,
  bodyBytesPerSecondMin,
  bodyGraceMs,
  idempotencyKeyCharsMax,
  jsonNestingMax,
  nameCodePointsMax,
  readingStructuralCharsMax,
  unavailableRetryAfterSeconds,
} from '../limits.ts'

/** The contract's three, which carry a status and no code. */
type KeyRefusalKind = 'key_missing' | 'key_invalid' | 'key_expired'

export type Problem = {
  readonly status: number
  /** What an admin sees beside a key's last refusal; for all but the key's own three also the `code` of the body. */
  readonly code: string
  /** JSON. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export const jsonContentType = 'application/json; charset=utf-8'

/** On every answer with a JSON body. No cache may keep one: it belongs to one key and one request. */
export const jsonHeaders = {
  'Content-Type': jsonContentType,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
} as const

const noHeaders: Problem['headers'] = {}
const challenge: Problem['headers'] = { 'WWW-Authenticate': 'ApiKey realm="cellarbook"' }
/** For a body that was given up: the rest of it would be read as the next request. */
export const closeConnection: Problem['headers'] = { Connection: 'close' }
export const retrySoon: Problem['headers'] = { 'Retry-After': String(unavailableRetryAfterSeconds) }

export const problemOf = (refusal: ReadingRefusal): Problem => {
  switch (refusal.kind) {
    case 'key_missing':
      return keyProblem('KEY_MISSING', 'API key is required')
    case 'key_invalid':
      return keyProblem(keyInvalidCodes[refusal.why], 'Invalid API key')
    case 'key_expired':
      return keyProblem('KEY_EXPIRED', 'API key has expired')
    case 'malformed_json':
    case 'invalid_body':
    case 'missing_field':
    case 'invalid_type':
    case 'invalid_name':
    case 'invalid_value':
    case 'invalid_timestamp':
    case 'timestamp_too_old':
    case 'timestamp_in_future':
    case 'batch_empty':
    case 'batch_too_large':
    case 'invalid_idempotency_key':
    case 'ambiguous_host':
      return problem(400, refusal)
    case 'batch_rejected':
      return batchProblem(refusal)
    case 'cellar_mismatch':
      return problem(403, refusal)
    case 'not_found':
      return problem(404, refusal)
    case 'method_not_allowed':
      return problem(405, refusal, { Allow: refusal.allow.join(', ') })
    case 'request_timeout':
      return problem(408, refusal, closeConnection)
    case 'idempotency_in_progress':
      return problem(409, refusal)
    case 'idempotency_key_reused':
      return problem(422, refusal)
    case 'payload_too_large':
      return problem(413, refusal)
    case 'unsupported_media_type':
      return problem(415, refusal)
    case 'rate_limited':
      return problem(429, refusal, { 'Retry-After': String(retryAfterSeconds(refusal.retryAfterMs)) })
    case 'internal_error':
      return problem(500, refusal)
    case 'store_unavailable':
    case 'storage_full':
    case 'overloaded':
      return problem(503, refusal, retrySoon)
    default:
      return assertNever(refusal)
  }
}

export const problemResponse = (problem: Problem, headers: Readonly<Record<string, string>> = noHeaders): Response =>
  new Response(problem.body, {
    status: problem.status,
    headers: { ...jsonHeaders, ...headers, ...problem.headers },
  })

const keyInvalidCodes = { unknown: 'KEY_UNKNOWN', revoked: 'KEY_REVOKED', suspended: 'KEY_SUSPENDED' } as const

/** The contract's body, byte for byte (sections 5 and 7): the same words whatever made the key invalid. */
const keyProblem = (code: string, error: string): Problem => ({
  status: 401,
  code,
  body: JSON.stringify({ error, status: 401 }),
  headers: challenge,
})

type CodedRefusal = Exclude<ReadingRefusal, { readonly kind: KeyRefusalKind }>

const problem = (status: number, refusal: CodedRefusal, headers = noHeaders): Problem => {
  const code = codeOf(refusal)
  return { status, code, body: JSON.stringify({ status: 'error', error: readingWords(refusal), code }), headers }
}

const codeOf = ({ kind }: CodedRefusal): string => kind.toUpperCase()

type BatchRejected = Extract<ReadingRefusal, { readonly kind: 'batch_rejected' }>

/** A refusal's body and a batch's in one (docs/contract.md, "Many readings"). */
const batchProblem = (refusal: BatchRejected): Problem => {
  const { rejected, atMs } = refusal
  const code = codeOf(refusal)
  const body = {
    status: 'error',
    message: `Nothing stored, ${rejected.length} refused.`,
    accepted: 0,
    rejected: rejected.length,
    timestamp: secondText(atMs),
    error: readingWords(refusal),
    code,
    errors: itemErrors(rejected),
  }
  return { status: 400, code, body: JSON.stringify(body), headers: noHeaders }
}

export const itemErrors = (
  rejected: readonly RejectedItem[],
): readonly { readonly index: number; readonly code: string; readonly error: string }[] =>
  rejected.map(({ index, refusal }) => ({ index, code: codeOf(refusal), error: readingWords(refusal) }))

/** Rounded up, so that whoever waits that long is not refused once more; 0 would be an invitation to loop. */
const retryAfterSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

const readingWords = (refusal: CodedRefusal): string => {
  switch (refusal.kind) {
    case 'malformed_json':
      return jsonWords[refusal.fault]
    case 'invalid_body':
      return bodyWords[refusal.what]
    case 'missing_field':
      return `${list(refusal.fields)} ${refusal.fields.length === 1 ? 'is' : 'are'} missing: every reading has ${fiveFields}.`
    case 'invalid_type':
      return refusal.expected === 'number'
        ? `${refusal.field} must be a JSON number: send it without quotes, or leave the reading out when there is none.`
        : `${refusal.field} must be a JSON string: send it in quotes.`
    case 'invalid_name':
      return `${refusal.field} ${nameWords[refusal.fault]}`
    case 'invalid_value':
      return 'value must be finite, at most 1.7976931348623157e308 either way: leave the reading out when there is none.'
    case 'invalid_timestamp':
      return refusal.fault === 'form'
        ? `timestamp must have the form YYYY-MM-DDThh:mm:ssZ, in UTC, with at most 9 fractional digits: send it like ${exampleTimestamp}.`
        : `timestamp must be an instant that exists, months 01-12, hours 00-23, minutes and seconds 00-59: send it like ${exampleTimestamp}.`
    case 'timestamp_too_old':
      return `timestamp must be at most ${ageWords(refusal.ageMsMax)} old in this cellar: leave the reading out, or ask an admin of the cellar.`
    case 'timestamp_in_future':
      return `timestamp must be at most ${durationWords(refusal.aheadMsMax)} ahead in this cellar: set the device's clock.`
    case 'cellar_mismatch':
      return `cellar must be ${JSON.stringify(refusal.cellar)}, the one this key belongs to: send that, or use a key of the other cellar.`
    case 'not_found':
      return 'path is not known: send a reading to /api/v1/ingest, a batch to /api/v1/ingest/batch.'
    case 'method_not_allowed':
      return `method must be ${list(refusal.allow, 'or')} on this path: send the request so.`
    case 'payload_too_large':
      return tooLargeWords[refusal.what](refusal.bytesMax)
    case 'batch_empty':
      return `readings must not be empty: send 1 to ${batchReadingsMax}.`
    case 'batch_rejected':
      return 'readings must hold at least one that keeps every rule: mend what errors says of each.'
    case 'batch_too_large':
      return batchTooLargeWords[refusal.bound](refusal.readingsMax)
    case 'unsupported_media_type':
      return refusal.what === 'content_type'
        ? 'Content-Type must be application/json: send that header with the body.'
        : 'Content-Encoding must be gzip, identity or absent: pack the body so, or not at all.'
    case 'invalid_idempotency_key':
      return `Idempotency-Key must be 1 to ${idempotencyKeyCharsMax} printable ASCII characters: send such a text, or leave the header out.`
    case 'ambiguous_host':
      return 'Host must name one host: send that header once.'
    case 'idempotency_in_progress':
      return `Idempotency-Key belongs to a request that is still running: send the request again after ${soon}.`
    case 'idempotency_key_reused':
      return 'Idempotency-Key must be new for every new payload: this one has stored another. Send a new key.'
    case 'rate_limited':
      return rateWords(refusal)
    case 'internal_error':
      return 'service failed, and acknowledged nothing: send the request again later, and name its X-Request-Id if it stays so.'
    case 'store_unavailable':
      return `store is unavailable, and nothing is confirmed: send it again after ${soon}.`
    case 'storage_full':
      return `store is full, and nothing was stored: send it again after ${soon}, then less and less often.`
    case 'request_timeout':
      return `body must arrive at ${bodyBytesPerSecondMin} bytes a second or more after its first ${durationWords(bodyGraceMs)}: send it again, in smaller batches or over a better link.`
    case 'overloaded':
      return `service is overloaded, and nothing was stored: send it again after ${soon}.`
    default:
      return assertNever(refusal)
  }
}

const exampleTimestamp = '2025-03-01T12:00:00Z'

const tooLargeWords = {
  reading: (bytesMax: number) => `body must be at most ${bytesMax} bytes: send one reading, without other data.`,
  batch: (bytesMax: number) => `body must be at most ${bytesMax} bytes: send the readings in several batches.`,
  events: (bytesMax: number) =>
    `readings must be at most ${bytesMax} bytes as they are stored: send them in several batches.`,
} as const

const batchTooLargeWords = {
  batch: (readingsMax: number) => `readings must be at most ${readingsMax} in one batch: send them in several.`,
  key: (readingsMax: number) =>
    `readings must be at most ${readingsMax} in one batch, the limit of this key: send them in several.`,
  structure: () =>
    `readings must have at most ${batchStructuralCharsMax} of the characters {}[]:, outside strings in one batch: send them in several.`,
} as const

const jsonWords = {
  empty: 'body must not be empty: send one JSON object.',
  not_gzip: 'body must be whole gzip data, as its Content-Encoding says: pack it so, or send it without that header.',
  not_utf8: 'body must be UTF-8: encode the JSON so.',
  not_json: 'body must be valid JSON: send one JSON object.',
  bare_nan: 'body must be valid JSON, which has no NaN and no Infinity: leave the reading out when there is no value.',
} as const

const nameWords: Record<NameFault, string> = {
  blank: `must not be blank: send 1 to ${nameCodePointsMax} characters.`,
  outer_space: 'must not begin or end with a space: send it without.',
  too_long: `must be at most ${nameCodePointsMax} characters: choose a shorter name.`,
  control_character: 'must not contain a control character: send it without.',
  lone_surrogate: 'must be whole Unicode characters, without half of a surrogate pair: send it without.',
}

const rateWords = (refusal: Extract<ReadingRefusal, { readonly kind: 'rate_limited' }>): string => {
  const wait = count(retryAfterSeconds(refusal.retryAfterMs), 'second')
  if (refusal.window === 'readings') {
    const window = durationWords(refusal.limit.windowMs)
    return `X-API-Key allows at most ${count(refusal.limit.readings, 'reading')} in ${window}: send it again after ${wait}.`
  }
  const { requests, bytes } = refusal.allowed
  return `X-API-Key allows at most ${Math.floor(requests)} requests and ${Math.floor(bytes)} bytes a second that store nothing: correct what the refusals name, and send again after ${wait}.`
}

/** What came of a command, for a page or the command line. `field` is the one to mark, if it is one field's fault. */
export type CommandProblem = { readonly status: number; readonly field: string | null; readonly text: string }

export const commandProblemOf = (refusal: CommandRefusal): CommandProblem => {
  switch (refusal.kind) {
    case 'cellar_exists':
      return atField(409, 'cellar', 'There is a cellar of this name already. Open it, or choose another name.')
    case 'cellar_not_found':
      return whole(404, 'There is no cellar of this name.')
    case 'key_exists':
      return atField(
        409,
        'form',
        'This form was sent before, and made a key: it is on the list of keys, and its text was shown once. Send this one to make another.',
      )
    case 'key_not_found':
      return whole(404, 'There is no key with this id.')
    case 'key_is_revoked':
      return whole(409, 'The key is revoked, which is final. Create a new key instead.')
    case 'key_is_expired':
      return whole(409, 'The key has expired. Give it a later expiry first.')
    case 'key_is_superseded':
      return whole(409, `Key ${refusal.successorId} has taken its place, and is in use. Rotate that one.`)
    case 'too_many_keys':
      return whole(409, `A cellar has at most ${refusal.keysMax} keys, the revoked ones included. Open another cellar.`)
    case 'expiry_in_past':
      return atField(422, 'expiresAt', `The expiry must lie in the future.${refusal.isNew ? '' : endNow}`)
    case 'invalid_field':
      return atField(422, refusal.field, refusal.rule)
    case 'operator_exists':
      return atField(409, 'email', 'There is an operator with this e-mail already.')
    case 'operator_not_found':
      return whole(404, 'There is no operator with this e-mail.')
    case 'operator_is_invited':
      return whole(
        409,
        `This e-mail is invited, as an ${refusal.role}, and has not joined. To invite it as something else, withdraw that with: bun run cellarbook operator remove. Then make a new link with: bun run cellarbook operator link --email you@example.com --role admin`,
      )
    case 'operator_was_removed':
      return atField(
        409,
        'email',
        'Access was taken away from this e-mail. Ask an admin for a link of its own, or choose another e-mail.',
      )
    case 'last_admin':
      return whole(409, 'This is the only admin, and there must be one. Make another operator an admin first.')
    case 'link_needs_email':
      return atField(
        409,
        'email',
        'There are operators already, so the link must say whose it is: bun run cellarbook operator link --email you@example.com',
      )
    case 'link_keeps_role':
      return atField(
        409,
        'role',
        `This operator is an ${refusal.role}, and a link leaves the role as it is. To change it: bun run cellarbook operator role`,
      )
    case 'own_password_needed':
      return atField(422, 'own_password', 'Enter your own password.')
    case 'wrong_own_password':
      return atField(422, 'own_password', 'This is not your password. Try again.')
    case 'session_has_ended':
      return whole(401, 'Your session has ended. Sign in again; nothing was changed.')
    case 'link_invalid':
      return whole(
        410,
        'The link is spent, expired or mistyped. Make a new one with: bun run cellarbook operator link --email you@example.com',
      )
    case 'wrong_credentials':
      return whole(401, 'The e-mail or the password is wrong.')
    case 'busy':
      return whole(503, 'Too much is under way for this at the moment. Nothing was changed; try again.')
    case 'not_confirmed':
      return whole(
        503,
        'Not confirmed yet: the store did not say whether it is done. Look again in a moment, and repeat it then.',
      )
    case 'store_unavailable':
      return whole(503, 'The store is unavailable. Nothing was changed; try again in a moment.')
    case 'storage_full':
      return whole(503, 'The store is full. Nothing was changed; make room on its disk, then try again.')
    default:
      return assertNever(refusal)
  }
}

const endNow = ' To end a key now, revoke it.'

const atField = (status: number, field: string, text: string): CommandProblem => ({ status, field, text })
const whole = (status: number, text: string): CommandProblem => ({ status, field: null, text })

const list = (words: readonly string[], conjunction: 'and' | 'or' = 'and'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`

const everyField: readonly ReadingField[] = ['cellar', 'rack', 'keg', 'value', 'timestamp']
const fiveFields = list(everyField)

const bodyWords = {
  reading: `body must be one JSON object: send ${fiveFields} as its fields.`,
  batch: 'body must be one JSON object with a list: send {"readings":[…]}.',
  nesting: `body must have at most ${jsonNestingMax} levels of nesting: send each reading as a plain JSON object.`,
  structure: `body must have at most ${readingStructuralCharsMax} of the characters {}[]:, outside strings: send one reading, without other data.`,
  item: `reading must be a JSON object: send ${fiveFields} as its fields.`,
} as const

export const readingsWords = (many: number): string => count(many, 'reading')

const count = (many: number, thing: string): string => `${many} ${many === 1 ? thing : `${thing}s`}`

const durationWords = (ms: number): string => count(ms / 1_000, 'second')

const ageWords = (ms: number): string => (ms % dayMs === 0 ? count(ms / dayMs, 'day') : durationWords(ms))

const dayMs = 86_400_000

const soon = count(unavailableRetryAfterSeconds, 'second')

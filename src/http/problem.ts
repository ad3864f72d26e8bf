/** The rules for texts to devices are in docs/contract.md, "One reading". */
import { dayMs, secondText } from '../domain/calendar.ts'
import { requiredFields } from '../domain/reading/fields.ts'
import type { ReadingRefusal, RejectedItem } from '../domain/refusal.ts'
import { batchReadingsMax, idempotencyKeyCharsMax } from '../limits.ts'
import { nameWords, timestampWords } from './field-words.ts'
import {
  batchStructuralCharsMax,
  bodyBytesPerSecondMin,
  bodyGraceMs,
  jsonNestingMax,
  readingStructuralCharsMax,
} from './http-bounds.ts'
import { malformedJsonWords, skipReading } from './malformed-json-words.ts'

const unavailableRetryAfterSeconds = 1

export type Problem = {
  readonly status: number
  /** For log lines and the key's page. The body has it, too, except in a 401. */
  readonly code: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const jsonContentType = 'application/json; charset=utf-8'

/** An answer belongs to one key and one request, so no cache may keep it. */
export const jsonHeaders = {
  'Content-Type': jsonContentType,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
} as const

const noHeaders: Problem['headers'] = {}
const challenge: Problem['headers'] = { 'WWW-Authenticate': 'ApiKey realm="cellarbook"' }
/** Otherwise Bun would read the rest of a refused body as the next request, or the next request as the body. */
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
    case 'batch_rejected':
      return batchProblem(refusal)
    case 'expectation_failed': {
      const problem = codedProblem(refusal.kind, refusal)
      // With a body, Java's HttpClient would never return (docs/decisions/026-what-holds-for-every-answer.md).
      return refusal.what === 'not_begun' ? { ...problem, body: '' } : problem
    }
    default:
      return codedProblem(refusal.kind, refusal)
  }
}

export const problemResponse = (problem: Problem, headers: Readonly<Record<string, string>> = noHeaders): Response =>
  new Response(problem.body, {
    status: problem.status,
    headers: { ...jsonHeaders, ...headers, ...problem.headers },
  })

const keyInvalidCodes = { unknown: 'KEY_UNKNOWN', revoked: 'KEY_REVOKED', suspended: 'KEY_SUSPENDED' } as const
const keyCodes = ['KEY_MISSING', 'KEY_EXPIRED', ...Object.values(keyInvalidCodes)]

/** Devices rely on the other fields of a 401 (docs/contract.md, "Keys"). */
const keyProblem = (code: string, error: string): Problem => ({
  status: 401,
  code,
  body: JSON.stringify({ error, status: 401 }),
  headers: challenge,
})

type CodedRefusal = Exclude<ReadingRefusal, { readonly kind: 'key_missing' | 'key_invalid' | 'key_expired' }>
type CodedKind = CodedRefusal['kind']
type CodedOf<K extends CodedKind> = Extract<CodedRefusal, { readonly kind: K }>

/** `kind` is `refusal.kind`. As a parameter, it tells the compiler the type of the row in `deviceProblems`. */
const codedProblem = <K extends CodedKind>(kind: K, refusal: CodedOf<K>): Problem => {
  const { status, headers = noHeaders } = deviceProblems[kind]
  const code = codeOf(kind)
  const body = JSON.stringify({ status: 'error', error: deviceWords(kind, refusal), code })
  return { status, code, body, headers: typeof headers === 'function' ? headers(refusal) : headers }
}

export const codeOf = (kind: CodedKind): string => kind.toUpperCase()

export type Words<R> = string | ((refusal: R) => string)
export const wordsFor = <R>(refusal: R, words: Words<R>): string => (typeof words === 'string' ? words : words(refusal))

const deviceWords = <K extends CodedKind>(kind: K, refusal: CodedOf<K>): string =>
  wordsFor(refusal, deviceProblems[kind].words)

/** Also has the fields of the answer to a stored batch (docs/contract.md, "Many readings"). */
const batchProblem = (refusal: CodedOf<'batch_rejected'>): Problem => {
  const { kind, rejected, atMs } = refusal
  const { status } = deviceProblems[kind]
  const code = codeOf(kind)
  const body = {
    status: 'error',
    message: `Nothing stored, ${rejected.length} refused.`,
    accepted: 0,
    rejected: rejected.length,
    timestamp: secondText(atMs),
    error: deviceWords(kind, refusal),
    code,
    errors: itemErrors(rejected),
  }
  return { status, code, body: JSON.stringify(body), headers: noHeaders }
}

export const itemErrors = (rejected: readonly RejectedItem[]) => {
  let told: (Pick<RejectedItem, 'refusal'> & { readonly code: string; readonly error: string }) | null = null
  return rejected.map(({ index, refusal }) => {
    // The last words are used again: a faulty device usually makes the same mistake in each item.
    if (told?.refusal !== refusal)
      told = { refusal, code: codeOf(refusal.kind), error: deviceWords(refusal.kind, refusal) }
    return { index, code: told.code, error: told.error }
  })
}

const list = (words: readonly string[], conjunction: 'and' | 'or' = 'and'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`

const count = (many: number, thing: string): string => `${many} ${many === 1 ? thing : `${thing}s`}`

export const readingsWords = (many: number): string => count(many, 'reading')

const durationWords = (ms: number): string => count(ms / 1_000, 'second')
const ageWords = (ms: number): string => (ms % dayMs === 0 ? count(ms / dayMs, 'day') : durationWords(ms))

/** Rounds up, because a device that retries too early is refused again. With 0, devices would retry in a loop. */
const retryAfterSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

const neededFields = list(requiredFields)
const sendAgain = `send the request again after ${count(unavailableRetryAfterSeconds, 'second')}`
const inSeveralBatches = 'send them in several batches'

const bodyWords: Record<CodedOf<'invalid_body'>['what'], string> = {
  reading: `body must be one JSON object: send ${neededFields} as its fields.`,
  batch: 'body must be one JSON object with a list: send {"readings":[…]}.',
  nesting: `body must have at most ${jsonNestingMax} levels of nesting: send each reading as a plain JSON object.`,
  structure: `body must have at most ${readingStructuralCharsMax} of the characters {}[]:, outside strings: send one reading, without other data.`,
  item: `reading must be a JSON object: send ${neededFields} as its fields.`,
}

const tooLargeWords: Record<CodedOf<'payload_too_large'>['what'], (bytesMax: number) => string> = {
  reading: (bytesMax) => `body must be at most ${bytesMax} bytes: send one reading, without other data.`,
  batch: (bytesMax) => `body must be at most ${bytesMax} bytes: send the readings in several batches.`,
  packed: (bytesMax) => `body must be at most ${bytesMax} bytes of gzip data: send it plain, or in smaller batches.`,
  events: (bytesMax) => `readings must take at most ${bytesMax} bytes when they are stored: ${inSeveralBatches}.`,
}

const batchTooLargeWords: Record<CodedOf<'batch_too_large'>['bound'], (readingsMax: number) => string> = {
  batch: (readingsMax) => `readings must be at most ${readingsMax} in one batch: ${inSeveralBatches}.`,
  key: (readingsMax) =>
    `readings must be at most ${readingsMax} in one batch, the limit of this API key: ${inSeveralBatches}.`,
  structure: () =>
    `readings must have at most ${batchStructuralCharsMax} of the characters {}[]:, outside strings in one batch: ${inSeveralBatches}.`,
}

const rateWords = (refusal: CodedOf<'rate_limited'>): string => {
  const wait = count(retryAfterSeconds(refusal.retryAfterMs), 'second')
  if (refusal.window === 'readings') {
    const { readings, windowMs } = refusal.limit
    return `X-API-Key allows at most ${readingsWords(readings)} in ${durationWords(windowMs)}: send the request again after ${wait}.`
  }
  const { requests, bytes } = refusal.allowed
  return `X-API-Key has used up its budget for requests that store nothing, which grows by ${Math.floor(requests)} requests and ${Math.floor(bytes)} bytes a second: correct the requests that are refused, and send again after ${wait}.`
}

/** Has no 401s, which `keyProblem` makes. */
export const deviceProblems: {
  readonly [K in CodedKind]: {
    readonly status: number
    readonly words: Words<CodedOf<K>>
    readonly headers?: Problem['headers'] | ((refusal: CodedOf<K>) => Problem['headers'])
  }
} = {
  malformed_json: { status: 400, words: malformedJsonWords },
  invalid_body: { status: 400, words: ({ what }) => bodyWords[what] },
  missing_field: {
    status: 400,
    words: ({ fields }) =>
      `${list(fields)} ${fields.length === 1 ? 'is' : 'are'} missing: every reading needs ${neededFields}.`,
  },
  invalid_type: {
    status: 400,
    words: ({ field, expected }) =>
      expected === 'number'
        ? `${field} must be a JSON number: send it without quotes, or ${skipReading}.`
        : `${field} must be a JSON string: send it in quotes.`,
  },
  invalid_name: { status: 400, words: ({ field, fault }) => `${field} ${nameWords(field)[fault]}` },
  invalid_value: {
    status: 400,
    words: `value must be finite, from -1.7976931348623157e308 to 1.7976931348623157e308: ${skipReading}.`,
  },
  invalid_timestamp: { status: 400, words: ({ fault }) => timestampWords[fault] },
  timestamp_too_old: {
    status: 400,
    words: ({ ageMsMax }) =>
      `timestamp must be at most ${ageWords(ageMsMax)} old in this cellar: skip the reading, or ask an admin to allow older readings.`,
  },
  timestamp_in_future: {
    status: 400,
    words: ({ aheadMsMax }) =>
      `timestamp must be at most ${durationWords(aheadMsMax)} ahead in this cellar: correct the device's clock.`,
  },
  batch_empty: { status: 400, words: `readings must not be empty: send 1 to ${batchReadingsMax} readings.` },
  batch_rejected: { status: 400, words: 'readings must have a valid reading: correct each as the list errors says.' },
  batch_too_large: { status: 400, words: ({ bound, readingsMax }) => batchTooLargeWords[bound](readingsMax) },
  invalid_idempotency_key: {
    status: 400,
    words: `Idempotency-Key must be 1 to ${idempotencyKeyCharsMax} printable ASCII characters: send for instance a UUID, or leave out the header.`,
  },
  ambiguous_host: { status: 400, words: 'Host must be sent once: remove the second Host header.' },
  cellar_mismatch: {
    status: 403,
    words: ({ cellar }) =>
      `cellar must be ${JSON.stringify(cellar)}, the cellar of this API key: send that name, or use a key of the other cellar.`,
  },
  not_found: {
    status: 404,
    words: ({ meant }) =>
      meant === null
        ? 'path does not exist: send a reading to /api/v1/ingest, or a batch to /api/v1/ingest/batch.'
        : `path must be exactly ${meant}: send it in lower case, with single slashes, unencoded, and without a slash at the end.`,
  },
  method_not_allowed: {
    status: 405,
    words: ({ allow }) => `method must be ${list(allow, 'or')} on this path: change the method of the request.`,
    headers: ({ allow }) => ({ Allow: allow.join(', ') }),
  },
  request_timeout: {
    status: 408,
    words: ({ declaredBytes }) => {
      const slow = `body must arrive at ${bodyBytesPerSecondMin} bytes a second or faster after its first ${durationWords(bodyGraceMs)}: send smaller batches, or use a faster connection.`
      return declaredBytes === null
        ? slow
        : `${slow} Content-Length is ${declaredBytes}: correct that header if the body is shorter.`
    },
    headers: closeConnection,
  },
  idempotency_in_progress: {
    status: 409,
    words: `Idempotency-Key belongs to a request that is still running: ${sendAgain}.`,
    headers: retrySoon,
  },
  payload_too_large: { status: 413, words: ({ what, bytesMax }) => tooLargeWords[what](bytesMax) },
  unsupported_media_type: {
    status: 415,
    words: ({ what }) =>
      what === 'content_type'
        ? 'Content-Type must be application/json: send that header with the body.'
        : 'Content-Encoding must be gzip, identity or absent: compress the body with gzip, or leave out the header.',
  },
  expectation_failed: {
    status: 417,
    words: 'Expect must be 100-continue, in lower case, or absent: leave out that header, and send the body at once.',
    headers: closeConnection,
  },
  idempotency_key_reused: {
    status: 422,
    words:
      'Idempotency-Key must be new for every new payload, but this one belongs to another payload: send a new Idempotency-Key.',
  },
  rate_limited: {
    status: 429,
    words: rateWords,
    headers: ({ retryAfterMs }) => ({ 'Retry-After': String(retryAfterSeconds(retryAfterMs)) }),
  },
  internal_error: {
    status: 500,
    words:
      'service failed, and confirmed nothing: send the request again later. If it fails again, report its X-Request-Id.',
  },
  store_unavailable: {
    status: 503,
    words: `store is unavailable, and nothing is confirmed: ${sendAgain}.`,
    headers: retrySoon,
  },
  storage_full: {
    status: 503,
    words: `store is full, and nothing was stored: ${sendAgain}, then wait longer each time.`,
    headers: retrySoon,
  },
  overloaded: {
    status: 503,
    words: `service is overloaded, and nothing was stored: ${sendAgain}.`,
    headers: retrySoon,
  },
}

export const deviceCodes: readonly string[] = [
  ...keyCodes,
  ...Object.keys(deviceProblems).map((kind) => kind.toUpperCase()),
]

/** An example of each refusal for `/openapi.json`. The compiler names a kind of refusal that has none. */
import type { ItemRefusal, ReadingRefusal } from '../../domain/refusal.ts'
import { batchReadingsMax, keyLimitDefault } from '../../limits.ts'
import { readingBodyBytesMax } from '../http-bounds.ts'
import { batchPath } from '../ingest/api-routes.ts'
import { batchBodyBytesMax } from '../ingest/ingest-batch.ts'

export const exampleMs = Date.UTC(2026, 2, 1, 12)

export const exampleReading = {
  cellar: 'wine-berlin',
  rack: 'rack-17',
  keg: 'temperature',
  value: 21.5,
  timestamp: '2026-03-01T12:00:00Z',
}

/** How a request differs from one that is stored. */
export type ExampleRequest = {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export type Content = 'reading' | 'batch'
type Kind = ReadingRefusal['kind']
type RefusalOf<K extends Kind> = Extract<ReadingRefusal, { readonly kind: K }>

type RefusalExample<K extends Kind> = {
  /** `null`: no answer to such a body has this code. */
  readonly refusal: (of: Content) => RefusalOf<K> | null
  /** Missing if the request does not cause the refusal, or is too long to be shown. */
  readonly request?: ExampleRequest
  /** A check ignores `Idempotency-Key`. */
  readonly isOfStoring?: true
}

const ofItem = <R extends ItemRefusal>(refusal: R, body: string) => ({
  item: refusal,
  refusal: (of: Content) => (of === 'reading' ? refusal : null),
  request: { body },
})

const ofBatch = <R extends ReadingRefusal>(refusal: R) => ({
  refusal: (of: Content) => (of === 'batch' ? refusal : null),
})

const always = <R extends ReadingRefusal>(refusal: R) => ({ refusal: () => refusal })

const readingWith = (change: object): string => JSON.stringify({ ...exampleReading, ...change })

/** What the item of a batch can be refused for, too. */
export const itemExamples = {
  missing_field: ofItem(
    { kind: 'missing_field', fields: ['keg', 'timestamp'] },
    readingWith({ keg: undefined, timestamp: undefined }),
  ),
  invalid_type: ofItem({ kind: 'invalid_type', field: 'value', expected: 'number' }, readingWith({ value: '21.5' })),
  invalid_name: ofItem(
    { kind: 'invalid_name', field: 'rack', fault: 'outer_space' },
    readingWith({ rack: 'rack-17 ' }),
  ),
  invalid_value: ofItem({ kind: 'invalid_value' }, readingWith({}).replace('21.5', '1e400')),
  invalid_timestamp: ofItem(
    { kind: 'invalid_timestamp', fault: 'no_such_instant' },
    readingWith({ timestamp: '2026-02-30T12:00:00Z' }),
  ),
  timestamp_too_old: ofItem(
    { kind: 'timestamp_too_old', ageMsMax: 7 * 86_400_000 },
    readingWith({ timestamp: '2026-01-01T12:00:00Z' }),
  ),
  timestamp_in_future: ofItem(
    { kind: 'timestamp_in_future', aheadMsMax: 600_000 },
    readingWith({ timestamp: '2026-03-01T13:00:00Z' }),
  ),
  cellar_mismatch: ofItem(
    { kind: 'cellar_mismatch', cellar: exampleReading.cellar },
    readingWith({ cellar: 'beer-berlin' }),
  ),
} as const

const itemsRefused: readonly { readonly refusal: ItemRefusal; readonly body: string }[] = [
  ...Object.values(itemExamples).map(({ item, request }) => ({ refusal: item, body: request.body })),
  { refusal: { kind: 'invalid_body', what: 'item' }, body: '7' },
]

/** HTTP joins two headers of one name by a comma. */
export const twoHosts: ExampleRequest = { headers: { Host: 'a.example, b.example' } }

export const refusalExamples: { readonly [K in Kind]: RefusalExample<K> } = {
  key_missing: { ...always({ kind: 'key_missing' }), request: { headers: { 'X-API-Key': '' } } },
  key_invalid: {
    ...always({ kind: 'key_invalid', why: 'unknown' }),
    request: { headers: { 'X-API-Key': 'clr_unknown' } },
  },
  key_expired: always({ kind: 'key_expired' }),
  ambiguous_host: { ...always({ kind: 'ambiguous_host' }), request: twoHosts },
  not_found: { ...always({ kind: 'not_found', meant: batchPath }), request: { path: `${batchPath}/` } },
  method_not_allowed: { ...always({ kind: 'method_not_allowed', allow: ['POST'] }), request: { method: 'PUT' } },
  malformed_json: {
    ...always({ kind: 'malformed_json', fault: 'not_a_number', place: { byte: 9, item: null } }),
    request: { body: '{"value":NaN}' },
  },
  invalid_body: {
    refusal: (of) => ({ kind: 'invalid_body', what: of }),
    request: { body: '[]' },
  },
  ...itemExamples,
  batch_empty: { ...ofBatch({ kind: 'batch_empty' }), request: { body: '{"readings":[]}' } },
  batch_rejected: {
    ...ofBatch({
      kind: 'batch_rejected',
      rejected: itemsRefused.map(({ refusal }, index) => ({ index, refusal })),
      atMs: exampleMs,
    }),
    request: { body: `{"readings":[${itemsRefused.map(({ body }) => body).join(',')}]}` },
  },
  batch_too_large: ofBatch({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound: 'batch' }),
  invalid_idempotency_key: {
    ...always({ kind: 'invalid_idempotency_key' }),
    request: { headers: { 'Idempotency-Key': 'Faß 17' } },
    isOfStoring: true,
  },
  idempotency_in_progress: { ...always({ kind: 'idempotency_in_progress' }), isOfStoring: true },
  idempotency_key_reused: { ...always({ kind: 'idempotency_key_reused' }), isOfStoring: true },
  payload_too_large: {
    refusal: (of) => ({
      kind: 'payload_too_large',
      what: of,
      bytesMax: of === 'batch' ? batchBodyBytesMax : readingBodyBytesMax,
    }),
  },
  unsupported_media_type: {
    ...always({ kind: 'unsupported_media_type', what: 'content_type' }),
    request: { headers: { 'Content-Type': 'text/plain' } },
  },
  expectation_failed: {
    ...always({ kind: 'expectation_failed', what: 'unknown' }),
    request: { headers: { Expect: '200-ok' } },
  },
  request_timeout: always({ kind: 'request_timeout', declaredBytes: null }),
  rate_limited: always({ kind: 'rate_limited', limit: keyLimitDefault, retryAfterMs: 60_000, window: 'readings' }),
  internal_error: always({ kind: 'internal_error' }),
  store_unavailable: always({ kind: 'store_unavailable' }),
  storage_full: always({ kind: 'storage_full' }),
  overloaded: always({ kind: 'overloaded' }),
}

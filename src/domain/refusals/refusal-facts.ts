import type { ReadingField } from '../reading/fields.ts'
import type { ReadingRefusal } from '../refusal.ts'

/** Without any text of the request. */
export type RefusalFacts = {
  readonly field: ReadingField | null
  /** `null` if the code says all. */
  readonly rule: string | null
}

export const refusalFacts = (refusal: ReadingRefusal): RefusalFacts => {
  switch (refusal.kind) {
    case 'missing_field':
      return { field: refusal.fields[0] ?? null, rule: null }
    case 'invalid_type':
      return { field: refusal.field, rule: refusal.expected }
    case 'invalid_name':
      return { field: refusal.field, rule: refusal.fault }
    case 'invalid_value':
      return { field: 'value', rule: null }
    case 'invalid_timestamp':
      return { field: 'timestamp', rule: refusal.fault }
    case 'timestamp_too_old':
    case 'timestamp_in_future':
      return { field: 'timestamp', rule: null }
    case 'cellar_mismatch':
      return { field: 'cellar', rule: null }
    case 'rate_limited':
      return { field: null, rule: refusal.window }
    case 'malformed_json':
      return { field: null, rule: refusal.fault }
    case 'invalid_body':
    case 'payload_too_large':
    case 'unsupported_media_type':
    case 'expectation_failed':
      return { field: null, rule: refusal.what }
    case 'batch_too_large':
      return { field: null, rule: refusal.bound }
    case 'key_invalid':
      return { field: null, rule: refusal.why }
    default:
      return { field: null, rule: null }
  }
}

/** A 503 counts for the node, and not for the key. */
export const isOfNode = ({ kind }: ReadingRefusal): boolean =>
  kind === 'store_unavailable' || kind === 'storage_full' || kind === 'overloaded'

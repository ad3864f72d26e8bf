import { expect, test } from 'bun:test'
import type { ReadingField } from '../../../src/domain/reading/fields.ts'
import type { ReadingRefusal } from '../../../src/domain/refusal.ts'
import { refusalFacts } from '../../../src/domain/refusals/refusal-facts.ts'

const cases: readonly (readonly [ReadingRefusal, ReadingField | null, string | null])[] = [
  [{ kind: 'missing_field', fields: ['rack', 'keg'] }, 'rack', null],
  [{ kind: 'invalid_type', field: 'value', expected: 'number' }, 'value', 'number'],
  [{ kind: 'invalid_name', field: 'keg', fault: 'outer_space' }, 'keg', 'outer_space'],
  [{ kind: 'invalid_value' }, 'value', null],
  [{ kind: 'invalid_timestamp', fault: 'no_such_instant' }, 'timestamp', 'no_such_instant'],
  [{ kind: 'timestamp_too_old', ageMsMax: 1 }, 'timestamp', null],
  [{ kind: 'cellar_mismatch', cellar: 'wine' }, 'cellar', null],
  [{ kind: 'malformed_json', fault: 'empty' }, null, 'empty'],
  [{ kind: 'payload_too_large', what: 'batch', bytesMax: 1 }, null, 'batch'],
  [{ kind: 'batch_too_large', readingsMax: 1, bound: 'key' }, null, 'key'],
  [{ kind: 'key_invalid', why: 'revoked' }, null, 'revoked'],
  [{ kind: 'overloaded' }, null, null],
]

test.each(cases)('refusalFacts() names the field and the rule of %j', (refusal, field, rule) => {
  expect(refusalFacts(refusal)).toEqual({ field, rule })
})

import { Type } from '@sinclair/typebox'
import { fieldNames, type ReadingField, readingFields, requiredFields } from '../../domain/reading/fields.ts'
import { assertNever } from '../../domain/refusal.ts'
import { batchReadingsMax, idempotencyKeyCharsMax } from '../../limits.ts'
import { replayedHeader } from '../ingest/answer-headers.ts'

/** Without `format: date-time`. A program made from that may send local time with its offset, which is refused. */
const timestampPattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|\\+00:00)$'

const fieldSchema = (field: ReadingField): object => {
  const rule = readingFields[field]
  const { description } = rule.schema
  switch (rule.kind) {
    case 'name':
      return { description, type: 'string', minLength: 1, maxLength: rule.codePointsMax }
    case 'number':
      return { description, type: 'number', format: 'double' }
    case 'timestamp':
      return { description, type: 'string', pattern: timestampPattern }
    default:
      return assertNever(rule)
  }
}

const refusal = { status: Type.Literal('error'), error: Type.String(), code: Type.String() }

const whatHappened = {
  message: Type.String(),
  accepted: Type.Integer({ minimum: 0 }),
  rejected: Type.Integer({ minimum: 0 }),
  timestamp: Type.String({ format: 'date-time', description: 'When the service judged the readings.' }),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, description: 'The place of the refused reading in the batch.' }),
      code: Type.String(),
      error: Type.String(),
    }),
  ),
}

export const schemas = {
  Reading: {
    type: 'object',
    description: 'Other fields are ignored.',
    required: requiredFields,
    properties: Object.fromEntries(fieldNames.map((field) => [field, fieldSchema(field)])),
  },
  Batch: {
    type: 'object',
    required: ['readings'],
    properties: {
      readings: {
        type: 'array',
        minItems: 1,
        maxItems: batchReadingsMax,
        items: { $ref: '#/components/schemas/Reading' },
      },
    },
  },
  ReadingAnswer: Type.Object({
    status: Type.Literal('success'),
    message: Type.String(),
    timestamp: whatHappened.timestamp,
  }),
  BatchAnswer: Type.Object({
    status: Type.Union([Type.Literal('success'), Type.Literal('partial')]),
    ...whatHappened,
  }),
  Refusal: Type.Object({ ...refusal }),
  BatchRefusal: Type.Object({ ...refusal, ...whatHappened }),
  KeyRefusal: Type.Object({ error: Type.String(), status: Type.Literal(401) }),
  YesOrNo: Type.Object({ ok: Type.Boolean() }),
} as const

export const headerMeanings: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'The body is what its type says.',
  'Cache-Control': 'The answer belongs to one request.',
  'X-Request-Id': 'Names this request. Quote it when you ask for help.',
  'X-Receipt': 'Where the readings lie in the log.',
  'RateLimit-Policy': 'The limit of the key: at most `q` readings in any `w` seconds.',
  RateLimit: '`r` readings are left. In `t` seconds the oldest counted reading leaves the window.',
  'X-API-Key-Expires-At': 'Only if the key expires: the instant from which it is refused.',
  'Retry-After': 'Seconds to wait.',
  [replayedHeader]: 'An earlier request with the same Idempotency-Key had this answer.',
  'Keep-Alive': 'How long an unused connection stays open at least, in seconds.',
  'WWW-Authenticate': 'Send the key in X-API-Key.',
  Allow: 'The methods of this path.',
  Connection: 'The connection is closed after this answer.',
}

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'New for each request, and the same for its repeats of the next 24 hours: they store nothing twice.',
  schema: { type: 'string', pattern: `^[ -~]{1,${idempotencyKeyCharsMax}}$` },
}

export const contentEncoding = {
  name: 'Content-Encoding',
  in: 'header',
  description: 'Of a body that is packed.',
  schema: { type: 'string', enum: ['gzip', 'identity'] },
}

import { keyLimitDefault } from '../../limits.ts'
import { batchBody, checkBody, successBody } from '../ingest/answer-bodies.ts'
import { type AnswerHeaders, addKeyHeaders, keepAlive, plainHeaders, replayedHeader } from '../ingest/answer-headers.ts'
import { okAnswer, onlyLooked, unreadyAnswer } from '../ops/ops-routes.ts'
import { jsonHeaders, type Problem, problemOf } from '../problem.ts'
import type { schemas } from './openapi-schemas.ts'
import {
  type Content,
  type ExampleRequest,
  exampleMs,
  exampleReading,
  itemExamples,
  refusalExamples,
  twoHosts,
} from './refusal-examples.ts'

export type ExampleAnswer = {
  readonly name: string
  readonly status: number
  readonly schema: keyof typeof schemas
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly request?: ExampleRequest | undefined
}

export type Endpoint = { readonly of: Content; readonly isCheck: boolean }

export const exampleReadings = [exampleReading, { ...exampleReading, keg: 'humidity', value: 64 }]

const withoutKey = plainHeaders('019ca945-0a00-7b1c-9d3e-5f60718293a4')

const usage = { limit: keyLimitDefault, used: 1, resetMs: keyLimitDefault.windowMs, retryAfterMs: 0 }

const withKey = (): AnswerHeaders => {
  const headers = { ...withoutKey }
  addKeyHeaders(headers, { expiresAt: Date.UTC(2027, 2, 1) }, usage)
  return headers
}

export const acceptedAnswers = ({ of, isCheck }: Endpoint): readonly ExampleAnswer[] => {
  const answers = of === 'reading' ? [acceptedReading(isCheck)] : acceptedBatches(isCheck)
  if (isCheck) return answers
  const receipt = `readings-7Qp2mZ4k@976${of === 'batch' ? '-977' : ''}`
  const stored = answers.map((answer) => ({ ...answer, headers: { ...answer.headers, 'X-Receipt': receipt } }))
  const repeated = stored.slice(0, 1).map((answer) => ({
    ...answer,
    name: `${answer.name}_again`,
    headers: { ...answer.headers, [replayedHeader]: 'true' },
    request: { headers: { 'Idempotency-Key': '5b0e6c7a91d84f02' } },
  }))
  return [...stored, ...repeated]
}

const acceptedReading = (isCheck: boolean): ExampleAnswer => ({
  name: isCheck ? 'would_be_stored' : 'stored',
  status: 200,
  schema: 'ReadingAnswer',
  body: isCheck ? checkBody({ recordedAt: exampleMs, usage }) : successBody(exampleMs),
  headers: { ...withKey(), ...keepAlive },
})

const acceptedBatches = (isCheck: boolean): readonly ExampleAnswer[] => {
  const { item, request } = itemExamples.invalid_type
  const happened = isCheck ? 'would be stored' : 'stored'
  const accepted = { recordedAt: exampleMs }
  const common = { schema: 'BatchAnswer', headers: { ...withKey(), ...keepAlive } } as const
  const prefix = isCheck ? 'would_be_' : ''
  const whole = batchBody({ accepted, rejected: [] }, exampleReadings.length, happened)
  const partly = batchBody({ accepted, rejected: [{ index: 1, refusal: item }] }, 1, happened)
  const body = `{"readings":[${JSON.stringify(exampleReading)},${request.body}]}`
  return [
    { ...common, name: `${prefix}stored`, status: 200, body: whole },
    { ...common, name: `${prefix}stored_in_part`, status: 207, body: partly, request: { body } },
  ]
}

export const refusedAnswers = ({ of, isCheck }: Endpoint): readonly ExampleAnswer[] =>
  Object.values(refusalExamples).flatMap(({ refusal, request, isOfStoring }): readonly ExampleAnswer[] => {
    const example = refusal(of)
    if (example === null || (isCheck && isOfStoring === true)) return []
    const { status, code, body, headers } = problemOf(example)
    const isUnknownKey = status === 401 || example.kind === 'ambiguous_host' || example.kind === 'internal_error'
    return [
      {
        name: code,
        status,
        schema: status === 401 ? 'KeyRefusal' : example.kind === 'batch_rejected' ? 'BatchRefusal' : 'Refusal',
        body,
        headers: { ...(isUnknownKey ? withoutKey : withKey()), ...headers },
        request,
      },
    ]
  })

const ok: ExampleAnswer = { name: 'yes', schema: 'YesOrNo', ...okAnswer }

const refusedLook = ({ code, status, body, headers }: Problem, request: ExampleRequest): ExampleAnswer => ({
  name: code,
  status,
  schema: 'Refusal',
  body,
  headers: { ...jsonHeaders, ...headers },
  request,
})

const refusedLooks = [
  refusedLook(problemOf({ kind: 'ambiguous_host' }), twoHosts),
  refusedLook(onlyLooked, { method: 'POST' }),
]

const no: ExampleAnswer = { name: 'no', schema: 'YesOrNo', ...unreadyAnswer }

export const liveAnswers = [ok, ...refusedLooks]
export const readyAnswers = [ok, no, ...refusedLooks]

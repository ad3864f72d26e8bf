import type { Accepted, Checked } from '../../actors/core-interface.ts'
import { secondText } from '../../domain/calendar.ts'
import type { RejectedItem } from '../../domain/refusal.ts'
import { itemErrors, readingsWords } from '../problem.ts'

/** All answers of one second have the same text, so it is made once a second. */
export const successBody = (acceptedAtMs: number): string => {
  const second = Math.floor(acceptedAtMs / 1_000)
  if (second === bodySecond) return body
  const timestamp = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`
  bodySecond = second
  body = JSON.stringify({ status: 'success', message: 'Reading stored.', timestamp })
  return body
}

let bodySecond = Number.NaN
let body = ''

export const checkBody = ({ recordedAt }: Checked): string =>
  JSON.stringify({ status: 'success', message: 'Reading would be stored.', timestamp: secondText(recordedAt) })

type BatchAnswer = { readonly accepted: Pick<Accepted, 'recordedAt'>; readonly rejected: readonly RejectedItem[] }

export const batchBody = (
  { accepted, rejected }: BatchAnswer,
  count: number,
  happened: 'stored' | 'would be stored',
): string => {
  const stored = `${readingsWords(count)} ${happened}`
  return JSON.stringify({
    status: rejected.length === 0 ? 'success' : 'partial',
    message: rejected.length === 0 ? `${stored}.` : `${stored}, ${rejected.length} refused.`,
    accepted: count,
    rejected: rejected.length,
    timestamp: secondText(accepted.recordedAt),
    errors: itemErrors(rejected),
  })
}

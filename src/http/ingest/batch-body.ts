import type { Accepted } from '../../actors/core.ts'
import { secondText } from '../../domain/instant.ts'
import type { RejectedItem } from '../../domain/refusal.ts'
import { itemErrors, readingsWords } from '../problem.ts'

/** A batch of which at least one reading is stored. */
export type AcceptedBatch = { readonly accepted: Accepted; readonly rejected: readonly RejectedItem[] }

/** The body of a 200 and of a 207 (docs/contract.md, "Many readings"). */
export const batchBody = ({ accepted, rejected }: AcceptedBatch): string => {
  const count = accepted.last - accepted.first + 1
  const stored = `${readingsWords(count)} stored`
  return JSON.stringify({
    status: rejected.length === 0 ? 'success' : 'partial',
    message: rejected.length === 0 ? `${stored}.` : `${stored}, ${rejected.length} refused.`,
    accepted: count,
    rejected: rejected.length,
    timestamp: secondText(accepted.recordedAt),
    errors: itemErrors(rejected),
  })
}

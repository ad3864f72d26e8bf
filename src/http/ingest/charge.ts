import type { ReadingRefusal } from '../../domain/refusal.ts'
import { costItemsPerRequest, storedReadingBytesMax } from '../../limits.ts'
import type { ApiDeps, Visit } from './api.ts'
import type { AcceptedBatch } from './batch-body.ts'
import type { Cost } from './cost-budgets.ts'

/** Takes the cost of a request from its key's budget, once for each request. */
export const charge = ({ core, costBudgets }: ApiDeps, visit: Visit, cost: Cost): void => {
  if (visit.isCharged || (cost.requests === 0 && cost.bytes === 0)) return
  visit.isCharged = true
  const { key } = visit
  costBudgets.charge(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now(), cost)
}

/**
 * A refusal costs one request and the bytes of its body. A fault of ours costs nothing: after an outage the key's devices
 * would be refused for what they did not cause. Nor does the 429 of an empty budget: a device that goes on sending would
 * never get out of it.
 */
export const costOfRefusal = (refusal: ReadingRefusal, { bodyBytes }: Visit): Cost => {
  switch (refusal.kind) {
    case 'internal_error':
    case 'store_unavailable':
    case 'storage_full':
    case 'overloaded':
      return nothing
    case 'rate_limited':
      return refusal.window === 'cost' ? nothing : { requests: 1, bytes: bodyBytes }
    case 'batch_rejected':
      return { requests: requestsFor(refusal.rejected.length), bytes: bodyBytes }
    default:
      return { requests: 1, bytes: bodyBytes }
  }
}

/** A repeat costs one request and the bytes of its body. */
export const costOfRepeat = ({ bodyBytes }: Visit): Cost => ({ requests: 1, bytes: bodyBytes })

/** A batch costs its refused items, and the bytes that its stored readings do not account for. */
export const costOfBatch = ({ accepted, rejected }: AcceptedBatch, { bodyBytes }: Visit): Cost => {
  const stored = accepted.last - accepted.first + 1
  return { requests: requestsFor(rejected.length), bytes: Math.max(0, bodyBytes - stored * storedReadingBytesMax) }
}

const nothing: Cost = { requests: 0, bytes: 0 }

/** A client that went away before its body was whole. */
export const oneRequest: Cost = { requests: 1, bytes: 0 }

const requestsFor = (items: number): number => Math.ceil(items / costItemsPerRequest)

import type { KeyState } from '../../domain/key.ts'
import type { ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import type { AcceptedBatch, ApiCall, ApiDeps } from './api-call.ts'
import type { Cost } from './cost-budgets.ts'

/** Unpacking one byte can take as long as parsing this number of bytes. */
const costPerPackedByte = 8
/** This number of refused items costs as much as one refused request, because the items share one HTTP request. */
const costItemsPerRequest = 100
/**
 * This number of body bytes is free for each stored reading. A valid reading is longer only with escapes, spaces or unknown
 * fields.
 */
export const storedReadingBytesMax = 2_048

export const costOfRefusal = (refusal: ReadingRefusal, call: ApiCall): Cost => {
  switch (refusal.kind) {
    // These cost nothing. Otherwise a device that retries during an outage would be refused after it.
    case 'internal_error':
    case 'store_unavailable':
    case 'storage_full':
    case 'overloaded':
      return nothing
    case 'rate_limited':
      // An empty budget costs nothing more. Otherwise it would stay empty while the device continues.
      return refusal.window === 'cost' ? nothing : { requests: 1, bytes: bytesOf(call) }
    case 'batch_rejected':
      return { requests: requestsFor(refusal.rejected.length), bytes: bytesOf(call) }
    default:
      return { requests: 1, bytes: bytesOf(call) }
  }
}

export const costOfRepeat = (call: ApiCall): Cost => ({ requests: 1, bytes: bytesOf(call) })

/** A reading that is not packed is free: its 16 KiB take less time than the rest of the request. */
export const costOfPackedReading = (call: ApiCall): Cost => ({
  requests: 0,
  bytes: Math.max(0, call.packedBytes * costPerPackedByte - storedReadingBytesMax),
})

export const costOfBatch = ({ accepted, rejected }: AcceptedBatch, call: ApiCall): Cost => {
  const stored = accepted.last - accepted.first + 1
  return { requests: requestsFor(rejected.length), bytes: Math.max(0, bytesOf(call) - stored * storedReadingBytesMax) }
}

/** A check stores nothing, so its whole body counts. */
export const costOfCheck = (rejected: readonly RejectedItem[] | null, call: ApiCall): Cost => ({
  requests: Math.max(1, requestsFor(rejected?.length ?? 0)),
  bytes: bytesOf(call),
})

export const costOfBrokenConnection: Cost = { requests: 1, bytes: 0 }

const bytesOf = ({ bodyBytes, packedBytes }: ApiCall): number => Math.max(bodyBytes, packedBytes * costPerPackedByte)

const nothing: Cost = { requests: 0, bytes: 0 }

const requestsFor = (items: number): number => Math.ceil(items / costItemsPerRequest)

/** A second call for the same request does nothing. */
export const chargeOnce = ({ core, costBudgets }: ApiDeps, call: ApiCall, cost: Cost): void => {
  if (call.isCharged || (cost.requests === 0 && cost.bytes === 0)) return
  call.isCharged = true
  const { key } = call
  costBudgets.charge(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now(), cost)
}

export const emptyBudgetRefusal = ({ core, costBudgets }: ApiDeps, key: KeyState): ReadingRefusal | null =>
  costBudgets.has(key.keyId)
    ? costBudgets.refusal(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now())
    : null

import type { KeyState } from '../../domain/key.ts'
import type { ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import type { AcceptedBatch, ApiCall, ApiDeps } from './api-call.ts'
import type { Cost } from './cost-budgets.ts'

/** A byte of a gzip body costs as much as this number of plain bytes, because unpacking can take as long as parsing those. */
const costPerPackedByte = 8
/** This number of refused readings in a batch costs as much as one refused request, because they share one HTTP request. */
const costItemsPerRequest = 100
/**
 * For each stored reading of a batch, this number of body bytes costs nothing. A valid reading takes more bytes only if its
 * JSON has escapes, spaces or unknown fields.
 */
export const storedReadingBytesMax = 2_048

/** Returns what a refused request costs the key's budget (docs/devices.md, "Requests that store nothing"). */
export const costOfRefusal = (refusal: ReadingRefusal, call: ApiCall): Cost => {
  switch (refusal.kind) {
    // These refusals cost nothing. Otherwise a device that retries during an outage would be refused when the outage is over.
    case 'internal_error':
    case 'store_unavailable':
    case 'storage_full':
    case 'overloaded':
      return nothing
    case 'rate_limited':
      // A refusal because of an empty budget costs nothing. Otherwise the budget would stay empty while the device continues.
      return refusal.window === 'cost' ? nothing : { requests: 1, bytes: bytesOf(call) }
    case 'batch_rejected':
      return { requests: requestsFor(refusal.rejected.length), bytes: bytesOf(call) }
    default:
      return { requests: 1, bytes: bytesOf(call) }
  }
}

export const costOfRepeat = (call: ApiCall): Cost => ({ requests: 1, bytes: bytesOf(call) })

/** A single reading that is not packed costs nothing: its 16 KiB take less time than the rest of the request. */
export const costOfPackedReading = (call: ApiCall): Cost => ({
  requests: 0,
  bytes: Math.max(0, call.packedBytes * costPerPackedByte - storedReadingBytesMax),
})

export const costOfBatch = ({ accepted, rejected }: AcceptedBatch, call: ApiCall): Cost => {
  const stored = accepted.last - accepted.first + 1
  return { requests: requestsFor(rejected.length), bytes: Math.max(0, bytesOf(call) - stored * storedReadingBytesMax) }
}

/** A check stores nothing, so its whole body counts. Refused items count as in a batch, but a check costs at least one request. */
export const costOfCheck = (rejected: readonly RejectedItem[] | null, call: ApiCall): Cost => ({
  requests: Math.max(1, requestsFor(rejected?.length ?? 0)),
  bytes: bytesOf(call),
})

export const costOfBrokenConnection: Cost = { requests: 1, bytes: 0 }

const bytesOf = ({ bodyBytes, packedBytes }: ApiCall): number => Math.max(bodyBytes, packedBytes * costPerPackedByte)

const nothing: Cost = { requests: 0, bytes: 0 }

const requestsFor = (items: number): number => Math.ceil(items / costItemsPerRequest)

/**
 * Takes the cost of a request from the key's budget. A second call for the same request does nothing, so that no request is
 * charged twice.
 */
export const chargeOnce = ({ core, costBudgets }: ApiDeps, call: ApiCall, cost: Cost): void => {
  if (call.isCharged || (cost.requests === 0 && cost.bytes === 0)) return
  call.isCharged = true
  const { key } = call
  costBudgets.charge(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now(), cost)
}

/** Returns a refusal (a 429) if the key's cost budget is empty, and `null` if it is not. */
export const emptyBudgetRefusal = ({ core, costBudgets }: ApiDeps, key: KeyState): ReadingRefusal | null =>
  costBudgets.has(key.keyId)
    ? costBudgets.refusal(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now())
    : null

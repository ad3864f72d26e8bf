import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Limit } from '../../domain/events.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'

/** Requests that store nothing may come at the key's rate limit divided by this. */
const costLimitDivisor = 10
const costRequestsPerSecondMin = 100
const costRequestsPerSecondMax = 10_000
/** Unpacked bytes that the budget allows for each request that it allows. */
const costBytesPerRequest = 640
const costSavedMsMax = 60_000
/**
 * A hundred bytes each. A further key replaces the key that was charged longest ago, which then has a full budget again.
 */
const costBudgetsMax = 10_000

/** `bytes`: unpacked, or `costPerPackedByte` times the packed size, if that is more. */
export type Cost = { readonly requests: number; readonly bytes: number }

/**
 * `bytes` can be negative, because the size of a body is known only after reading. `requests` never is: a device that sends
 * to a full rate window would still be refused after the window has room again.
 */
type Budget = { requests: number; bytes: number; atMs: number }

/**
 * docs/decisions/018-authentication-and-cost-budgets.md. A key without an entry has a full budget, as every key has after a
 * restart.
 */
export class CostBudgets {
  readonly #byKey: BoundedMap<string, Budget>

  constructor(keysMax: number = costBudgetsMax) {
    this.#byKey = new BoundedMap(keysMax)
  }

  has(keyId: string): boolean {
    return this.#byKey.has(keyId)
  }

  refusal(keyId: string, limit: Limit, now: number): ReadingRefusal | null {
    const budget = this.#byKey.get(keyId)
    if (budget === undefined) return null
    const rate = refillPerSecond(limit)
    refill(budget, rate, now)
    const missingMs = Math.max((1 - budget.requests) / rate.requests, (1 - budget.bytes) / rate.bytes) * 1_000
    if (missingMs <= 0) return null
    return { kind: 'rate_limited', retryAfterMs: missingMs, window: 'cost', allowed: rate }
  }

  charge(keyId: string, limit: Limit, now: number, cost: Cost): void {
    const rate = refillPerSecond(limit)
    const budget = this.#byKey.get(keyId) ?? fullBudget(rate, now)
    refill(budget, rate, now)
    budget.requests = Math.max(0, budget.requests - cost.requests)
    budget.bytes -= cost.bytes
    this.#byKey.set(keyId, budget)
  }
}

const refillPerSecond = ({ readings, windowMs }: Limit): Cost => {
  const share = (readings * 1_000) / windowMs / costLimitDivisor
  const requests = Math.min(costRequestsPerSecondMax, Math.max(costRequestsPerSecondMin, share))
  return { requests, bytes: requests * costBytesPerRequest }
}

const savedSeconds = costSavedMsMax / 1_000

const fullBudget = (rate: Cost, atMs: number): Budget => ({
  requests: rate.requests * savedSeconds,
  bytes: rate.bytes * savedSeconds,
  atMs,
})

/** If the clock was set back, adds nothing: a negative time would reduce the budget. */
const refill = (budget: Budget, rate: Cost, now: number): void => {
  const seconds = Math.max(0, now - budget.atMs) / 1_000
  budget.requests = Math.min(rate.requests * savedSeconds, budget.requests + seconds * rate.requests)
  budget.bytes = Math.min(rate.bytes * savedSeconds, budget.bytes + seconds * rate.bytes)
  budget.atMs = now
}

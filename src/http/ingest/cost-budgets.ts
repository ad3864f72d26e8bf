import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Limit } from '../../domain/events.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'

/**
 * A key may send requests that store nothing, such as refused ones, at a tenth of its rate limit. The next two bounds limit
 * this rate.
 */
const costLimitDivisor = 10
const costRequestsPerSecondMin = 100
const costRequestsPerSecondMax = 10_000
/** For each request that a cost budget allows, it also allows this number of bytes of unpacked bodies. */
const costBytesPerRequest = 640
const costSavedMsMax = 60_000
/**
 * Keys whose cost budget stays in memory, at 100 bytes each. A further key replaces the key that was charged longest ago, which
 * then has a full budget again.
 */
const costBudgetsMax = 10_000

/**
 * The cost of a request. `bytes` is the size of its unpacked body, or `costPerPackedByte` times that of its packed body, if that is
 * more.
 */
export type Cost = { readonly requests: number; readonly bytes: number }

/**
 * The rest of a key's budget at the time `atMs`. `bytes` can be negative, because the size of a body is known only after
 * reading. `requests` is never negative. Otherwise a device that sends to a full rate window would still be refused after the
 * window has room again.
 */
type Budget = { requests: number; bytes: number; atMs: number }

/**
 * The budget of each key for requests that store nothing (docs/devices.md, "Requests that store nothing"). A key without an
 * entry has a full budget. Budgets exist only in memory, so after a restart every budget is full.
 */
export class CostBudgets {
  /** By key id. When the map is full, a new key replaces the key that was charged longest ago. */
  readonly #byKey: BoundedMap<string, Budget>

  constructor(keysMax: number = costBudgetsMax) {
    this.#byKey = new BoundedMap(keysMax)
  }

  has(keyId: string): boolean {
    return this.#byKey.has(keyId)
  }

  /** Returns a refusal (a 429) if the key's budget is empty, and `null` if it is not. */
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

/**
 * Adds what the budget earned since `atMs`, its last refill. If the clock was set back, adds nothing: a negative time would
 * reduce the budget.
 */
const refill = (budget: Budget, rate: Cost, now: number): void => {
  const seconds = Math.max(0, now - budget.atMs) / 1_000
  budget.requests = Math.min(rate.requests * savedSeconds, budget.requests + seconds * rate.requests)
  budget.bytes = Math.min(rate.bytes * savedSeconds, budget.bytes + seconds * rate.bytes)
  budget.atMs = now
}

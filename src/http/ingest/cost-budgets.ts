import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Limit } from '../../domain/events.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import {
  costBudgetsMax,
  costBytesPerRequest,
  costLimitDivisor,
  costRequestsPerSecondMax,
  costRequestsPerSecondMin,
  costSavedMsMax,
} from '../../limits.ts'

/** `bytes` counts the body after gunzip. */
export type Cost = { readonly requests: number; readonly bytes: number }

/**
 * What is left of a budget at `atMs`. Bytes may be negative, because the cost of a body is known only after it was read. Requests
 * stop at 0: while the rate window is full, a device that continues would get deeper and deeper into debt.
 */
type Budget = { requests: number; bytes: number; atMs: number }

/**
 * What each key may still spend on requests that store nothing (docs/devices.md, "Requests that store nothing"). A key without
 * an entry has a full budget. Budgets exist only in memory, so a restart fills them.
 */
export class CostBudgets {
  /** A full map drops the key that was charged longest ago. */
  readonly #byKey: BoundedMap<string, Budget>

  constructor(keysMax: number = costBudgetsMax) {
    this.#byKey = new BoundedMap(keysMax)
  }

  has(keyId: string): boolean {
    return this.#byKey.has(keyId)
  }

  /** Returns the refusal for an empty budget (a 429), or `null` if the key may go on. */
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

/** If the clock was set back, the budget gets nothing this time, instead of losing something. */
const refill = (budget: Budget, rate: Cost, now: number): void => {
  const seconds = Math.max(0, now - budget.atMs) / 1_000
  budget.requests = Math.min(rate.requests * savedSeconds, budget.requests + seconds * rate.requests)
  budget.bytes = Math.min(rate.bytes * savedSeconds, budget.bytes + seconds * rate.bytes)
  budget.atMs = now
}

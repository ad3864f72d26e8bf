import type { Limit } from '../../domain/events.ts'
import { RateWindow } from '../../domain/rate-window.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { refusalWindowFactor, refusalWindowsMax } from '../../limits.ts'

/**
 * Refusals of a valid key are limited too, at ten times its limit, so that a device which loops on a 400 meets a 429
 * (decisions, "Rate limiting"). In memory only. The key refused longest ago gives way, and begins anew if it comes back.
 */
export class RefusalWindows {
  readonly #byKey = new Map<string, RateWindow>()

  constructor(readonly keysMax: number = refusalWindowsMax) {}

  /** The 429 of a key that was refused too often; `null` lets it through. */
  refusal(keyId: string, limit: Limit, now: number): ReadingRefusal | null {
    const window = this.#byKey.get(keyId)
    if (window === undefined || window.windowMs !== limit.windowMs) return null
    const readings = limit.readings * refusalWindowFactor
    if (window.used(now) < readings) return null
    const retryAfterMs = window.retryAfterMs(now, readings)
    return { kind: 'rate_limited', limit: { readings, windowMs: limit.windowMs }, retryAfterMs, window: 'refusals' }
  }

  count(keyId: string, limit: Limit, now: number): void {
    const known = this.#byKey.get(keyId)
    const window = known?.windowMs === limit.windowMs ? known : new RateWindow(limit.windowMs)
    // A clock that was set back counts at the latest time seen, as everywhere.
    window.record(Math.max(now, window.latestMs), 1)
    this.#byKey.delete(keyId)
    this.#byKey.set(keyId, window)
    if (this.#byKey.size <= this.keysMax) return
    for (const longestAgo of this.#byKey.keys()) {
      this.#byKey.delete(longestAgo)
      return
    }
  }
}

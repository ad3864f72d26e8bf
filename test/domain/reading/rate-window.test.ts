import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RateWindow } from '../../../src/domain/reading/rate-window.ts'

const start = Date.UTC(2026, 2, 1, 12)

type Step = { readonly waitMs: number; readonly readings: number }

const steps = (windowMs: number) =>
  fc.array(
    fc.record({
      waitMs: fc.oneof(
        fc.nat({ max: 3 }),
        fc.nat({ max: Math.ceil(windowMs / 20) }),
        fc.nat({ max: 2 * windowMs }),
        fc.constantFrom(windowMs - 1, windowMs, windowMs + 1),
      ),
      readings: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 120 },
  )

const runs = fc
  .record({ windowMs: fc.integer({ min: 1_000, max: 100_000 }), limit: fc.integer({ min: 1, max: 40 }) })
  .chain((policy) => fc.record({ policy: fc.constant(policy), steps: steps(policy.windowMs) }))

/** Offers readings to a window. After each one, `look` gets the verdict and the times of all accepted readings. */
const offer = (
  { windowMs, limit }: { readonly windowMs: number; readonly limit: number },
  steps: readonly Step[],
  look: (at: { window: RateWindow; now: number; accepted: readonly number[]; admitted: boolean }) => void,
): void => {
  const window = new RateWindow(windowMs)
  const accepted: number[] = []
  let now = start
  for (const step of steps) {
    now += step.waitMs
    for (let index = 0; index < step.readings; index += 1) {
      const admitted = window.used(now) < limit
      if (admitted) {
        window.record(now, 1)
        accepted.push(now)
      }
      look({ window, now, accepted, admitted })
    }
  }
}

const within = (times: readonly number[], now: number, ms: number): number => times.filter((at) => at > now - ms).length

describe('RateWindow', () => {
  test('never admits more than the limit in any window', () => {
    fc.assert(
      fc.property(runs, ({ policy, steps }) => {
        offer(policy, steps, ({ now, accepted }) => {
          expect(within(accepted, now, policy.windowMs)).toBeLessThanOrEqual(policy.limit)
        })
      }),
    )
  })

  test('refuses only at the limit within 128/127 of the window', () => {
    fc.assert(
      fc.property(runs, ({ policy, steps }) => {
        offer(policy, steps, ({ now, accepted, admitted }) => {
          if (admitted) return
          expect(within(accepted, now, Math.ceil((policy.windowMs * 128) / 127))).toBeGreaterThanOrEqual(policy.limit)
        })
      }),
    )
  })

  test('admits at least 127/128 of the limit in each window', () => {
    const window = new RateWindow(64_000)
    let accepted = 0
    for (let now = start; now < start + 64_000 * 20; now += 10) {
      if (window.used(now) >= 1_000) continue
      window.record(now, 1)
      accepted += 1
    }
    expect(accepted).toBeLessThanOrEqual(20 * 1_000)
    expect(accepted).toBeGreaterThanOrEqual(20 * 1_000 * (127 / 128))
  })

  test('counts a burst exactly until it leaves', () => {
    const window = new RateWindow(60_000)
    window.record(start + 7, 5)
    expect(window.used(start + 7 + 59_999)).toBe(5)
    expect(window.resetMs(start + 7 + 59_999)).toBe(1)
    expect(window.used(start + 7 + 60_000)).toBe(0)
    expect(window.resetMs(start + 7 + 60_000)).toBe(0)
  })

  test('knows exactly when one or several more are admitted', () => {
    fc.assert(
      fc.property(
        runs,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 5 }),
        ({ policy, steps }, lowered, more) => {
          offer(policy, steps, ({ window, now }) => {
            const waitMs = window.retryAfterMs(now, lowered, more)
            if (window.used(now) + more <= lowered) expect(waitMs).toBe(0)
            else expect(waitMs).toBeGreaterThan(0)
          })
          let last = start
          let window = new RateWindow(policy.windowMs)
          offer(policy, steps, (at) => {
            last = at.now
            window = at.window
          })
          const waitMs = window.retryAfterMs(last, lowered, more)
          expect(waitMs).toBeLessThanOrEqual(policy.windowMs)
          if (waitMs === 0 || more > lowered) return
          expect(window.used(last + waitMs - 1) + more).toBeGreaterThan(lowered)
          expect(window.used(last + waitMs) + more).toBeLessThanOrEqual(lowered)
        },
      ),
    )
  })

  test('is the same after a reload from firstCountedMs()', () => {
    fc.assert(
      fc.property(runs, ({ policy, steps }) => {
        offer(policy, steps, ({ window, now, accepted }) => {
          const again = new RateWindow(policy.windowMs)
          for (const at of accepted) if (at >= again.firstCountedMs(now)) again.record(at, 1)
          expect(again.used(now)).toBe(window.used(now))
          expect(again.resetMs(now)).toBe(window.resetMs(now))
        })
      }),
    )
  })

  test('counts reserved readings until they are given back', () => {
    const window = new RateWindow(60_000)
    window.reserve(3, start)
    expect(window.used(start)).toBe(3)
    expect(window.resetMs(start)).toBe(60_000)
    expect(window.retryAfterMs(start, 3)).toBe(60_000)
    window.giveBack(1)
    window.giveBack(2)
    expect(window.used(start)).toBe(0)
    expect(() => window.giveBack(1)).toThrow('0 are reserved')
  })

  test('keeps the time of the last reservation', () => {
    const window = new RateWindow(60_000)
    window.record(start, 1)
    expect(window.reservedAtMs).toBe(0)
    window.reserve(1, start + 1)
    window.giveBack(1)
    window.record(start + 2, 1)
    expect(window.reservedAtMs).toBe(start + 1)
  })

  test('counts a reading by its own time, not by the time of its record()', () => {
    const window = new RateWindow(60_000)
    window.reserve(1, start)
    expect(window.used(start + 5_000)).toBe(1)
    window.giveBack(1)
    window.record(start, 1)
    expect(window.used(start + 59_999)).toBe(1)
    expect(window.used(start + 60_000)).toBe(0)
    window.record(start, 1)
    expect(window.used(start + 60_000)).toBe(0)
  })

  test('counts the same after a question about a later time', () => {
    fc.assert(
      fc.property(runs, fc.nat({ max: 300_000 }), ({ policy, steps }, aheadMs) => {
        offer(policy, steps, ({ window, now }) => {
          const seen = () => [window.used(now), window.resetMs(now), window.retryAfterMs(now, 1), window.latestMs]
          const before = seen()
          window.used(now + aheadMs)
          window.resetMs(now + aheadMs)
          window.retryAfterMs(now + aheadMs, 1)
          expect(seen()).toEqual(before)
        })
      }),
    )
  })

  test.each([
    ['a reservation', (window: RateWindow) => window.reserve(1, start + 60_000)],
    ['a reading', (window: RateWindow) => window.record(start + 60_000, 1)],
    ['a load', (window: RateWindow) => window.leaveUntil(start + 60_000)],
  ])('forgets for ever what had left by the time of %s', (_, letGo) => {
    const window = new RateWindow(60_000)
    window.record(start, 1)
    letGo(window)
    const used = window.used(start + 60_000)
    expect(used).toBeLessThanOrEqual(1)
    expect(window.used(start)).toBe(used)
    expect(window.latestMs).toBe(start + 60_000)
    expect(window.resetMs(start)).toBe(window.resetMs(start + 60_000))
  })
})

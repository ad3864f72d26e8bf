import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clockStandMs, clockStepMsMax, SteadyClock } from '../../../src/actors/time/steady-clock.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

const opened = () => {
  const machine = manualClock()
  return { machine, clock: new SteadyClock(machine), start: machine.now() }
}

describe('SteadyClock', () => {
  test('is the machine’s clock while time passes, however long nobody asked', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 10 ** 9 })), (waitsMs) => {
        const { machine, clock } = opened()
        for (const waitMs of waitsMs) {
          machine.advance(waitMs)
          expect(clock.now()).toBe(machine.now())
        }
      }),
    )
  })

  test('follows a step of one second at once, and no longer step', () => {
    for (const [aheadMs, believedMs] of [
      [clockStepMsMax, clockStepMsMax],
      [clockStepMsMax + 1, 0],
    ] as const) {
      const { machine, clock, start } = opened()
      machine.leap(aheadMs)
      expect(clock.now()).toBe(start + believedMs)
      expect(clock.leapMs()).toBe(aheadMs - believedMs)
    }
  })

  test('goes on as before during a leap, and is right afterwards', () => {
    const { machine, clock, start } = opened()
    machine.leap(3_600_000)
    for (let passed = 1; passed < clockStandMs; passed += 1) {
      clock.now()
      machine.advance(1)
      expect(clock.now()).toBe(start + passed)
    }
    machine.leap(-3_600_000)
    expect(clock.now()).toBe(machine.now())
    expect(clock.leapMs()).toBe(0)
  })

  test('believes a leap after five seconds, and not a millisecond earlier', () => {
    const { machine, clock, start } = opened()
    machine.leap(3_600_000)
    clock.now()
    machine.advance(clockStandMs - 1)
    expect(clock.now()).toBe(start + clockStandMs - 1)
    machine.advance(1)
    expect(clock.now()).toBe(machine.now())
    expect(clock.leapMs()).toBe(0)
  })

  test.each([3_600_000, -1_800_000, clockStepMsMax + 1])(
    'begins to wait anew when the clock is set again, by %d ms',
    (againMs) => {
      const { machine, clock, start } = opened()
      machine.leap(3_600_000)
      clock.now()
      machine.advance(clockStandMs - 1)
      machine.leap(againMs)
      clock.now()
      machine.advance(clockStandMs - 1)
      expect(clock.now()).toBe(start + 2 * (clockStandMs - 1))
      machine.advance(1)
      expect(clock.now()).toBe(machine.now())
    },
  )

  test('lets a second leap wait as long as the first', () => {
    for (const isBelieved of [true, false]) {
      const { machine, clock } = opened()
      machine.leap(3_600_000)
      clock.now()
      if (!isBelieved) machine.leap(-3_600_000)
      machine.advance(clockStandMs)
      expect(clock.now()).toBe(machine.now())
      const before = machine.now()
      machine.leap(3_600_000)
      expect(clock.now()).toBe(before)
      machine.advance(clockStandMs - 1)
      expect(clock.now()).toBe(before + clockStandMs - 1)
    }
  })

  test('believes a clock that goes back at once', () => {
    const { machine, clock } = opened()
    machine.leap(-3_600_000)
    expect(clock.now()).toBe(machine.now())
    machine.advance(1)
    expect(clock.now()).toBe(machine.now())
  })

  test('answers whole milliseconds that never go back during a leap', () => {
    let [nowMs, passedMs] = [1_772_366_400_000, 0.75]
    const clock = new SteadyClock({ now: () => nowMs, passedMs: () => passedMs })
    const before = clock.now()
    nowMs += 3_600_000
    for (const ms of [0, 0.3, 0.4, 0.6]) {
      passedMs += ms
      expect(clock.now()).toBe(before + Math.floor(passedMs - 0.75))
    }
  })
})

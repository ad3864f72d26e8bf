import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections, restoreProjections } from '../../projections/projections.ts'
import type { Projections } from '../../projections/queries.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { checkpointPieceBytes } from '../../src/limits.ts'
import { randomHistory } from '../support/random-history.ts'
import { type Draft, Recorder } from '../support/recorder.ts'
import { snapshotOf } from '../support/snapshot.ts'

const now = Date.UTC(2026, 2, 1, 12)

const folded = (events: readonly RecordedEvent[], into: Projections = createProjections()): Projections => {
  into.fold(events)
  return into
}

/** Copies each piece, because the next piece overwrites it. */
const kept = (pieces: Iterable<Uint8Array>): readonly Uint8Array[] => Array.from(pieces, (piece) => piece.slice())

const hashOf = (projections: Projections): string => Bun.SHA256.hash(Buffer.concat(kept(projections.save())), 'hex')

const expectSame = (one: Projections, other: Projections, events: readonly RecordedEvent[]): void => {
  expect(hashOf(one)).toBe(hashOf(other))
  expect(snapshotOf(one, events, now)).toEqual(snapshotOf(other, events, now))
}

const reading = (value: number): Draft => ({
  type: 'ReadingAccepted',
  data: { cellar: 'c', rack: 'r', keg: 'k', value, timestamp: '2026-03-01T12:00:00Z' },
})

describe('a saved state', () => {
  test('and the later events equal a replay, byte for byte', () => {
    fc.assert(
      fc.property(randomHistory(60), (events) => {
        const whole = folded(events)
        const growing = createProjections()
        for (let cut = 0; cut <= events.length; cut += 1) {
          const restored = restoreProjections(kept(growing.save()))
          expect(hashOf(restored)).toBe(hashOf(growing))
          expectSame(folded(events.slice(cut), restored), whole, events)
          growing.fold(events.slice(cut, cut + 1))
        }
      }),
      { numRuns: 10 },
    )
  }, 600_000)

  test('shows its first moment, although events are folded during the save', () => {
    fc.assert(
      fc.property(randomHistory(200), fc.nat(200), fc.integer({ min: 1, max: 8 }), (events, at, perPiece) => {
        const cut = Math.min(at, events.length)
        const live = folded(events.slice(0, cut))
        const pieces: Uint8Array[] = []
        let next = cut
        for (const piece of live.save(64)) {
          pieces.push(piece.slice())
          live.fold(events.slice(next, next + perPiece))
          next += perPiece
        }
        live.fold(events.slice(next))
        const restored = restoreProjections(pieces)
        expectSame(restored, folded(events.slice(0, cut)), events)
        expectSame(folded(events, restored), live, events)
        expectSame(live, folded(events), events)
      }),
      { numRuns: 200 },
    )
  }, 600_000)

  test('has pieces of bounded length, and may be abandoned', () => {
    const recorder = new Recorder(now)
    for (let number = 0; number < 20_000; number += 1) recorder.record(`readings-${number}`, reading(number))
    const live = folded(recorder.events)
    const begun = live.save()
    begun.next()
    begun.return(undefined)
    const pieces = kept(live.save())
    expect(pieces.length).toBeGreaterThan(2)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(checkpointPieceBytes + 4_096)
    expectSame(restoreProjections(pieces), live, recorder.events)
  })

  test('is refused if it is cut short or has an unknown entry', () => {
    const recorder = new Recorder(now)
    recorder.record('readings-k', reading(1))
    const saved = Buffer.concat(kept(folded(recorder.events).save()))
    expect(() => restoreProjections([saved.subarray(0, -1)])).toThrow(RangeError)
    expect(() => restoreProjections([Buffer.concat([saved, Buffer.from([99])])])).toThrow('unknown kind 99')
  })
})

import { expect } from 'bun:test'
import type { Limit, RecordedEvent } from '../../src/domain/events.ts'
import { keyLimitDefault } from '../../src/limits.ts'

/**
 * Implements the rules of the protocol with plain lists of events, without the folds and actors of the real code. This is
 * slow, but so simple that a mistake is unlikely. The simulation compares the real code with it.
 */
export type NaiveKey = {
  readonly isSuspended: boolean
  readonly isRevoked: boolean
  readonly expiresAt: number | null
  readonly limit: Limit
}

export const statesOf = (key: readonly RecordedEvent[]): readonly NaiveKey[] => {
  let state: NaiveKey = { isSuspended: false, isRevoked: false, expiresAt: null, limit: keyLimitDefault }
  return key.map((event) => {
    if (event.type === 'KeyCreated') {
      state = { ...state, expiresAt: event.data.expiresAt, limit: event.data.limit ?? keyLimitDefault }
    }
    if (event.type === 'KeyExpirySet' || event.type === 'KeySuperseded')
      state = { ...state, expiresAt: event.data.expiresAt }
    if (event.type === 'KeyLimitChanged') state = { ...state, limit: event.data.limit ?? keyLimitDefault }
    if (event.type === 'KeySuspended') state = { ...state, isSuspended: true }
    if (event.type === 'KeyResumed') state = { ...state, isSuspended: false }
    if (event.type === 'KeyRevoked') state = { ...state, isRevoked: true }
    return state
  })
}

export const acceptedIn = (times: readonly number[], now: number, windowMs: number): number =>
  times.filter((at) => at > now - windowMs && at <= now).length

/**
 * Checks that some state of the key allowed each accepted reading. This state may not be older than the last fence
 * before the reading, and not newer than the reading.
 */
export const expectLawful = (key: readonly RecordedEvent[], readings: readonly RecordedEvent[]): void => {
  const states = statesOf(key)
  const revokedAt = key.find(({ type }) => type === 'KeyRevoked')?.position ?? Number.POSITIVE_INFINITY
  const accepted: number[] = []
  let fencedAt = 0
  let isSealed = false
  let recordedAt = 0
  for (const event of readings) {
    // A node writes a seal by its own clock and without reading earlier events. So the time of a seal can be earlier
    // than the times of events before it.
    if (event.type !== 'ReadingsSealed') expect(event.recordedAt).toBeGreaterThanOrEqual(recordedAt)
    recordedAt = event.recordedAt
    if (event.type === 'ReadingsFenced') {
      expect(isSealed).toBe(false)
      fencedAt = Math.max(fencedAt, event.data.keyRevision)
    }
    if (event.type === 'ReadingsSealed') isSealed = true
    if (event.type !== 'ReadingAccepted') continue
    expect(isSealed).toBe(false)
    expect(event.position).toBeLessThan(revokedAt)
    accepted.push(recordedAt)
    const known = key.filter(({ position }) => position < event.position).length
    const inForce = states.slice(fencedAt, known)
    expect(inForce.some((state) => isAdmissible(state, accepted, recordedAt))).toBe(true)
  }
}

const isAdmissible = (state: NaiveKey, accepted: readonly number[], now: number): boolean =>
  !state.isRevoked &&
  !state.isSuspended &&
  (state.expiresAt === null || now < state.expiresAt) &&
  acceptedIn(accepted, now, state.limit.windowMs) <= state.limit.readings

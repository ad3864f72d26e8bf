import fc from 'fast-check'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { cellarStream, operatorStream, setupStream } from '../../src/domain/stream-names.ts'
import { type Draft, Recorder } from './recorder.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const keyIds = ['k1', 'k2', 'k3'] as const
const cellars = ['c', 'Ü\u{1F377}'] as const
const emails = ['ada@example.org', 'Bob@example.org'] as const

const timestamps = [
  '2026-03-01T12:00:00Z',
  '2026-03-01T11:59:59Z',
  '2026-03-01T12:00:00.5+00:00',
  '2026-03-01T12:00:00.123456789Z',
  '1726-03-01T12:00:00Z',
  '9999-12-31T23:59:59Z',
] as const

type Step = { readonly what: number; readonly whom: number; readonly which: number; readonly hard: boolean }

const step = fc.record({
  what: fc.nat(13),
  whom: fc.nat(2),
  which: fc.nat(40),
  hard: fc.boolean(),
})

/** Histories with every kind of event, in any order that the rules allow. Most events are readings. */
export const randomHistory = (stepsMax = 120): fc.Arbitrary<readonly RecordedEvent[]> =>
  fc.array(step, { maxLength: stepsMax, size: 'max' }).map((steps) => {
    const recorder = begun()
    const ended: Ended = { sealed: new Set(), removed: new Set() }
    for (const one of steps) take(recorder, one, ended)
    return recorder.events
  })

/** A history needs these first events: they create the cellars, keys and operators that later events are about. */
const begun = (): Recorder => {
  const recorder = new Recorder(noon)
  recorder.record('cellarbook-log', { type: 'LogCreated', data: { logId: 'log-1' } })
  for (const cellar of cellars) {
    recorder.record(cellarStream(cellar), { type: 'CellarCreated', data: { cellar, title: `The ${cellar}` } })
  }
  for (const [index, keyId] of keyIds.entries()) {
    const cellar = cellars[index % 2] ?? 'c'
    const rest = { label: 'Key', note: 'n', secretHash: 'h', limit: null, expiresAt: null }
    const data = { keyId, cellar, ...rest, predecessorId: index === 0 ? null : (keyIds[0] ?? null) }
    recorder.record(`key-${keyId}`, { type: 'KeyCreated', data })
  }
  for (const email of emails) {
    const data = { email, role: 'admin', passwordHash: 'p', linkHash: null, linkMadeBy: null } as const
    recorder.record(operatorStream(email), { type: 'OperatorAdded', data })
  }
  return recorder
}

/** `sealed` holds the ids of keys whose readings are sealed. `removed` holds the streams of removed operators. */
type Ended = { readonly sealed: Set<string>; readonly removed: Set<string> }

const take = (recorder: Recorder, one: Step, { sealed, removed }: Ended): void => {
  const keyId = keyIds[one.whom] ?? 'k1'
  const stream = streamOf(one, keyId)
  if (stream.startsWith('readings-') && sealed.has(keyId)) return
  // A removed operator cannot act. The next act of this operator becomes `OperatorAdded`, as after a new link.
  const isBack = removed.has(stream) && one.what >= 12 && removed.delete(stream)
  const draft = isBack ? addedAgain(one) : draftOf(one)
  if (draft.type === 'ReadingsSealed') sealed.add(keyId)
  if (draft.type === 'OperatorRemoved') removed.add(stream)
  const by = one.hard ? ({ kind: 'operator', email: emails[0] } as const) : ({ kind: 'system' } as const)
  recorder.record(stream, draft, { by })
}

const streamOf = ({ what, whom, which, hard }: Step, keyId: string): string => {
  if (what <= 6 || what === 7) return `readings-${keyId}`
  if (what <= 9) return `key-${keyId}`
  if (what === 10) return cellarStream(cellars[whom % 2] ?? 'c')
  return what === 11 && hard && which % 2 === 0 ? setupStream : operatorStream(emails[whom % 2] ?? emails[0])
}

const draftOf = ({ what, whom, which, hard }: Step): Draft => {
  const at = noon + 1e6 * (which + 1)
  if (what <= 6) return reading(which, { cellar: cellars[(whom + (hard ? 1 : 0)) % 2] ?? 'c', what })
  if (what === 7) {
    if (which > 35) return { type: 'ReadingsSealed', data: { reason: 'lost\uD800' } }
    return { type: 'ReadingsFenced', data: { keyRevision: which } }
  }
  if (what === 8) return { type: 'KeyRelabelled', data: { label: `L${which}`, note: hard ? '' : '\uD83C\uDF77 x' } }
  if (what === 9) return keyChange(which, at)
  if (what === 10) {
    if (hard && which % 3 === 0)
      return { type: 'CellarUnitSet', data: { keg: `keg-${which % 4}`, unit: which % 2 === 0 ? '°C' : '' } }
    if (hard) return { type: 'CellarRenamed', data: { title: `T${which}` } }
    const limit = which % 2 === 0 ? null : { readings: which, windowMs: 1_000 }
    return {
      type: 'CellarPolicyChanged',
      data: { policy: { limit, readingAgeMsMax: which, readingAheadMsMax: null, retentionMs: null } },
    }
  }
  if (what === 11) {
    const email = hard && which % 2 === 0 ? null : (emails[whom % 2] ?? emails[0])
    return {
      type: 'OperatorLinkIssued',
      data: {
        email,
        role: 'auditor',
        linkHash: `link-${whom}-${which}-${hard}`,
        expiresAt: at,
        purpose: email === null ? 'set_up' : 'invite',
      },
    }
  }
  if (what === 13) {
    if (hard) return { type: 'OperatorRemoved', data: {} }
    return { type: 'OperatorRoleChanged', data: { role: which % 2 === 0 ? 'admin' : 'auditor' } }
  }
  const sessionHash = `session-${whom}-${which}`
  if (hard && which % 2 === 0) return { type: 'OperatorSignedOut', data: { sessionHash } }
  if (hard) return { type: 'OperatorSessionRenewed', data: { sessionHash, idleAt: at } }
  const [deviceHash, seenRevision] = which % 3 === 0 ? [null, null] : [`device-${which % 2}`, which]
  return { type: 'OperatorSignedIn', data: { sessionHash, expiresAt: at, idleAt: at, deviceHash, seenRevision } }
}

const addedAgain = ({ whom }: Step): Draft => {
  const email = emails[whom % 2] ?? emails[0]
  return {
    type: 'OperatorAdded',
    data: { email, role: 'auditor', passwordHash: 'p2', linkHash: 'l', linkMadeBy: 'cli' },
  }
}

const keyChange = (which: number, at: number): Draft => {
  if (which % 16 === 4) return { type: 'KeyRotated', data: { successorId: 'k2', overlapMs: which * 1_000 } }
  if (which % 16 === 12) {
    return { type: 'KeySuperseded', data: { successorId: 'k2', usedAt: at - 1, expiresAt: at } }
  }
  if (which % 4 === 0) return { type: 'KeyExpirySet', data: { expiresAt: which % 8 === 0 ? null : at } }
  if (which % 4 === 1) return { type: 'KeySuspended', data: { reason: 'r' } }
  if (which % 4 === 2) return { type: 'KeyResumed', data: { reason: '' } }
  return { type: 'KeyLimitChanged', data: { limit: { readings: which, windowMs: 60_000 } } }
}

/** There are few names and values, so that some readings are duplicates. */
const reading = (which: number, { cellar, what }: { readonly cellar: string; readonly what: number }): Draft => ({
  type: 'ReadingAccepted',
  data: {
    cellar,
    rack: `rack-${which % 3}`,
    keg: `keg-${what % 4}`,
    value: [0, -0, 21.5, 7e-6, -1e308][which % 5] ?? 1,
    timestamp: timestamps[which % timestamps.length] ?? timestamps[0],
  },
})

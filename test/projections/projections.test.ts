import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { endedSessionsMax } from '../../projections/operator-directory.ts'
import { createProjections } from '../../projections/projections.ts'
import { cellarStream, operatorStream, setupStream } from '../../src/domain/stream-names.ts'
import { keyLimitDefault } from '../../src/limits.ts'
import { type Draft, Recorder } from '../support/recorder.ts'
import { snapshotOf } from '../support/snapshot.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const email = 'ada@example.org'

const keyCreated = (keyId: string, cellar = 'c'): Draft => ({
  type: 'KeyCreated',
  data: { keyId, cellar, label: keyId, note: '', secretHash: 'h', limit: null, expiresAt: null, predecessorId: null },
})
const cellarCreated = (cellar: string, title = cellar): Draft => ({ type: 'CellarCreated', data: { cellar, title } })
const reading = (value: number): Draft => ({
  type: 'ReadingAccepted',
  data: { cellar: 'c', rack: 'r', keg: `k${value % 3}`, value: value % 5, timestamp: '2026-03-01T12:00:00Z' },
})

/** A log with every type of event. */
const fullLog = (): Recorder => {
  const recorder = new Recorder(noon)
  const record = recorder.record.bind(recorder)
  record('cellarbook-log', { type: 'LogCreated', data: { logId: 'l' } })
  record(setupStream, {
    type: 'OperatorLinkIssued',
    data: { email: null, role: 'admin', linkHash: 'setup-1', expiresAt: noon + 1e9, purpose: 'set_up' },
  })
  record(setupStream, { type: 'OperatorLinkUsed', data: { linkHash: 'setup-1', email } })
  const ada = operatorStream(email)
  record(ada, {
    type: 'OperatorAdded',
    data: { email, role: 'admin', passwordHash: 'p', linkHash: null, linkMadeBy: null },
  })
  for (const sessionHash of ['s1', 's2']) {
    const ends = { expiresAt: noon + 1e9, idleAt: noon + 1e8 }
    record(ada, { type: 'OperatorSignedIn', data: { sessionHash, ...ends, deviceHash: 'd1', seenRevision: 7 } })
  }
  record(ada, { type: 'OperatorSignedOut', data: { sessionHash: 's1' } })
  record(ada, {
    type: 'OperatorLinkIssued',
    data: { email, role: 'admin', linkHash: 'lost-1', expiresAt: noon + 1e9, purpose: 'reset' },
  })
  record(ada, { type: 'OperatorSessionRenewed', data: { sessionHash: 's2', idleAt: noon + 1e9 } })
  record(ada, { type: 'OperatorPasswordSet', data: { passwordHash: 'p2', linkHash: 'lost-1', linkMadeBy: 'cli' } })
  record(ada, {
    type: 'OperatorSignedIn',
    data: { sessionHash: 's3', expiresAt: noon + 1e9, idleAt: noon + 1e8, deviceHash: null, seenRevision: null },
  })
  record(cellarStream('c'), cellarCreated('c'))
  record(cellarStream('d'), cellarCreated('d', 'A'))
  record(cellarStream('c'), { type: 'CellarRenamed', data: { title: 'New' } })
  record(cellarStream('c'), {
    type: 'CellarPolicyChanged',
    data: {
      policy: {
        limit: { readings: 3, windowMs: 1_000 },
        readingAgeMsMax: 5,
        readingAheadMsMax: null,
        retentionMs: null,
      },
    },
  })
  record('key-k1', keyCreated('k1'))
  record('key-k2', keyCreated('k2', 'd'))
  for (let value = 0; value < 20; value += 1) record('readings-k1', reading(value))
  record('key-k1', { type: 'KeyRelabelled', data: { label: 'x', note: 'y' } })
  record('key-k1', { type: 'KeyLimitChanged', data: { limit: { readings: 9, windowMs: 1_000 } } })
  record('key-k1', { type: 'KeyExpirySet', data: { expiresAt: noon + 60_000 } })
  record('key-k1', { type: 'KeySuspended', data: { reason: 'r' } })
  record('readings-k1', { type: 'ReadingsFenced', data: { keyRevision: 4 } })
  record('key-k1', { type: 'KeyResumed', data: { reason: '' } })
  record('key-k1', { type: 'KeyExpired', data: { expiresAt: noon + 60_000 } })
  record('readings-k1', { type: 'ReadingsSealed', data: { reason: 'lost' } })
  record('key-k1', { type: 'KeyRevoked', data: { reason: 'lost', sealId: 'event-x' } })
  const range = { keyId: 'k1', firstRevision: 0, lastRevision: 6, readings: 7 }
  const times = { acceptedBefore: noon + 26_000, lastAcceptedAt: noon + 25_000 }
  record(cellarStream('c'), { type: 'ReadingsPurged', data: { cellar: 'c', ...range, ...times } })
  return recorder
}

describe('fold()', () => {
  test('gives the same state from one page, many pages, or repeated pages', () => {
    const { events } = fullLog()
    const whole = createProjections()
    whole.fold(events)
    const expected = snapshotOf(whole, events, noon)
    expect(expected.keys).toHaveLength(2)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 50, maxLength: 50 }), (pages) => {
        const paged = createProjections()
        let from = 0
        for (const length of pages) {
          paged.fold(events.slice(from, from + length))
          paged.fold(events.slice(Math.max(0, from - length), from + length))
          from += length
        }
        expect(snapshotOf(paged, events, noon)).toEqual(expected)
      }),
    )
  })

  test('gives the same state in any order of streams', () => {
    const { events } = fullLog()
    const expected = createProjections()
    expected.fold(events)
    const byStream = createProjections()
    for (const stream of new Set(events.map((event) => event.stream))) {
      byStream.fold(events.filter((event) => event.stream === stream))
    }
    expect(snapshotOf(byStream, events, noon)).toEqual(snapshotOf(expected, events, noon))
  })

  test('throws at a gap in a stream, and changes nothing', () => {
    const { events } = fullLog()
    for (const stream of new Set(events.map((event) => event.stream))) {
      const own = events.filter((event) => event.stream === stream)
      const [first, second, third] = own
      // Streams of readings may have gaps, because readings are purged. `purged-readings.test.ts` tests these gaps.
      if (stream.startsWith('readings-')) continue
      if (first === undefined || second === undefined || third === undefined) continue
      const projections = createProjections()
      expect(() => projections.fold([second])).toThrow(
        `Cannot fold revision 1 of "${stream}": the last one folded is none`,
      )
      projections.fold([first])
      const before = snapshotOf(projections, events, noon)
      expect(() => projections.fold([third])).toThrow(`Cannot fold revision 2 of "${stream}": the last one folded is 0`)
      expect(snapshotOf(projections, events, noon)).toEqual(before)
      projections.fold(own)
      expect(projections.position).toBe(own.at(-1)?.position ?? null)
    }
  })

  test('keeps the highest position', () => {
    const { events } = fullLog()
    const projections = createProjections()
    expect(projections.position).toBeNull()
    projections.fold(events)
    projections.fold(events.slice(0, 3))
    expect(projections.position).toBe(events.length)
  })
})

describe('cellars', () => {
  test('are listed by title, then identifier', () => {
    const recorder = new Recorder()
    const projections = createProjections()
    expect(projections.cellars.list()).toEqual([])
    for (const [cellar, title] of [
      ['z', 'Cellar 10'],
      ['y', 'Cellar 2'],
      ['x', 'Cellar 10'],
      ['__proto__', 'a'],
    ] as const) {
      projections.fold([recorder.record(cellarStream(cellar), cellarCreated(cellar, title))])
      projections.cellars.list()
    }
    expect(projections.cellars.list().map(({ cellar }) => cellar)).toEqual(['__proto__', 'y', 'x', 'z'])
    expect(projections.cellars.get('__proto__')?.title).toBe('a')
    expect(projections.cellars.get('constructor')).toBeNull()
    projections.fold([recorder.record(cellarStream('z'), { type: 'CellarRenamed', data: { title: '0' } })])
    expect(projections.cellars.list()[0]?.cellar).toBe('z')
  })
})

describe('keys', () => {
  test('are listed newest first, of all cellars or of one', () => {
    const recorder = new Recorder()
    const projections = createProjections()
    recorder.record('key-k1', keyCreated('k1'), { at: noon })
    recorder.record('key-k2', keyCreated('k2', 'd'), { at: noon + 1 })
    recorder.record('key-k4', keyCreated('k4'), { at: noon + 2 })
    recorder.record('key-k3', keyCreated('k3'), { at: noon + 2 })
    projections.fold(recorder.events)
    expect(projections.keys.list().map(({ keyId }) => keyId)).toEqual(['k3', 'k4', 'k2', 'k1'])
    expect(projections.keys.ofCellar('c').map(({ keyId }) => keyId)).toEqual(['k3', 'k4', 'k1'])
    expect(projections.keys.ofCellar('nobody')).toEqual([])
    expect(projections.keys.get('k5')).toBeNull()
    expect(projections.keys.get('__proto__')).toBeNull()
  })

  test('have their own limit, their cellar’s, or the default', () => {
    const recorder = new Recorder()
    const projections = createProjections()
    const limitOf = () => {
      const key = projections.keys.get('k1')
      return key === null ? null : projections.keys.effectiveLimit(key)
    }
    projections.fold([recorder.record('key-k1', keyCreated('k1'))])
    expect(limitOf()).toEqual(keyLimitDefault)
    projections.fold([recorder.record(cellarStream('c'), cellarCreated('c'))])
    expect(limitOf()).toEqual(keyLimitDefault)
    const policy = {
      limit: { readings: 3, windowMs: 1_000 },
      readingAgeMsMax: null,
      readingAheadMsMax: null,
      retentionMs: null,
    }
    projections.fold([recorder.record(cellarStream('c'), { type: 'CellarPolicyChanged', data: { policy } })])
    expect(limitOf()).toEqual({ readings: 3, windowMs: 1_000 })
    const limit = { readings: 9, windowMs: 2_000 }
    projections.fold([recorder.record('key-k1', { type: 'KeyLimitChanged', data: { limit } })])
    expect(limitOf()).toEqual(limit)
  })
})

describe('operators', () => {
  const ada = operatorStream(email)
  const issued = (linkHash: string, to: string | null): Draft => ({
    type: 'OperatorLinkIssued',
    data: { email: to, role: 'admin', linkHash, expiresAt: noon + 1_000, purpose: null },
  })
  const added: Draft = {
    type: 'OperatorAdded',
    data: { email, role: 'admin', passwordHash: 'p', linkHash: null, linkMadeBy: null },
  }
  const signedIn = (sessionHash: string): Draft => ({
    type: 'OperatorSignedIn',
    data: { sessionHash, expiresAt: noon + 1_000, idleAt: noon + 500, deviceHash: 'd', seenRevision: 3 },
  })

  const scene = () => {
    const recorder = new Recorder()
    const projections = createProjections()
    const record = (stream: string, draft: Draft) => projections.fold([recorder.record(stream, draft, { at: noon })])
    return { operators: projections.operators, record }
  }

  test('appear when they are added, not when they are invited', () => {
    const { operators, record } = scene()
    record(ada, issued('l1', email))
    expect(operators.get(email)).toBeNull()
    expect(operators.list()).toEqual([])
    record(ada, added)
    const account = {
      email,
      role: 'admin' as const,
      passwordHash: 'p',
      addedAt: noon,
      passwordSetAt: noon,
      passwordLinkMadeBy: null,
      lastSignedInAt: null,
      devices: [],
      linksFromOthers: [],
      revision: 1,
    }
    expect(operators.get('ADA@example.org')).toEqual(account)
    expect(operators.list()).toEqual([account])
  })

  test('have sessions until their expiry or the next password', () => {
    const { operators, record } = scene()
    record(ada, added)
    record(ada, signedIn('s1'))
    record(ada, signedIn('s2'))
    expect(operators.session('s1', noon + 999)).toEqual({
      email,
      role: 'admin',
      sessionHash: 's1',
      startedAt: noon,
      expiresAt: noon + 1_000,
      idleAt: noon + 500,
      deviceHash: 'd',
      seenRevision: 3,
      linkMadeBy: null,
    })
    expect(operators.session('s1', noon + 1_000)).toBeNull()
    expect(operators.session('s3', noon)).toBeNull()
    record(ada, { type: 'OperatorSignedOut', data: { sessionHash: 's1' } })
    expect(operators.session('s1', noon)).toBeNull()
    expect(operators.session('s2', noon)).not.toBeNull()
    record(ada, { type: 'OperatorPasswordSet', data: { passwordHash: 'p2', linkHash: 'l', linkMadeBy: 'cli' } })
    expect(operators.session('s2', noon)).toBeNull()
    expect(operators.get(email)?.passwordHash).toBe('p2')
  })

  test('have sessions that are over after a sign-out or the expiry', () => {
    const { operators, record } = scene()
    record(ada, added)
    for (const session of ['s1', 's2', 's3']) record(ada, signedIn(session))
    record(ada, { type: 'OperatorSignedOut', data: { sessionHash: 's1' } })
    const over = (now: number) => ['s1', 's2', 's3', 's4'].map((session) => operators.isSessionOver(session, now))
    expect(over(noon + 999)).toEqual([true, false, false, false])
    expect(over(noon + 1_000)).toEqual([true, true, true, false])
    record(ada, { type: 'OperatorPasswordSet', data: { passwordHash: 'p2', linkHash: 'l', linkMadeBy: 'cli' } })
    expect(over(noon)).toEqual([true, true, true, false])
  })

  test('have a bounded number of known ended sessions', () => {
    const { operators, record } = scene()
    record(ada, added)
    for (let session = 0; session <= endedSessionsMax; session += 1) {
      record(ada, signedIn(`s${session}`))
      record(ada, { type: 'OperatorSignedOut', data: { sessionHash: `s${session}` } })
      if (session === endedSessionsMax - 1) expect(operators.isSessionOver('s0', noon)).toBe(true)
    }
    expect([operators.isSessionOver('s0', noon), operators.isSessionOver('s1', noon)]).toEqual([false, true])
  })

  test('have links until their expiry or the first use', () => {
    const { operators, record } = scene()
    record(ada, issued('l1', email))
    record(ada, issued('l2', email))
    expect(operators.link('l1', noon + 999)).toEqual({ stream: ada, email, role: 'admin', expiresAt: noon + 1_000 })
    expect(operators.link('l1', noon + 1_000)).toBeNull()
    record(ada, added)
    expect(operators.link('l1', noon)).toBeNull()
    expect(operators.link('l2', noon)).toBeNull()
  })

  test('have the last role, in open sessions too', () => {
    const { operators, record } = scene()
    record(ada, added)
    record(ada, signedIn('s1'))
    record(ada, { type: 'OperatorRoleChanged', data: { role: 'auditor' } })
    expect(operators.session('s1', noon)?.role).toBe('auditor')
    expect(operators.list()).toMatchObject([{ email, role: 'auditor' }])
  })

  test('keep no account, session or link after their removal', () => {
    const { operators, record } = scene()
    record(setupStream, issued('l0', null))
    record(setupStream, { type: 'OperatorLinkUsed', data: { linkHash: 'l0', email } })
    record(ada, added)
    record(ada, signedIn('s1'))
    record(ada, issued('l1', email))
    expect(operators.wasRemoved(email)).toBe(false)
    record(ada, { type: 'OperatorRemoved', data: {} })
    expect([operators.get(email), operators.session('s1', noon), operators.list()]).toEqual([null, null, []])
    expect([operators.link('l0', noon), operators.link('l1', noon)]).toEqual([null, null])
    expect([operators.wasRemoved('ADA@example.org'), operators.wasRemoved('nobody@example.org')]).toEqual([true, false])
    record(ada, issued('l2', email))
    expect(operators.link('l2', noon)).toMatchObject({ email })
  })

  test('may finish a set-up with the same link and e-mail', () => {
    const { operators, record } = scene()
    record(setupStream, issued('l1', null))
    record(setupStream, issued('l2', null))
    const link = { stream: setupStream, role: 'admin' as const, expiresAt: noon + 1_000 }
    expect(operators.link('l1', noon)).toEqual({ ...link, email: null })
    record(setupStream, { type: 'OperatorLinkUsed', data: { linkHash: 'l1', email } })
    expect(operators.link('l2', noon)).toBeNull()
    expect(operators.link('l1', noon)).toEqual({ ...link, email })
    expect(operators.link('l1', noon + 1_000)).toBeNull()
    record(ada, added)
    expect(operators.link('l1', noon)).toBeNull()
  })
})

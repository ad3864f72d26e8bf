import { describe, expect, test } from 'bun:test'
import {
  type AttentionLine,
  attentionListBytesMax,
  changeOf,
  covers,
  lineId,
  linesOf,
  noLines,
} from '../../../src/domain/attention/attention-lines.ts'
import { ExcusedTimes, excusedSince, excusedTimesMax } from '../../../src/domain/attention/excused-times.ts'
import { pastLines } from '../../../src/domain/attention/history.ts'
import { keyLines } from '../../../src/domain/attention/key-lines.ts'
import { type Refused, refusalHours, refusalLines } from '../../../src/domain/attention/refused-keys.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/domain/calendar.ts'
import type { KeyState } from '../../../src/domain/key.ts'
import { nodeLines } from '../../../src/facts/node-lines.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

const nowMs = Date.UTC(2026, 5, 1, 12, 30)
const silent = (rack: string, keg?: string, sinceMs = nowMs): AttentionLine => ({
  kind: 'silent',
  sinceMs,
  rack,
  ...(keg !== undefined && { keg }),
})
const lines = (...now: AttentionLine[]) => ({ now, more: 0 })
const listed = (...now: AttentionLine[]) => ({ now, more: 0, unlisted: [] })

describe('changeOf()', () => {
  const rack = silent('r')
  const cellar: AttentionLine = { kind: 'silent', sinceMs: nowMs }
  const kegs = [silent('r', 'a'), silent('r', 'b')] as const

  test('begins the parts of a rack that ends while they stay silent', () => {
    expect(changeOf(lines(rack), listed(...kegs))).toMatchObject({ began: kegs, ended: [{ ...rack, hasParts: true }] })
    expect(changeOf(lines(cellar), listed(rack))).toMatchObject({ began: [rack], ended: [{ hasParts: true }] })
    expect(changeOf(lines(rack), listed())?.ended).toEqual([rack])
    expect(changeOf(lines(rack), listed(silent('r', undefined, 1)))).toBeNull()
  })

  test('ends a keg as part of the rack that begins', () => {
    expect(changeOf(lines(...kegs), listed(rack))).toMatchObject({
      began: [rack],
      ended: kegs.map((keg) => ({ ...keg, isPart: true })),
    })
  })

  test('begins the parts of a rack in a list without room', () => {
    const known = { now: [rack, silent('other', undefined, nowMs)], more: 9 }
    const part = silent('r', 'a', 1)
    const next = { now: [part], more: 9, unlisted: [] }
    expect(changeOf(known, next)).toMatchObject({
      began: [part],
      ended: [{ ...rack, hasParts: true }, { rack: 'other' }],
    })
    const unlisted = { now: [silent('new')], more: 2, unlisted: [part] }
    expect(changeOf(lines(rack), unlisted)?.ended).toEqual([{ ...rack, hasParts: true }])
    expect(changeOf(lines(...kegs), { now: [silent('new')], more: 1, unlisted: [rack] })?.ended).toEqual([])
  })

  test('gives a receiver that adds and removes lines those of `now`', () => {
    const next = seededNumbers(12)
    const all = [cellar, rack, silent('s'), ...kegs, silent('s', 'a')]
    const received = new Set<string>()
    let known = lines()
    for (let at = 0; at < 500; at += 1) {
      const some = all.filter(() => next() % 3 === 0)
      const now = some.filter((line) => !some.some((other) => other !== line && covers(other, line)))
      const change = changeOf(known, listed(...now))
      for (const line of change?.ended ?? []) expect(received.delete(lineId(line))).toBe(true)
      for (const line of change?.began ?? []) received.add(lineId(line))
      known = lines(...now)
      expect([...received].sort()).toEqual(now.map(lineId).sort())
    }
  })
})

describe('a list without room for all silences', () => {
  const names = Array.from({ length: 150 }, (_, at) => `rack-${at}`)
  const of = (racks: readonly string[], newest = '') =>
    racks.map((rack) => silent(rack, undefined, rack === newest ? nowMs : nowMs - 1_000 - names.indexOf(rack)))
  const full = linesOf(of(names), 50, noLines)
  const listedNames = full.now.map(({ rack = '' }) => rack)

  test('tells a new silence, and does not end the line that loses its room', () => {
    const next = linesOf(of([...names, 'new'], 'new'), 50, full)
    expect(changeOf(full, next)).toMatchObject({
      began: [{ rack: 'new' }],
      ended: [],
      now: [{ rack: 'new' }, ...full.now.slice(0, -1)],
    })
  })

  test('tells the end of each line, and begins none that has room again', () => {
    for (const gone of [listedNames.slice(0, 1), listedNames.slice(-1), listedNames]) {
      const left = names.filter((rack) => !gone.includes(rack))
      const change = changeOf(full, linesOf(of(left), 50, full))
      expect(change?.ended.map(({ rack }) => rack)).toEqual(gone)
      expect(change?.began).toEqual([])
    }
  })

  test('tells the end of a line although a new silence takes its room', () => {
    const last = listedNames.at(-1)
    const next = linesOf(of([...names.filter((rack) => rack !== last), 'new'], 'new'), 50, full)
    expect(changeOf(full, next)).toMatchObject({ began: [{ rack: 'new' }], ended: [{ rack: last }] })
  })

  test('begins no key twice that loses its room to silences, and each new key', () => {
    const keys = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        ...({ kind: 'key_expires', sinceMs: nowMs - 1_000 + at, keyId: `key-${at}`, dueMs: nowMs + dayMs } as const),
      }))
    const told = linesOf(keys(50), 0, noLines)
    const many = linesOf([...keys(50), ...of(names)], 0, told)
    expect([told.more, many.now.filter(({ kind }) => kind === 'key_expires').length < 50]).toEqual([0, true])
    const known = { ...many, recordedAt: nowMs - 1_000 + 49 }
    expect(changeOf(known, linesOf(keys(51), 0, many))?.began.map(({ keyId }) => keyId)).toEqual(['key-50'])
    const older = { ...keys(1)[0], kind: 'key_expires', sinceMs: 1, keyId: 'in use again' } as const
    expect(changeOf(known, linesOf([older], 0, many))?.began).toEqual([older])
  })

  test('says of an ended line that its readings were deleted', () => {
    const change = changeOf(lines(silent('a'), silent('b')), { ...listed(), gone: [silent('a')] })
    expect(change?.ended).toEqual([{ ...silent('a'), isGone: true }, silent('b')])
  })

  test('ends no line that is older than all that were found', () => {
    expect(changeOf(lines(silent('b', undefined, 1)), { ...listed(silent('a')), more: 1 })).toMatchObject({ ended: [] })
  })

  test('has the same lines on two nodes, although all are of one instant', () => {
    const together = names.map((rack) => silent(rack))
    const known = linesOf(together.toReversed().slice(0, 100), 50, noLines)
    const other = linesOf([...known.now, ...together.slice(0, 30)], 100, known)
    expect(changeOf(known, other)).toBeNull()
  })

  test('has no end in the past of a line that only lost its room', () => {
    const at = (atMs: number, more: number, ended: readonly AttentionLine[], ...now: AttentionLine[]) => ({
      atMs,
      now,
      began: [],
      ended: [...ended],
      more,
      stream: 's',
      revision: 0,
    })
    const records = [at(1, 0, [], silent('r')), at(2, 9, [], silent('new')), at(3, 9, [silent('r')], silent('new'))]
    expect(pastLines(records, silent('r'))).toEqual([{ line: silent('r'), beganMs: null, endedMs: 3 }])
  })
})

describe('linesOf()', () => {
  const bytesOf = (of: readonly AttentionLine[]) => Buffer.byteLength(JSON.stringify(of))
  const keys = (kind: 'key_expires' | 'key_at_limit', count: number): readonly AttentionLine[] =>
    Array.from({ length: count }, (_, at) => ({ kind, sinceMs: nowMs - at, keyId: `key-${at}`, dueMs: nowMs }))

  test('keeps a list below its bytes for every shape of names', () => {
    for (const name of ['x', 'x'.repeat(128), 'é'.repeat(128), '🍷'.repeat(128), '"\\'.repeat(64)]) {
      const many = Array.from({ length: 300 }, (_, at) => silent(name, `${at}${name}`.slice(0, 250), nowMs - at))
      const { now, more } = linesOf([...many, ...keys('key_expires', 300)], 5, noLines)
      expect(bytesOf(now)).toBeLessThanOrEqual(attentionListBytesMax + 2)
      expect(now.length + more).toBe(605)
      expect(now.find(({ kind }) => kind === 'silent')?.sinceMs).toBe(nowMs)
    }
  })

  test('gives silence at least half, and each other kind its part', () => {
    const many = Array.from({ length: 300 }, (_, at) => silent(`rack-${at}`))
    const found = [
      ...many,
      ...keys('key_expires', 300),
      ...keys('key_at_limit', 300),
      { kind: 'keys_unused', sinceMs: 1 } as const,
    ]
    const { now } = linesOf(found, 0, noLines)
    const of = (...kinds: readonly string[]) => bytesOf(now.filter(({ kind }) => kinds.includes(kind)))
    expect(of('silent')).toBeGreaterThan(attentionListBytesMax / 2 - 100)
    expect(of('key_expires')).toBeGreaterThan(attentionListBytesMax / 4 - 200)
    expect(of('key_at_limit')).toBeGreaterThan(attentionListBytesMax / 4 - 200)
    expect(now.at(-1)?.kind).toBe('keys_unused')
  })
})

describe('pastLines()', () => {
  const keg = { kind: 'silent', rack: 'r', keg: 'k' } as const
  const record = (atMs: number, now: readonly AttentionLine[]) => ({
    ...{ atMs, now: [...now], more: 0 },
    ...{ began: atMs === 1 ? [silent('r')] : [], ended: [] },
  })

  test('finds a keg in the lines of its rack', () => {
    const lines = [[silent('r')], [silent('r', 'k')], [], [silent('other')]]
    const records = lines.map((now, at) => record(at + 1, now))
    expect(pastLines(records, keg)).toEqual([{ line: silent('r'), beganMs: 1, endedMs: 3 }])
  })

  test('goes on when a rack begins or ends around a keg that stays silent', () => {
    const [rack, one] = [silent('r'), silent('r', 'k')]
    const records = [
      { ...record(1, [one]), began: [one], ended: [{ ...rack, hasParts: true as const }] },
      { ...record(2, [rack]), began: [rack], ended: [{ ...one, isPart: true as const }] },
      { ...record(3, [silent('new')]), more: 3, ended: [{ ...rack, hasParts: true as const }] },
    ]
    expect(pastLines(records, keg)).toEqual([{ line: one, beganMs: null, endedMs: null }])
    expect(pastLines(records, { kind: 'silent', rack: 'r' })).toMatchObject([{ beganMs: 2, endedMs: null }])
  })

  test('says that a line ended because its readings were deleted', () => {
    const gone = { ...record(2, []), ended: [{ ...silent('r', 'k'), isGone: true as const }] }
    expect(pastLines([record(1, [silent('r', 'k')]), gone], keg)).toMatchObject([
      { line: { isGone: true }, endedMs: 2 },
    ])
  })

  test('does not know when a line began that the first record has already', () => {
    const past = pastLines([record(2, [silent('r')]), record(3, []), record(4, [silent('r', 'k')])], keg)
    expect(past.map(({ beganMs, endedMs }) => [beganMs, endedMs])).toEqual([
      [null, 3],
      [4, null],
    ])
  })
})

test('ExcusedTimes joins times that touch', () => {
  const excused = new ExcusedTimes()
  excused.add(0, 5)
  excused.add(5, 7)
  excused.add(9, 9)
  expect(excused.times).toEqual([[0, 7]])
})

test('ExcusedTimes stay bounded in a month of short excuses, and grow no longer', () => {
  const excused = new ExcusedTimes()
  const stepMs = 5 * minuteMs
  for (let atMs = 0; atMs < 30 * dayMs; atMs += stepMs) excused.add(atMs, atMs + 70_000)
  expect(excused.times.length).toBe(excusedTimesMax)
  for (const sinceMs of [0, 10 * dayMs, 29 * dayMs]) {
    const wrongMs = excusedSince(excused.times, sinceMs) - ((30 * dayMs - sinceMs) / stepMs) * 70_000
    expect(Math.abs(wrongMs)).toBeLessThan(4 * hourMs)
  }
})

describe('keyLines()', () => {
  const by = { at: nowMs - 100 * dayMs, by: { kind: 'cli' } as const, reason: '' }
  const key = (keyId: string, more: Partial<KeyState> = {}): KeyState => ({
    ...{ keyId, cellar: 'c', label: '', note: '', secretHash: '', limit: null, expiresAt: null, predecessorId: null },
    ...{ rotation: null, created: by, suspended: null, revoked: null, expiryRecorded: null, revision: 0, ...more },
  })
  const textOf = (one: KeyState, lastUsedAt: number | null, others: readonly KeyState[] = []) =>
    keyLines([{ key: one, lastUsedAt }, ...others.map((other) => ({ key: other, lastUsedAt: nowMs }))], nowMs).map(
      ({ kind, keyId, count }) => [kind, keyId ?? count].join(' '),
    )

  test('names a key that expires within 14 days if it is in use', () => {
    const expiring = (ms: number) => key('a', { expiresAt: nowMs + ms })
    expect(textOf(expiring(14 * dayMs), nowMs - 7 * dayMs + 1)).toEqual(['key_expires a'])
    expect(textOf(expiring(14 * dayMs + 1), nowMs)).toEqual([])
    expect(textOf(expiring(14 * dayMs), nowMs - 7 * dayMs)).toEqual([])
    expect(textOf(expiring(0), nowMs - 1)).toEqual(['key_expires a'])
    expect(textOf(expiring(-dayMs), nowMs - 7 * dayMs)).toEqual([])
    expect(textOf(key('a', { expiresAt: nowMs, revoked: by }), nowMs)).toEqual([])
    expect(textOf(key('a', { expiresAt: nowMs }), nowMs - 90 * dayMs)).toEqual([])
  })

  test('cuts no kind behind a hundred lines of another', () => {
    const expiring = Array.from({ length: 100 }, (_, at) => key(`e-${at}`, { expiresAt: nowMs + dayMs }))
    const { now, more } = linesOf(
      keyLines(
        [{ key: key('u'), lastUsedAt: null }, ...expiring.map((one) => ({ key: one, lastUsedAt: nowMs }))],
        nowMs,
      ),
      0,
      noLines,
    )
    expect([now.at(-1)?.kind, now.length + more]).toEqual(['keys_unused', 101])
  })

  test('counts keys that were not used for 90 days', () => {
    expect(textOf(key('a'), nowMs - 90 * dayMs)).toEqual(['keys_unused 1'])
    expect(textOf(key('a'), null)).toEqual(['keys_unused 1'])
    expect(textOf(key('a'), nowMs - 90 * dayMs + 1)).toEqual([])
    expect(textOf(key('a', { revoked: by }), null)).toEqual([])
  })

  test('names a rotation whose new key was not used for a week', () => {
    const old = key('a', { rotation: { successorId: 'b', overlapMs: 0, superseded: null } })
    const successor = (ms: number) => key('b', { created: { ...by, at: nowMs - ms } })
    expect(textOf(old, nowMs, [successor(7 * dayMs)])).toEqual(['rotation_hangs a'])
    expect(textOf(old, nowMs, [successor(7 * dayMs - 1)])).toEqual([])
    expect(textOf(old, nowMs)).toEqual([])
  })
})

describe('refusalLines()', () => {
  const { last, before } = refusalHours(nowMs)
  const found = (hours: Readonly<Record<number, number>>, code = 'RATE_LIMITED') => {
    const from = (hour: number): readonly Refused[] => {
      const count = Object.entries(hours).reduce((sum, [at, one]) => sum + (Number(at) >= hour ? one : 0), 0)
      return count === 0 ? [] : [{ key: 'k', code, count }]
    }
    return refusalLines(nowMs, from).map(({ kind, count }) => `${kind} ${count}`)
  }

  test('looks at the last hour whose refusals all nodes have written', () => {
    expect(last).toBe(Math.floor(nowMs / hourMs) - 1)
    expect(refusalHours(nowMs - 11 * minuteMs).last).toBe(last - 1)
  })

  test('names a key that was refused in two hours one after the other', () => {
    expect(found({ [before]: 10, [last]: 12 })).toEqual(['key_at_limit 12'])
    expect(found({ [before]: 10, [last]: 12 }, 'KEY_EXPIRED')).toEqual(['key_refused 12'])
    expect(found({ [before]: 9, [last]: 12 })).toEqual([])
    expect(found({ [before]: 10, [last]: 9, [last + 1]: 50 })).toEqual([])
  })

  test('names a rise to more than ten times the usual refusals of an hour', () => {
    expect(found({ [before - 5]: 240, [last]: 101 })).toEqual(['refusals_rise 101'])
    expect(found({ [before - 5]: 240, [last]: 100 })).toEqual([])
    expect(found({ [last]: 99 })).toEqual([])
  })
})

describe('nodeLines()', () => {
  type More = {
    full?: number
    check?: 'sound' | 'failed' | 'waiting' | null
    backup?: number
    isBackupKnown?: boolean
    warnsAtMs?: number
  }
  const foundIn = (more: More) =>
    nodeLines(
      {
        watch: {
          diskFullInSeconds: more.full ?? null,
          isBackupKnown: more.isBackupKnown ?? true,
          lastBackup:
            more.backup === undefined ? null : { endedAt: more.backup, bytes: 0, lastPosition: 0, target: '' },
        },
        check: () => {
          if (more.check === null) return null
          if (more.check === 'waiting') return { kind: 'waiting' }
          return more.check === 'failed'
            ? { kind: 'failed', at: nowMs, why: '' }
            : { kind: 'sound', at: nowMs, events: 0 }
        },
        servedCertificate: () =>
          more.warnsAtMs === undefined ? null : { warnsAtMs: more.warnsAtMs, endsAtMs: nowMs + dayMs },
        logBeganMs: nowMs - 7 * dayMs + 1,
      },
      nowMs,
    )
  const kindsOf = (more: More) => foundIn(more).lines.map(({ kind }) => kind)

  test('names the disk, the check, the backup and the certificate near their ends', () => {
    expect(kindsOf({})).toEqual([])
    expect(kindsOf({ full: (30 * dayMs) / 1_000, check: 'failed', warnsAtMs: nowMs })).toEqual([
      'disk_fills',
      'check_failed',
      'certificate_ends',
    ])
    expect(kindsOf({ full: (30 * dayMs) / 1_000 + 1, warnsAtMs: nowMs + 1 })).toEqual([])
    expect(kindsOf({ backup: nowMs - 7 * dayMs })).toEqual(['backup_old'])
    expect(kindsOf({ backup: nowMs - 7 * dayMs, check: null })).toEqual([])
  })

  test('decides nothing that is not known yet', () => {
    const justStarted = { check: 'waiting', isBackupKnown: false } as const
    expect(foundIn(justStarted)).toEqual({ lines: [], undecided: ['disk_fills', 'check_failed', 'backup_old'] })
    expect(foundIn({ full: Number.POSITIVE_INFINITY }).undecided).toEqual([])
    expect(foundIn({ full: Number.POSITIVE_INFINITY, check: null, isBackupKnown: false }).undecided).toEqual([])
  })

  test('lets the line of the disk stand up to 45 days', () => {
    const days = (full: number) => foundIn({ full: full / 1_000 })
    expect(days(45 * dayMs)).toEqual({ lines: [], undecided: ['disk_fills'] })
    expect(days(45 * dayMs + 1)).toEqual({ lines: [], undecided: [] })
  })

  test('counts the days without a backup from the beginning of the log', () => {
    const began = {
      watch: { diskFullInSeconds: null, lastBackup: null, isBackupKnown: true },
      servedCertificate: () => null,
    }
    const check = () => ({ kind: 'sound', at: nowMs, events: 0 }) as const
    const { lines } = nodeLines({ ...began, check, logBeganMs: nowMs - 8 * dayMs }, nowMs)
    expect(lines).toEqual([{ kind: 'backup_old', sinceMs: nowMs - dayMs }])
  })
})

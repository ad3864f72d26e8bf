import { describe, expect, test } from 'bun:test'
import type { AttentionLine } from '../../src/domain/attention/attention-lines.ts'
import { declarationOf, type EventData, type EventType, type RecordedEvent } from '../../src/domain/events.ts'
import type { KeyState } from '../../src/domain/key.ts'
import type { OperatorState } from '../../src/domain/operator.ts'
import { nothingBefore, type StateBefore, unknownBefore } from '../../src/domain/search/state-before.ts'
import { lineSentence } from '../../views/attention/attention-sentences.ts'
import { EventSentence } from '../../views/log/event-sentence.tsx'
import { sentenceOf } from '../../views/log/sentence.ts'
import { type Names, textOf } from '../../views/log/sentence-parts.ts'
import { everyEvent } from '../support/logs/every-event.ts'

const noonMs = Date.UTC(2026, 2, 1, 12)
const dayMs = 86_400_000
const by = { kind: 'operator', email: 'ada@example.org' } as const

const noNames: Names = {
  keyLabel: () => null,
  cellarTitle: () => null,
  cellarOfStream: () => null,
  emailOfStream: () => null,
  unitOf: () => null,
  webhookHost: () => null,
}

const names: Names = {
  keyLabel: (keyId) => (keyId === '9Qp2mZ4k' ? 'Press, south' : null),
  cellarTitle: () => 'Demo cellar',
  cellarOfStream: () => 'demo',
  emailOfStream: () => 'grace@example.org',
  unitOf: () => '°C',
  webhookHost: () => 'hooks.example.org',
}

const key: KeyState = {
  keyId: '7Qp2mZ4k',
  cellar: 'demo',
  label: 'Press, south',
  note: '',
  secretHash: 'f'.repeat(64),
  limit: { readings: 6_000, windowMs: 60_000 },
  expiresAt: null,
  predecessorId: null,
  rotation: null,
  created: { at: noonMs, by, reason: '' },
  suspended: null,
  revoked: null,
  expiryRecorded: null,
  revision: 2,
}

const noBounds = { readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: null }

const operator: OperatorState = {
  email: 'grace@example.org',
  account: {
    role: 'admin',
    passwordHash: 'p',
    addedAt: noonMs,
    passwordSetAt: noonMs,
    passwordLinkMadeBy: null,
    lastSignedInAt: null,
    devices: [],
    linksFromOthers: [],
  },
  links: [],
  sessions: [],
  wasAdded: true,
  revision: 2,
}

const before: StateBefore = {
  key,
  cellar: {
    cellar: 'demo',
    title: 'Demo cellar',
    policy: { limit: null, ...noBounds },
    units: new Map([['keg', '°F']]),
    silence: [],
    createdAt: noonMs,
    createdBy: by,
    revision: 2,
  },
  operator,
  isKnown: true,
}

const contexts = [
  ['with the state before and names', before, names],
  ['with the state before, without names', before, noNames],
  ['without the state before', unknownBefore, names],
  ['without both', nothingBefore, noNames],
] as const

const event = <T extends EventType>(type: T, data?: EventData<T>): RecordedEvent => {
  const found = everyEvent().find((one) => one.type === type)
  if (found === undefined) throw new Error(`no ${type}`)
  return data === undefined ? found : ({ ...found, data } as RecordedEvent)
}

const said = (one: RecordedEvent, state: StateBefore = before): string => textOf(sentenceOf(one, state, names))

describe('sentenceOf()', () => {
  for (const [what, state, known] of contexts) {
    test(`says every event in one line, ${what}`, () => {
      for (const one of everyEvent()) {
        const text = textOf(sentenceOf(one, state, known))
        expect(text).toMatch(/^[\p{Lu}\d“a-z].*\.$/u)
        expect(text).not.toMatch(/undefined|null|NaN|\[object|\n| {2}|\d{9}| [,.;:]/)
        expect(text.length).toBeLessThan(220)
      }
    })
  }

  test('says what was before only if the event is declared so', () => {
    const known: Names = { ...names, keyLabel: () => key.label }
    const saidTo = (one: RecordedEvent, state: StateBefore) => textOf(sentenceOf(one, state, known))
    const comparing = everyEvent().filter((one) =>
      [before, { ...before, operator: { ...operator, account: null } }].some(
        (state) => saidTo(one, state) !== saidTo(one, unknownBefore),
      ),
    )
    expect(comparing.length).toBeGreaterThan(5)
    expect(comparing.filter(({ type }) => declarationOf(type).comparesState !== true)).toEqual([])
  })

  test('says a limit, an expiry, a label and a note with their old values', () => {
    expect(said(event('KeyLimitChanged'))).toBe(
      'ada@example.org lowered the limit of Press, south clr_7Qp2mZ4k from 6,000 to 600 readings in 60 seconds.',
    )
    expect(said(event('KeyLimitChanged', { limit: { readings: 9_000, windowMs: 3_600_000 } }))).toBe(
      'ada@example.org changed the limit of Press, south clr_7Qp2mZ4k from 6,000 readings in 60 seconds to 9,000 readings in 1 hour.',
    )
    expect(said(event('KeyLimitChanged', { limit: null }))).toBe(
      'ada@example.org gave Press, south clr_7Qp2mZ4k the limit of its cellar. Before, it was 6,000 readings in 60 seconds.',
    )
    expect(said(event('KeyLimitChanged'), { ...before, key: { ...key, limit: null } })).toBe(
      'ada@example.org set the limit of Press, south clr_7Qp2mZ4k to 600 readings in 60 seconds. Before, it had the limit of its cellar.',
    )
    expect(said(event('KeyExpirySet'))).toBe(
      'ada@example.org set the expiry of Press, south clr_7Qp2mZ4k to 2026-03-03 12:00:00.000 UTC. Before, it had no expiry.',
    )
    expect(said(event('KeyRelabelled'))).toBe(
      'ada@example.org renamed Press, south clr_7Qp2mZ4k to “some new label”, and changed its note.',
    )
  })

  test('says a revocation, a rotation and a fence', () => {
    expect(said(event('KeyRevoked', { reason: 'left on a bus', sealId: 's' }))).toBe(
      'ada@example.org revoked Press, south clr_7Qp2mZ4k: “left on a bus”. No reading of it was accepted afterwards.',
    )
    expect(said(event('KeyRevoked', { reason: '', sealId: 's' }))).toBe(
      'ada@example.org revoked Press, south clr_7Qp2mZ4k. No reading of it was accepted afterwards.',
    )
    expect(said(event('KeyRotated'))).toBe(
      'ada@example.org rotated Press, south clr_7Qp2mZ4k to Press, south clr_9Qp2mZ4k. The old key works for 24 hours from the first reading with the new key.',
    )
    expect(said(event('ReadingsFenced'))).toBe(
      'The changes of Press, south clr_7Qp2mZ4k up to revision 3 are in force on every node.',
    )
  })

  test('says refusals in words, the most frequent first', () => {
    expect(said(event('ReadingsRefused'))).toBe(
      '15 refusals of Press, south clr_7Qp2mZ4k: over the limit of 6,000 readings in 60 seconds (14); CODE_OF_LATER_VERSION (1).',
    )
    const one = { from: noonMs, to: noonMs, counts: [{ code: 'MALFORMED_JSON', count: 1 }], samples: [] }
    expect(said(event('ReadingsRefused', one))).toBe(
      '1 refusal of Press, south clr_7Qp2mZ4k: the body is not valid JSON.',
    )
    const unknown = { ...one, counts: [{ code: 'KEY_UNKNOWN', count: 1 }] }
    const ofNode = { ...event('ReadingsRefused', unknown), stream: 'refusals-node' }
    expect(said(ofNode)).toBe('1 refusal: unknown API key.')
  })

  test('says the settings of a cellar with their old values', () => {
    expect(said(event('CellarPolicyChanged'))).toBe(
      'ada@example.org changed the retention of Demo cellar from unlimited to 365 days.',
    )
    const policy = {
      limit: { readings: 1, windowMs: 1_000 },
      readingAgeMsMax: dayMs,
      readingAheadMsMax: null,
      retentionMs: null,
    }
    expect(said(event('CellarPolicyChanged', { policy }))).toBe(
      'ada@example.org changed 2 settings of Demo cellar: default limit to 1 reading in 1 second; maximum age of readings to 24 hours.',
    )
  })

  test.each([
    [{ readings: 600, windowMs: 60_000 }, 'lowered the default limit of Demo cellar from 6,000 to 600 readings in'],
    [{ readings: 9_000, windowMs: 60_000 }, 'raised the default limit of Demo cellar from 6,000 to 9,000 readings in'],
    [
      { readings: 9_000, windowMs: 120_000 },
      'changed the default limit of Demo cellar from 6,000 readings in 60 seconds to 9,000 readings in 2 minutes.',
    ],
  ])('says whether a cellar’s limit was lowered or raised to %j', (limit, words) => {
    const { cellar } = before
    const policy = { limit: { readings: 6_000, windowMs: 60_000 }, ...noBounds }
    const state = { ...before, cellar: cellar === null ? null : { ...cellar, policy } }
    const changed = event('CellarPolicyChanged', { policy: { ...policy, limit } })
    expect(said(changed, state)).toContain(words)
  })

  test('says a unit that was given, changed and removed', () => {
    const set = (unit: string, keg = 'keg') => event('CellarUnitSet', { keg, unit })
    expect(said(set('°C'))).toBe(
      'ada@example.org changed the unit of kegs named “keg” in Demo cellar from “°F” to “°C”.',
    )
    expect(said(set('°C', 'pump'))).toBe('ada@example.org gave the unit “°C” to kegs named “pump” in Demo cellar.')
    expect(said(set(''))).toBe('ada@example.org removed the unit “°F” of kegs named “keg” in Demo cellar.')
    expect(said(set(''), unknownBefore)).toBe('ada@example.org removed the unit of kegs named “keg” in Demo cellar.')
  })

  test('says the value of a reading with its unit, if there is one', () => {
    const accepted = event('ReadingAccepted')
    expect(said(accepted)).toEndWith('value 21.5\u00a0°C.')
    expect(textOf(sentenceOf(accepted, before, noNames))).toEndWith('value 21.5.')
  })

  test('says the role, the links and the sign-ins of an operator', () => {
    expect(said(event('OperatorRoleChanged'))).toBe(
      'ada@example.org changed the role of grace@example.org from admin to auditor.',
    )
    expect(said(event('SignInsRefused'))).toBe('3 failed sign-ins and 2 blocked as some email from 198.51.100.23.')
    expect(said(event('OperatorSignedOut'))).toBe('grace@example.org signed out.')
    expect(said(event('OperatorSignedOut', { sessionHash: 'b'.repeat(64) }))).toBe(
      'ada@example.org ended a session of grace@example.org.',
    )
  })

  test('names a webhook by its host, or a removed one by its id', () => {
    const removed = everyEvent().find(({ type }) => type === 'WebhookRemoved')
    if (removed === undefined) throw new Error('impossible')
    const html = String(EventSentence({ sentence: sentenceOf(removed, nothingBefore, names) }))
    expect(html).toMatch(
      /removed webhook <a href="\/attention\/webhooks\/[^"]+"><bdi>hooks\.example\.org<\/bdi><\/a>\./,
    )
    expect(textOf(sentenceOf(removed, nothingBefore, noNames))).toMatch(/removed webhook “\w+”\.$/)
  })

  test('shows hostile texts of every event escaped, and hidden characters', () => {
    const hostile = '<img src=x onerror=alert(1)>\n\u202e"'
    for (const one of everyEvent(() => hostile)) {
      const sentence = sentenceOf(
        one,
        { ...nothingBefore, key: { ...key, label: hostile } },
        {
          keyLabel: () => hostile,
          cellarTitle: () => hostile,
          cellarOfStream: () => hostile,
          emailOfStream: () => hostile,
          unitOf: () => hostile,
          webhookHost: () => hostile,
        },
      )
      expect(String(EventSentence({ sentence }))).not.toMatch(/<img|\u202e/)
      expect(textOf(sentence)).not.toMatch(/\n|\u202e/)
    }
  })
})

test('lineSentence() says that a silence goes on in a wider one, or in parts', () => {
  const words = (line: Partial<AttentionLine>) =>
    textOf(lineSentence({ kind: 'silent', sinceMs: noonMs, ...line }, names))
  expect(words({ rack: 'A', keg: 'a', isPart: true })).toBe('rack “A”, keg “a” is now part of a wider silence')
  expect(words({ rack: 'A', count: 3, hasParts: true })).toBe('rack “A” is no longer silent as a whole')
  expect(words({ count: 9, hasParts: true })).toBe('the cellar is no longer silent as a whole')
})

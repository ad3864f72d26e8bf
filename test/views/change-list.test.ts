import { describe, expect, test } from 'bun:test'
import { changesOf } from '../../src/domain/search/event-changes.ts'
import { nothingBefore, type StateBefore, unknownBefore } from '../../src/domain/search/state-before.ts'
import { ChangeList, changeRow } from '../../views/log/change-list.tsx'
import { everyEvent } from '../support/logs/every-event.ts'

const by = { kind: 'system' } as const
const before: StateBefore = {
  ...nothingBefore,
  cellar: {
    cellar: 'demo',
    title: 'Demo cellar',
    policy: { limit: null, readingAgeMsMax: 60_000, readingAheadMsMax: null, retentionMs: null },
    units: new Map(),
    silence: [],
    createdAt: 0,
    createdBy: by,
    revision: 2,
  },
}

const rowsOf = (type: string, state: StateBefore) =>
  everyEvent()
    .filter((event) => event.type === type)
    .flatMap((event) => changesOf(event, state).map(changeRow))

describe('changesOf()', () => {
  for (const state of [before, unknownBefore]) {
    test(`gives rows of words for every event, if the state before is ${state.isKnown ? 'known' : 'not known'}`, () => {
      for (const event of everyEvent()) {
        for (const { what, from, to } of changesOf(event, state).map(changeRow)) {
          const text = `${what}: ${from ?? '-'} -> ${to}`
          expect(text).toMatch(/^\p{Lu}[^:]+: .+ -> \S.*$/u)
          expect(text).not.toMatch(/undefined|null|NaN|\[object|\d{9}/)
        }
      }
    })
  }

  test('gives the old and the new settings of a cellar', () => {
    expect(rowsOf('CellarPolicyChanged', before)).toEqual([
      { what: 'Maximum age of a reading', from: '60 seconds', to: 'no maximum' },
      { what: 'Readings are kept', from: 'for ever', to: '365 days' },
    ])
  })

  test('gives each reason of refusals in words', () => {
    expect(rowsOf('ReadingsRefused', nothingBefore).map(({ to }) => to)).toContain('14: over the limit (RATE_LIMITED)')
  })

  test('never gives the hash of a secret', () => {
    const changes = everyEvent().flatMap((event) => changesOf(event, nothingBefore))
    expect(JSON.stringify(changes)).not.toMatch(/f{64}|a{64}|Hash/)
  })

  test('shows hostile texts escaped', () => {
    for (const event of everyEvent(() => '<img src=x onerror=alert(1)>\u202e')) {
      const html = String(ChangeList({ changes: changesOf(event, nothingBefore) }))
      expect(html).not.toMatch(/<img|\u202e/)
    }
  })
})

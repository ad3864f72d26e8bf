import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { loadsKeptMs } from '../../../../src/actors/search/find-keys.ts'
import type { Answered } from '../../../../src/derived/questions/question.ts'
import { dayMs } from '../../../../src/domain/calendar.ts'
import { keyStatuses } from '../../../../src/domain/key-refusal.ts'
import { keySorts } from '../../../../src/domain/search/key-filter.ts'
import { livePushMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { keysPerPageMax } from '../../../../src/http/dashboard/show/key-list.ts'
import type { KeyLoads } from '../../../../src/log/ask-index.ts'
import type { KeyQuery } from '../../../../views/keys/key-list-types.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

/** What the test knows of a key that it made. Times are in days before and after the end of the preparation. */
type Made = {
  readonly key: string
  readonly keyId: string
  readonly number: number
  readonly cellar: string
  readonly label: string
  readonly note: string
  readonly age: number
  readonly expiresIn: number | null
  readonly usedAgo: number | null
  readonly status: (typeof keyStatuses)[number]
  readonly inRotation: boolean
}

let service: Service
let admin: Visitor
let keys: Made[]
const steps = 120
const otherCellar = 'wine-köln'

/** Each key is made on a day of its own, so that its age and its last use say which it is. */
beforeAll(async () => {
  service = await startWithOperators()
  const made: Made[] = []
  for (let number = 0; number < steps; number += 1) {
    service.clock.advance(dayMs)
    made.push(await makeKey(number))
  }
  keys = made.map((key) => ({ ...key, inRotation: key.inRotation && key.status !== 'expired' }))
  admin = await signedIn(service, 'admin')
})

afterAll(() => service.stop())

const makeKey = async (number: number): Promise<Made> => {
  const ageAtEnd = steps - 1 - number
  const cellar = number % 3 === 0 ? otherCellar : testCellar
  const label = `${number % 2 === 0 ? 'Press' : 'TANK'} ${number}`
  const note = number % 5 === 0 ? 'Installed by Weber' : ''
  const expiresIn = number % 4 === 0 ? null : ((number * 37) % 80) - 10
  const expiresAt = expiresIn === null ? null : service.clock.now() + Math.max(1, ageAtEnd + expiresIn) * dayMs
  const { key, keyId } = await service.createKey({ cellar, label, note, expiresAt })
  const isUsed = number % 7 !== 0
  if (isUsed) {
    const timestamp = new Date(service.clock.now()).toISOString()
    expect((await service.post({ ...validReading, cellar, timestamp }, key)).status).toBe(200)
  }
  const { core } = service
  const inRotation = number % 30 === 11
  if (inRotation) await core.keys.rotate(keyId, { overlapMs: dayMs }, testAsker)
  if (number % 10 === 3) await core.keys.suspend(keyId, '', testAsker)
  if (number % 10 === 6) await core.keys.revoke(keyId, '', testAsker)
  const isOver = expiresIn !== null && Math.max(1, ageAtEnd + expiresIn) - ageAtEnd <= 0
  const status = number % 10 === 6 ? 'revoked' : number % 10 === 3 ? 'suspended' : isOver ? 'expired' : 'active'
  const left = expiresAt === null ? null : Math.max(1, ageAtEnd + (expiresIn ?? 0)) - ageAtEnd
  const usedAgo = isUsed ? ageAtEnd : null
  return { key, keyId, number, cellar, label, note, age: ageAtEnd, expiresIn: left, usedAgo, status, inRotation }
}

const idsOn = (html: string): readonly string[] => [...html.matchAll(/<tr id="key-(\w+)"/g)].map(([, id = '']) => id)

/** The ids of all pages of a list, without the new keys of rotations, and the counts that its links show. */
const listed = async (path: (page: number) => string) => {
  const ids: string[] = []
  let first = ''
  for (let page = 1; ; page += 1) {
    const { body } = await admin.get(path(page))
    if (page === 1) first = body
    ids.push(...idsOn(body))
    if (!body.includes('Next keys')) break
  }
  const known = new Set(keys.map(({ keyId }) => keyId))
  return { ids: ids.filter((id) => known.has(id)), body: first }
}

const isWanted = (key: Made, query: Partial<KeyQuery>): boolean => {
  const text = `${key.label} ${key.note} clr_${key.keyId}_…`.toLowerCase()
  for (const word of query.words ?? []) if (!text.includes(word)) return false
  if ((query.expires ?? null) !== null && key.status === 'revoked') return false
  if (query.expires === 'never' && key.expiresIn !== null) return false
  if (query.expires === '7' && !(key.expiresIn !== null && key.expiresIn > 0 && key.expiresIn <= 7)) return false
  if (query.expires === '30' && !(key.expiresIn !== null && key.expiresIn > 0 && key.expiresIn <= 30)) return false
  if (query.unused === 'never' && key.usedAgo !== null) return false
  if (query.unused === '30' && (key.usedAgo ?? key.age) < 30) return false
  if (query.unused === '90' && (key.usedAgo ?? key.age) < 90) return false
  if (query.rotation && !(key.inRotation && key.status !== 'revoked')) return false
  return true
}

describe('the list of keys', () => {
  const anyFilter = fc.record({
    words: fc.constantFrom([], ['press'], ['weber', 'tank'], ['1'], ['nobody']),
    status: fc.constantFrom(...keyStatuses, 'all' as const),
    expires: fc.constantFrom(null, null, '7' as const, '30' as const, 'never' as const),
    unused: fc.constantFrom(null, null, '30' as const, '90' as const, 'never' as const),
    rotation: fc.constantFrom(false, false, true),
    sort: fc.constantFrom(...keySorts),
    isReversed: fc.boolean(),
    isOfAll: fc.boolean(),
  })

  test('finds the keys of each filter, in each order', async () => {
    await fc.assert(
      fc.asyncProperty(anyFilter, async ({ isOfAll, ...query }) => {
        const path = (page: number) =>
          isOfAll ? paths.allKeys({ ...query, page }) : paths.keys(testCellar, { ...query, page })
        const inList = keys.filter(({ cellar }) => isOfAll || cellar === testCellar)
        const wanted = inList.filter((key) => isWanted(key, query))
        const { ids } = await listed(path)
        const ofStatus = wanted.filter(({ status }) => query.status === 'all' || status === query.status)
        expect(ids.toSorted()).toEqual(ofStatus.map(({ keyId }) => keyId).toSorted())
        expect(ids).toEqual(inOrder(ofStatus, query))
      }),
      { numRuns: 60 },
    )
  })

  /** The counts of readings are equal for all of these keys, so `busiest` gives the newest first. */
  const inOrder = (wanted: readonly Made[], { sort, isReversed }: Pick<KeyQuery, 'sort' | 'isReversed'>) => {
    const by: Readonly<Record<typeof sort, (key: Made) => number>> = {
      created: ({ age }) => age,
      label: ({ label, number }) => (label.startsWith('Press') ? 0 : 1_000) + number,
      used: ({ usedAgo }) => usedAgo ?? 1_000,
      busiest: ({ usedAgo }) => (usedAgo === 0 ? 0 : 1),
      expires: ({ expiresIn }) => expiresIn ?? 1_000,
      cellar: ({ cellar }) => (cellar === testCellar ? 0 : 1),
    }
    const sorted = wanted.toSorted((a, b) => by[sort](a) - by[sort](b) || a.age - b.age)
    return (isReversed ? sorted.toReversed() : sorted).map(({ keyId }) => keyId)
  }

  test('finds a key by a part of its prefix, and counts other states', async () => {
    const revoked = keys.find(({ status }) => status === 'revoked')
    const { body } = await admin.get(`${paths.allKeys()}?find=${revoked?.keyId.slice(1)}`)
    expect(idsOn(body)).toEqual([])
    expect(body).toContain('Show 1 key with another status')
    expect(body).toMatch(/Revoked <span class="count">1</)
    expect(idsOn((await admin.get(`${paths.allKeys()}?find=${revoked?.keyId}&status=all`)).body)).toEqual([
      revoked?.keyId ?? '',
    ])
  })

  test('has at most one page of rows in an answer', async () => {
    expect(idsOn((await admin.get(paths.allKeys({ status: 'all' }))).body)).toHaveLength(keysPerPageMax)
  })

  test('never shows or sends on the secret of a pasted key', async () => {
    const { key = '', keyId } = keys.find(({ status }) => status === 'active') ?? {}
    const secret = key.slice('clr_12345678_'.length)
    const asked = await admin.post(paths.allKeys(), { find: ` ${key}`, status: 'all', sort: 'label', x: '1' })
    expect([asked.status, asked.location]).toEqual([303, `${paths.allKeys()}?find=+clr_${keyId}&status=all&sort=label`])
    const typed = await admin.get(`${paths.allKeys()}?find=${key}`)
    expect([typed.status, typed.location]).toEqual([303, `${paths.allKeys()}?find=clr_${keyId}`])
    const { body } = await admin.get(typed.location ?? '')
    expect(idsOn(body)).toEqual([keyId ?? ''])
    expect(body).not.toContain(secret)
  })

  test('of all cellars stays so, whatever cellar its address names', async () => {
    const { body } = await admin.get(`${paths.allKeys()}?cellar=${otherCellar}&status=all`)
    expect(idsOn(body)).toEqual(idsOn((await admin.get(paths.allKeys({ status: 'all' }))).body))
  })

  test('without counts says that keys can be missing, and offers no change of all', async () => {
    const { keyId } = keys.find(({ status }) => status === 'active') ?? { keyId: '' }
    const filters = [{ nearLimit: true }, { refusedToday: true }]
    {
      using _ask = loadsAre({ kind: 'not_ready' })
      for (const filter of filters) {
        const { body } = await admin.get(paths.allKeys(filter))
        expect(body).toContain('keys can be missing in this list')
        expect(body).toContain('No active key was found yet.')
      }
    }
    const answer = { keyIds: keyId, busiest: Uint32Array.of(99_999), refusedToday: Uint32Array.of(1) }
    using _ask = loadsAre({ kind: 'answered', answer, asOf: null, isBehind: true })
    for (const filter of filters) {
      const { body } = await admin.get(paths.allKeys(filter))
      expect(idsOn(body)).toEqual([keyId])
      expect(body).toContain('name="key"')
      expect(body).not.toContain('name="all"')
    }
    const sorted = await admin.get(paths.allKeys({ sort: 'busiest' }))
    expect(sorted.body).toContain('bars and limits can be too low')
    expect(sorted.body).toContain('name="all"')
  })

  test('asks only for the counts that its filter needs', async () => {
    using ask = spyOn(service.core.questions, 'ask')
    for (const query of [{ nearLimit: true }, { sort: 'busiest' as const }, { refusedToday: true }, {}])
      await admin.get(paths.allKeys(query))
    const hour = expect.any(Number)
    expect(ask.mock.calls.filter(([name]) => name === 'keyLoads').map(([, wanted]) => wanted)).toEqual([
      { fromHour: hour, todayHour: null, cellar: null },
      { fromHour: hour, todayHour: null, cellar: null },
      { fromHour: null, todayHour: hour, cellar: null },
    ])
  })

  test('offers an auditor nothing to change', async () => {
    const auditor = await signedIn(service, 'auditor')
    const { body } = await auditor.get(paths.allKeys({ status: 'all' }))
    expect(idsOn(body)).toHaveLength(keysPerPageMax)
    expect(body).not.toMatch(/type="checkbox"|name="do"|popover/)
  })
})

const loadsAre = (answered: Answered<KeyLoads>) => {
  const { questions } = service.core
  const ask = questions.ask.bind(questions)
  return spyOn(questions, 'ask').mockImplementation((name, ...rest) =>
    name === 'keyLoads' ? Promise.resolve(answered as never) : ask(name, ...rest),
  )
}

describe('a row of the list', () => {
  test('shows the last day: bars, racks, the busiest minute and refusals', async () => {
    const limit = { readings: 5, windowMs: 60_000 }
    const busy = await service.createKey({ cellar: 'busy', limit })
    await service.createKey({ cellar: 'busy' })
    const sent = [
      ['rack-1', 200],
      ['rack-2', 200],
      ['rack-3', 200],
      ['rack-3', 200],
      ['rack-3', 200],
      ['rack-3', 429],
    ] as const
    for (const [rack, status] of sent) {
      const timestamp = new Date(service.clock.now()).toISOString()
      expect((await service.post({ ...validReading, cellar: 'busy', rack, timestamp }, busy.key)).status).toBe(status)
    }
    await service.untilFolded(busy.keyId, 5)
    // The list takes what is counted, and this question waits until all is.
    await service.core.questions.ask('hourCounts', [busy.keyId, 0, 0], { owner: 'test' })
    admin = await signedIn(service, 'admin')
    const near = await admin.get(paths.keys('busy', { nearLimit: true }))
    expect(idsOn(near.body)).toEqual([busy.keyId])
    expect(near.body).toContain('aria-label="Last 24 hours: 5 accepted, 1 refused, in 1 hour"')
    expect(near.body).toContain('<b>5</b><span class="quiet"> of 5 per 60 s</span>')
    expect(near.body).toMatch(/<bdi>rack-[123]<\/bdi><span> and 2 more/)
    expect(idsOn((await admin.get(paths.keys('busy', { sort: 'busiest' }))).body)[0]).toBe(busy.keyId)
    // The refusal is not in the log yet.
    expect(idsOn((await admin.get(paths.keys('busy', { refusedToday: true }))).body)).toEqual([busy.keyId])
    service.clock.advance(dayMs)
    admin = await signedIn(service, 'admin')
    expect(idsOn((await admin.get(paths.keys('busy', { nearLimit: true }))).body)).toEqual([])
  })

  test('has no meter for a limit of an hour', async () => {
    const metersFor = async (windowMs: number) => {
      const { keyId } = await service.createKey({ limit: { readings: 60, windowMs } })
      const { body } = await admin.get(paths.keys(testCellar, { words: [keyId.toLowerCase()] }))
      expect(idsOn(body)).toEqual([keyId])
      return body.split('class="meter ').length - 1
    }
    expect([await metersFor(60_000), await metersFor(1_000), await metersFor(3_600_000)]).toEqual([1, 1, 0])
  })
})

test('a live list asks for no rows before its first push', async () => {
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const abort = new AbortController()
  using asked = spyOn(service.core.questions, 'ask')
  const path = paths.liveAllKeys({ status: 'all', page: 2 })
  const stream = await fetch(service.url + path, { headers: { Cookie: cookie }, signal: abort.signal })
  expect([stream.status, asked.mock.calls]).toEqual([200, []])
  abort.abort()
  await stream.body?.cancel().catch(() => {})
})

test('a live list asks for all loads once in 10 s, and for rows often', async () => {
  const schedule = drivenSchedule()
  const live = await startWithOperators({ liveSchedule: schedule })
  const { key, keyId } = await live.createKey({ limit: { readings: 5, windowMs: 60_000 } })
  const person = await signedIn(live, 'admin')
  const asked = spyOn(live.core.questions, 'ask')
  const countOf = (name: string): number => asked.mock.calls.filter(([kind]) => kind === name).length
  const abort = new AbortController()
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const path = paths.liveAllKeys({ sort: 'busiest' })
  const stream = await fetch(live.url + path, { headers: { Cookie: cookie }, signal: abort.signal })
  for (let push = 1; push <= 4; push += 1) {
    const timestamp = new Date(live.clock.now()).toISOString()
    expect((await live.post({ ...validReading, timestamp }, key)).status).toBe(200)
    await live.untilFolded(keyId, push)
    await schedule.advance(livePushMs)
    await until(() => countOf('keyDays') === push)
  }
  expect(countOf('keyLoads')).toBe(1)
  live.clock.advance(loadsKeptMs)
  await live.createKey()
  await schedule.advance(livePushMs)
  await until(() => countOf('keyDays') === 5)
  expect(countOf('keyLoads')).toBe(2)
  abort.abort()
  await stream.body?.cancel().catch(() => {})
  await live.stop()
})

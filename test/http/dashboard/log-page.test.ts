import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operatorStream } from '../../../src/domain/stream-names.ts'
import { minuteRowsShownMax } from '../../../src/http/dashboard/ask/fold-minutes.ts'
import { logEventsPerPageMax } from '../../../src/http/dashboard/ask/unwritten-refusals.ts'
import { logSearchMs } from '../../../src/limits.ts'
import { AskBusy, AskUnusable } from '../../../src/log/ask-index.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { emailOf } from '../../support/test-operators.ts'
import { type Service, type ServiceOptions, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { type ManualClock, manualClock } from '../../support/time/manual-clock.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

type World = {
  readonly service: Service
  readonly auditor: Visitor
  readonly clock: ManualClock
  readonly keyId: string
}

let log: EventLog
let world: World
const services: Service[] = []
const minutes = minuteRowsShownMax + 10
/** Has a row for each minute too, at the same positions. */
const farCellar = 'wine-far'

/** Another node with the same log, so a test can ask it with another index. */
const nodeOf = async (options: ServiceOptions): Promise<{ readonly service: Service; readonly auditor: Visitor }> => {
  const service = await startWithOperators({ log, clock: world?.clock ?? manualClock(), ...options })
  services.push(service)
  return { service, auditor: await signedIn(service, 'auditor') }
}

beforeAll(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  const service = await startWithOperators({ log, clock, wrapCore: withAsk() })
  services.push(service)
  const { key, keyId } = await service.createKey({ label: 'Press, south' })
  const far = await service.createKey({ cellar: farCellar })
  for (let minute = 0; minute < minutes; minute += 1) {
    await service.post(validReading, key)
    await service.post(validReading, key)
    await service.post({ ...validReading, cellar: farCellar }, far.key)
    if (minute === 20) await service.core.keys.setLimit(keyId, { readings: 600, windowMs: 60_000 }, testAsker)
    if (minute === 40) await service.core.keys.suspend(keyId, 'left on a bus', testAsker)
    if (minute === 40) await service.core.keys.resume(keyId, 'found', testAsker)
    for (let many = 1; minute === 50 && many <= logEventsPerPageMax; many += 1)
      await service.core.keys.setLimit(far.keyId, { readings: 6_000 - many, windowMs: 60_000 }, testAsker)
    clock.advance(60_000)
  }
  await service.untilFolded(keyId, 2 * minutes)
  world = { service, clock, keyId, auditor: await signedIn(service, 'auditor') }
})
afterAll(async () => {
  for (const service of services) await service.stop()
  await log.close()
})

/** The ids of the rows of a list, in their order. */
const rowsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<tr id="((?:event|minute|stretch)-[^"]*)"/g)].map(([, id]) => id ?? '')

const linkOf = (html: string, words: string): string | null => {
  const link = [...html.matchAll(/<a class="action" href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].find(
    ([, , text]) => text === words,
  )
  return link?.[1]?.replaceAll('&amp;', '&') ?? null
}

const everyPageFrom = async (auditor: Visitor, first: string): Promise<readonly string[]> => {
  const pages: string[] = []
  for (let path: string | null = first; path !== null; ) {
    const { status, body } = await auditor.get(path)
    expect(status).toBe(200)
    pages.push(body)
    path = linkOf(body, 'Older →')
  }
  return pages
}

const minutesIn = (html: string): readonly string[] => rowsOf(html).filter((row) => row.startsWith('minute-'))

/** How many readings each row of minutes counts. */
const countsOf = (html: string): readonly number[] =>
  [...html.matchAll(/<strong>(\d+) readings?<\/strong> accepted/g)].map(([, count]) => Number(count))

const otherEvents = async (): Promise<readonly string[]> => {
  const events = await log.readAll({ direction: 'backwards', limit: 1_000 })
  return events.filter(({ type }) => type !== 'ReadingAccepted').map(({ position }) => `event-${position}`)
}

describe('the list', () => {
  test('shows each event once, and counts each reading once, over all pages', async () => {
    const pages = await everyPageFrom(world.auditor, paths.log())
    const rows = pages.flatMap((page) => rowsOf(page))
    expect(pages.length).toBeGreaterThan(1)
    expect(rows.filter((row) => row.startsWith('event-'))).toEqual([...(await otherEvents())])
    expect(new Set(rows).size).toBe(rows.length)
    expect(pages.flatMap(countsOf).reduce((sum, count) => sum + count, 0)).toBe(3 * minutes)
  })

  test('shows some minutes of a page, and folds the others between two events', async () => {
    const pages = await everyPageFrom(world.auditor, paths.log())
    for (const page of pages) expect(minutesIn(page).length).toBeLessThanOrEqual(minuteRowsShownMax)
    const full = pages.find((page) => minutesIn(page).length === minuteRowsShownMax) ?? ''
    const stretches = [...full.matchAll(/accepted <span>(from \d\d:\d\d to \d\d:\d\d)\s*<\/span>\s*<span>in several/g)]
    expect(stretches.at(-1)?.[1]).toBe('from 12:01 to 12:20')
    const href = [...full.matchAll(/href="(\/log\?kind=readings[^"]*)">Show them/g)]
      .at(-2)?.[1]
      ?.replaceAll('&amp;', '&')
    const opened = await everyPageFrom(world.auditor, href ?? '')
    expect(opened.flatMap(countsOf).reduce((sum, count) => sum + count, 0)).toBe(3 * 20)
  })

  test('of nothing but minutes has all of them', async () => {
    const pages = await everyPageFrom(world.auditor, paths.log({ kind: 'readings' }))
    expect(pages.map((page) => rowsOf(page).length)).toEqual([60, 60, 20])
    expect(new Set(pages.flatMap(minutesIn)).size).toBe(2 * minutes)
  })

  test('goes back to newer events by the same rows', async () => {
    const first = await world.auditor.get(paths.log())
    const second = await world.auditor.get(linkOf(first.body, 'Older →') ?? '')
    const back = await world.auditor.get(linkOf(second.body, '← Newer') ?? '')
    const rows = rowsOf(back.body)
    expect(rows.length).toBeGreaterThanOrEqual(logEventsPerPageMax)
    expect(rows).toEqual(rowsOf(first.body).slice(-rows.length))
  })

  test('says what changed, who did it, and where it lies', async () => {
    const { body } = await world.auditor.get(paths.log({ type: 'KeyLimitChanged', key: world.keyId }))
    expect(body).toContain('600 readings in 60 seconds')
    expect(body).toContain(`<a href="/log/key-${world.keyId}/1"`)
    expect(body).toContain('the command line')
    expect(rowsOf(body)).toHaveLength(1)
  })

  test.each([
    ['the key', () => ({ key: world.keyId, kind: 'keys' as const }), 6],
    ['a person', () => ({ actor: emailOf.auditor, type: 'OperatorSignedIn' }), 1],
    ['a cellar', () => ({ cellar: testCellar, kind: 'cellars' as const }), 1],
    ['a time', () => ({ kind: 'keys' as const, to: '2026-03-01T12:10:00Z' }), 2],
    ['a kind without events', () => ({ kind: 'refusals' as const }), 0],
  ])('can be filtered by %s', async (_, query, count) => {
    const { body } = await world.auditor.get(paths.log(query()))
    expect(rowsOf(body)).toHaveLength(count)
    if (count === 0) expect(body).toContain('Nothing in the log matches.')
    expect(body.includes('there is nothing older')).toBe(count > 0)
  })

  test('updates by itself unless its time is over', async () => {
    const isLive = async (to: string): Promise<boolean> =>
      (await world.auditor.get(paths.log({ kind: 'keys', to }))).body.includes('hx-sse:connect="/live/log')
    expect([await isLive(''), await isLive('2027-03-01'), await isLive('2026-03-01T12:10:00Z')]).toEqual([
      true,
      true,
      false,
    ])
    const around = await world.auditor.get(paths.log({ kind: 'keys', at: '2026-03-02' }))
    expect(around.body).not.toContain('hx-sse:connect="/live/log')
  })

  test.each([
    ['changes of keys', () => ({ kind: 'keys' }) as const],
    ['readings', () => ({ kind: 'readings', key: world.keyId }) as const],
  ])('shows the %s around an instant, and leads to all others', async (_, filter) => {
    const path = paths.log({ ...filter(), at: '2026-03-01T12:20:30Z' })
    const { body } = await world.auditor.get(path)
    const [later = '', earlier = ''] = body.split('<tr id="at"')
    expect([rowsOf(later).length, rowsOf(earlier).length > 0]).toEqual([25, true])
    expect([later.includes('>12:20:00.000'), earlier.includes('>12:21:00.000')]).toEqual([false, false])
    const older = (await everyPageFrom(world.auditor, path)).flatMap(rowsOf)
    const newer: string[] = []
    for (let next = linkOf(body, '← Newer'); next !== null; ) {
      const page = await world.auditor.get(next)
      newer.unshift(...rowsOf(page.body))
      next = linkOf(page.body, '← Newer')
    }
    const all = (await everyPageFrom(world.auditor, paths.log(filter()))).flatMap(rowsOf)
    expect([...newer, ...older]).toEqual(all)
  })

  test.each([
    ['before the first event', '2026-01-01', false, true],
    ['after the last event', '2026-03-02', true, false],
  ])('shows an instant %s', async (_, at, hasEarlier, hasLater) => {
    const { body } = await world.auditor.get(paths.log({ at }))
    const [later = '', earlier = ''] = body.split('<tr id="at"')
    expect([rowsOf(earlier).length > 0, rowsOf(later).length > 0]).toEqual([hasEarlier, hasLater])
    expect([linkOf(body, 'Older →') !== null, linkOf(body, '← Newer') !== null]).toEqual([hasEarlier, hasLater])
  })

  test.each([
    ['from', 'nonsense', 'It must be a time (UTC) like 10:14'],
    ['cellar', 'no-such-cellar', 'There is no cellar with this identifier.'],
    ['key', 'clr_zzzzzzzz', 'There is no key with this id.'],
    ['actor', 'nobody', 'It must be an e-mail'],
    ['type', 'Nonsense', 'There is no such type of event.'],
  ] as const)('refuses a wrong %s', async (field, text, why) => {
    const { status, body } = await world.auditor.get(paths.log({ [field]: text }))
    expect(status).toBe(422)
    expect(body).toContain(why)
    expect(rowsOf(body)).toEqual([])
  })

  test('refuses an unknown kind, and no link keeps it', async () => {
    const { status, body } = await world.auditor.get('/log?kind=refused')
    expect(status).toBe(422)
    expect(body).toContain('There is no kind of event')
    expect(rowsOf(body)).toEqual([])
    expect(body).not.toContain('kind=refused')
  })
})

describe('single readings', () => {
  test('of a key come from its stream, newest first', async () => {
    const pages = await everyPageFrom(world.auditor, paths.log({ kind: 'readings', key: world.keyId }))
    const rows = pages.flatMap((page) => rowsOf(page))
    expect(rows).toHaveLength(2 * minutes)
    const positions = rows.map((row) => Number(row.slice('event-'.length)))
    expect(positions).toEqual(positions.toSorted((a, b) => b - a))
  })

  test('of a minute of a cellar are what its row counts', async () => {
    const list = await world.auditor.get(paths.log({ kind: 'readings' }))
    const href = /<a href="(\/log\?kind=readings[^"]*)">Show them/.exec(list.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const { body } = await world.auditor.get(href)
    expect(rowsOf(body)).toHaveLength(2)
    expect(body).toContain('1 reading of')
  })
})

describe('an index', () => {
  test('that is missing is replaced by the log itself', async () => {
    const { auditor } = await nodeOf({ isDerived: false })
    const { body } = await auditor.get(paths.log({ kind: 'keys' }))
    const indexed = await world.auditor.get(paths.log({ kind: 'keys' }))
    expect(body).toContain('This node cannot use its index of the log now.')
    expect(rowsOf(body)).toEqual([...rowsOf(indexed.body)])
  })

  test('that is behind is told, and newer events come from the log', async () => {
    const middle = (await log.readAll({ limit: 22 })).at(-1)
    const { auditor } = await nodeOf({ wrapCore: withAsk(() => ({ isBehind: true, position: middle?.position ?? 0 })) })
    const { body } = await auditor.get(paths.log({ kind: 'keys' }))
    const indexed = await world.auditor.get(paths.log({ kind: 'keys' }))
    expect(body).toContain('it has read up to position')
    expect(rowsOf(body)).toEqual([...rowsOf(indexed.body)])
  })

  test.each([
    ['damaged', new AskUnusable('a row was changed')],
    ['locked', new AskBusy('another program has locked it')],
  ])('that turns out to be %s is replaced by the log itself', async (_, fault) => {
    const find = (): never => {
      throw fault
    }
    const damaged = { find, placesOfId: find, minuteCounts: find, refusalsOfCellar: find }
    const { auditor } = await nodeOf({ wrapCore: withAsk(undefined, () => damaged) })
    const { status, body } = await auditor.get(paths.log({ kind: 'keys' }))
    expect(status).toBe(200)
    expect(body).toContain('This node cannot use its index of the log now.')
    expect(rowsOf(body).length).toBeGreaterThan(0)
    const others = [paths.log(), paths.key(world.keyId), paths.cellar(testCellar), paths.event(`key-${world.keyId}`, 1)]
    for (const path of others) expect([path, (await auditor.get(path)).status]).toEqual([path, 200])
    const id = '019ca8df-0403-7000-8000-000000000000'
    expect((await auditor.get(paths.found(id))).location).toBe(paths.refusedRequest(id))
    expect((await auditor.get(paths.refusedRequest(id))).status).toBe(200)
  })

  test('is not needed within a time limit: the page says how far it looked', async () => {
    let passedMs = 0
    const livePassedMs = (): number => {
      passedMs += logSearchMs
      return passedMs
    }
    const { auditor } = await nodeOf({ isDerived: false, livePassedMs })
    const first = await auditor.get(paths.log({ type: 'LogCreated' }))
    expect(first.body).toContain('The search took too long')
    const next = linkOf(first.body, 'Go on searching →')
    expect(next).toContain('before=')
  })
})

describe('the page of a cellar at an instant', () => {
  test('stops to read keys when its time is over, and says so', async () => {
    let passedMs = 0
    const livePassedMs = (): number => {
      passedMs += logSearchMs
      return passedMs
    }
    const { auditor } = await nodeOf({ isDerived: false, livePassedMs })
    const at = '2026-03-01T12:00:00.000Z'
    const { status, body } = await auditor.get(paths.cellarThen(testCellar, at))
    expect([status, body.includes('Reading the keys took too long')]).toEqual([200, true])
    expect(body).toContain(`href="${paths.keyAt(world.keyId, at)}"`)
    expect((await world.auditor.get(paths.cellarThen(testCellar, at))).body).not.toContain('took too long')
  })
})

describe('the page of an event', () => {
  test('says what changed from what, and the state after it', async () => {
    const { status, body } = await world.auditor.get(paths.event(`key-${world.keyId}`, 1))
    expect(status).toBe(200)
    expect(body).toContain('the cellar’s limit')
    expect(body).toContain('600 readings in 60 seconds')
    expect(body).toContain('KeyLimitChanged')
    expect(body).toContain('active</span></span> since <time')
    expect(body).not.toContain('since 2026-03-01T')
    expect(body).toContain(`href="${paths.event(`key-${world.keyId}`, 0)}"`)
    expect(body).toContain(`href="${paths.event(`key-${world.keyId}`, 2)}"`)
  })

  test('says from when on a change was in force, if it took a right away', async () => {
    const { keyId } = await world.service.createKey({ label: 'Cork' })
    await world.service.core.keys.setLimit(keyId, { readings: 1_000_000, windowMs: 60_000 }, testAsker)
    await world.service.core.keys.suspend(keyId, 'a pause', testAsker)
    await world.service.core.keys.revoke(keyId, 'the end', testAsker)
    const isSaid = async (revision: number): Promise<boolean> =>
      (await world.auditor.get(paths.event(`key-${keyId}`, revision))).body.includes('on every node from')
    expect(await Promise.all([1, 2, 3].map(isSaid))).toEqual([false, true, true])
  })

  test('never has the hash of a secret', async () => {
    const [created] = await log.read(`key-${world.keyId}`, { limit: 1 })
    const hash = created?.type === 'KeyCreated' ? created.data.secretHash : ''
    const { body } = await world.auditor.get(paths.event(`key-${world.keyId}`, 0))
    expect(hash).toHaveLength(64)
    expect(body).not.toContain(hash)
    expect(body).toContain('[redacted]')
  })

  test('never has the hash of a known browser’s secret', async () => {
    const events = await log.read(operatorStream(emailOf.auditor), { limit: 100 })
    const signedInAt = events.find(({ type, data }) => type === 'OperatorSignedIn' && data.deviceHash !== null)
    const hash = signedInAt?.type === 'OperatorSignedIn' ? (signedInAt.data.deviceHash ?? '') : ''
    const { body } = await world.auditor.get(paths.event(signedInAt?.stream ?? '', signedInAt?.revision ?? 0))
    expect(hash).toHaveLength(64)
    expect(body).toContain('deviceHash')
    expect(body).not.toContain(hash)
  })

  test('opens a reading by its receipt', async () => {
    const { status, body } = await world.auditor.get(paths.event(`readings-${world.keyId}`, 3))
    expect(status).toBe(200)
    expect(body).toContain('1 reading of')
    expect(body).toContain('rack-17')
  })

  test.each([
    ['a revision that is not written', () => paths.event(`key-${world.keyId}`, 99), 'The last one is key-'],
    ['a stream that does not exist', () => paths.event('key-zzzzzzzz', 0), 'There is no stream'],
  ])('says why there is none for %s', async (_, path, why) => {
    const { status, body } = await world.auditor.get(path())
    expect(status).toBe(404)
    expect(body).toContain(why)
  })

  test.each(['/log/nothing-x/0', '/log/key-x/-1', '/log/key-x/1.5'])('answers 404 to %s', async (path) => {
    expect((await world.auditor.get(path)).status).toBe(404)
  })
})

describe('the box', () => {
  const find = (what: string) => world.auditor.get(paths.found(what))
  const dayOf = (thing: Parameters<typeof paths.log>[0]): string =>
    paths.log({ ...thing, from: '2026-03-01', to: '2026-03-02' })
  const atTen = '2026-03-01T12:10:00.000Z'

  test.each([
    ['a receipt', () => `readings-${world.keyId}@3`, () => paths.event(`readings-${world.keyId}`, 3)],
    ['the receipt of a batch', () => `readings-${world.keyId}@3-4`, () => paths.event(`readings-${world.keyId}`, 3)],
    ['a key', () => `clr_${world.keyId}`, () => paths.log({ key: world.keyId })],
    ['a cellar', () => testCellar, () => paths.log({ cellar: testCellar })],
    ['an e-mail', () => emailOf.admin, () => paths.log({ actor: emailOf.admin })],
    ['a time', () => '12:10', () => paths.log({ at: '2026-03-01T12:10:00.000Z' })],
    ['a day', () => '2026-03-01', () => dayOf({})],
    ['the day that it is now', () => 'today', () => dayOf({})],
    ['a key on a day', () => `clr_${world.keyId} today`, () => dayOf({ key: world.keyId })],
    ['a cellar on a day', () => `${testCellar} 2026-03-01`, () => dayOf({ cellar: testCellar })],
    ['a key at a time', () => `clr_${world.keyId} 12:10`, () => paths.log({ key: world.keyId, at: atTen })],
    ['a cellar at a time', () => `${testCellar} 12:10`, () => paths.log({ cellar: testCellar, at: atTen })],
    ['a person on a day', () => `${emailOf.admin}, today`, () => dayOf({ actor: emailOf.admin })],
  ])('leads to %s', async (_, what, path) => {
    const { status, location } = await find(what())
    expect([status, location]).toEqual([303, path()])
  })

  test('leads from the id of an event and of its request to the event', async () => {
    const [event] = await log.read(`key-${world.keyId}`, { from: 1, limit: 1 })
    expect((await find(event?.id ?? '')).location).toBe(paths.event(`key-${world.keyId}`, 1))
  })

  test('ends a long search for an id, and offers to go on', async () => {
    let passedMs = 0
    const livePassedMs = (): number => {
      passedMs += logSearchMs
      return passedMs
    }
    const { auditor } = await nodeOf({ livePassedMs, isDerived: false })
    // An id of the beginning of this log that no event has.
    const id = '019ca945-0a00-7abc-8def-000000000000'
    const first = await auditor.get(paths.found(id))
    expect(first.status).toBe(200)
    expect(first.body).toContain('The search for the event took too long')
    expect(first.body).toContain(`href="${paths.refusedRequest(id)}"`)
    let { body, location } = first
    for (let searches = 0; searches < 10 && location === null; searches += 1) {
      const next = /href="([^"]*after=\d+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
      ;({ body, location } = await auditor.get(next ?? ''))
    }
    expect(location).toBe(paths.refusedRequest(id))
  })

  test.each(['1772366400', '1772366400000'])('takes %s for a time if no event has that position', async (number) => {
    const { status, location } = await find(number)
    expect([status, location]).toEqual([303, paths.log({ at: '2026-03-01T12:00:00.000Z' })])
  })

  test('offers both if a text names a key and a cellar', async () => {
    await world.service.core.cellars.create({ cellar: 'other', title: world.keyId }, testAsker)
    const { status, body } = await find(world.keyId)
    expect(status).toBe(200)
    expect(body).toContain(`href="${paths.log({ key: world.keyId })}"`)
    expect(body).toContain(`href="${paths.log({ cellar: 'other' })}"`)
  })

  test('says what was looked for in vain', async () => {
    const { status, body } = await find('no such thing')
    expect(status).toBe(404)
    expect(body).toContain('There is no cellar, no key, no rack and no type of event with such a name.')
    expect(body).toContain('value="no such thing"')
  })

  test('says that a thing with a day does not exist', async () => {
    const { status, body } = await find('clr_zzzzzzzz yesterday')
    expect(status).toBe(404)
    expect(body).toContain('There is no key with the id zzzzzzzz.')
  })

  test('drops the secret of a key that somebody pastes', async () => {
    const { location } = await find('clr_zzzzzzzz_4fXk9TqW2nLr8vYb5mZc7pGh3sJd6uKe1wAa0xQ94fGh2J1k0b3Z')
    const { body } = await world.auditor.get(location ?? '')
    expect(body).not.toContain('4fXk9TqW')
    expect(body).toContain('There is no key with the id zzzzzzzz.')
  })
})

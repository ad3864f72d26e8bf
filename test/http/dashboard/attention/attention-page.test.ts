import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { minuteMs } from '../../../../src/domain/calendar.ts'
import { liveHeartbeatMs, livePushMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { attentionView } from '../../../../src/http/dashboard/pages/attention/attention-pages.tsx'
import type { EventLog } from '../../../../src/log/event-log.ts'
import type { AttentionQuery } from '../../../../views/attention/attention-types.ts'
import { attentionFields, paths } from '../../../../views/paths.ts'
import {
  pass,
  readingsOf,
  startWatching,
  stopRack,
  type WatchingService,
} from '../../../support/attention/watched-racks.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { addOperators, emailOf } from '../../../support/test-operators.ts'
import { testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, type Visitor } from '../visitor.ts'

setDefaultTimeout(600_000)

const dayMs = 24 * 60 * minuteMs

let log: EventLog
let node: WatchingService
let admin: Visitor

beforeEach(async () => {
  log = await openFreshLog()
  const clock = manualClock()
  await addOperators(log, clock.now())
  node = await startWatching({ log, clock })
  admin = await signedIn(node, 'admin')
})
afterEach(async () => {
  await node.stop()
  await log.close()
})

const numberIn = (page: string): string | null =>
  /<a href="\/attention"[^>]*>Attention(?: <span class="count">(\d+)<\/span>)?<\/a>/.exec(page)?.[1] ?? null

const restLine = { cellar: testCellar, kind: 'silent', rack: 'rack-2' }

const sentAs = (person: Visitor, days: string) => person.post(paths.restAttention(), { ...restLine, days })

describe('the page of what needs attention', () => {
  test('says so if nothing does, and the navigation has no number', async () => {
    const page = (await admin.get(paths.attention)).body
    expect(page).toContain('Nothing needs attention.')
    expect(numberIn(page)).toBeNull()
    expect(page).toContain('<a href="/attention" aria-current="page">')
  })

  test('lists a silent rack with a link to it, and each page has the number', async () => {
    const { alive, each } = await stopRack(node)
    const auditor = await signedIn(node, 'auditor')
    for (const person of [admin, auditor]) {
      const page = (await person.get(paths.attention)).body
      expect(page).toContain('Rack “<bdi>rack-2</bdi>” is silent, with 2 kegs')
      expect(page).toContain(`href="${paths.rack(testCellar, 'rack-2')}"`)
      expect(page).toContain('<noscript><meta http-equiv="refresh" content="10"/></noscript>')
      expect(page.includes('/attention/rest')).toBe(person === admin)
      expect(numberIn((await person.get('/cellars')).body)).toBe('1')
    }
    alive.add('rack-2')
    await pass([node], 2 * minuteMs, each)
    expect((await admin.get(paths.attention)).body).toContain('Nothing needs attention.')
    expect(numberIn((await admin.get('/cellars')).body)).toBeNull()
  })

  test('renews the list and the number of an open page', async () => {
    await stopRack(node)
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const leave = new AbortController()
    const { body } = await fetch(node.url + paths.liveAttention(), {
      headers: { Cookie: cookie },
      signal: leave.signal,
    })
    await sentAs(admin, '1')
    let text = ''
    const decoder = new TextDecoder()
    const read = (async () => {
      for await (const chunk of body ?? []) {
        text += decoder.decode(chunk, { stream: true })
        if (text.includes('Attention</hx-partial>')) break
      }
    })()
    await node.schedule.advance(liveHeartbeatMs + livePushMs)
    await read
    leave.abort()
    expect(text).toContain('Nothing needs attention now, except what is at rest.')
  })

  test('puts a line to rest, says who did it, and shows it again later', async () => {
    const { each } = await stopRack(node)
    const link = /href="(\/attention\/rest\?[^"]*)"/.exec((await admin.get(paths.attention)).body)?.[1] ?? ''
    expect((await admin.get(link.replaceAll('&amp;', '&').replaceAll('&#38;', '&'))).body).toMatch(
      /In <a [^>]*>.*<\/a>: rack “<bdi>rack-2<\/bdi>” is silent/,
    )
    expect((await sentAs(admin, '1')).location).toBe(paths.attention)
    const resting = (await admin.get(paths.attention)).body
    expect(resting).toContain('Nothing needs attention now, except what is at rest.')
    expect(resting).toContain('At rest</h2>')
    expect(resting).toContain(`by <bdi>${emailOf.admin}</bdi>`)
    expect(numberIn(resting)).toBeNull()
    node.clock.advance(dayMs)
    await pass([node], minuteMs, each)
    const later = await signedIn(node, 'auditor')
    expect(numberIn((await later.get(paths.cellars)).body)).toBe('1')
  })

  test('ends the rest of a rack at one of its kegs', async () => {
    const { each } = await stopRack(node)
    await sentAs(admin, '30')
    const { key, keyId } = await node.createKey()
    let sent = 0
    await pass([node], 3 * minuteMs, async (nowMs) => {
      await each(nowMs)
      if (nowMs % minuteMs !== 0) return
      await node.postBatch(readingsOf(['rack-2'], nowMs).slice(0, 1), key)
      sent += 1
      await node.untilFolded(keyId, sent)
    })
    expect(numberIn((await admin.get('/cellars')).body)).toBeNull()
    const keg = { ...restLine, keg: 'pressure' }
    const page = await admin.get(paths.restAttention(Object.entries({ ...keg, key: '', node: '' })))
    expect(page.body).toContain('End the rest of the whole rack now')
    await admin.post(paths.restAttention(), { ...keg, days: '0' })
    expect(numberIn((await admin.get('/cellars')).body)).toBe('1')
  })

  test('ends a rest, and refuses other times and lines that are gone', async () => {
    await stopRack(node)
    await sentAs(admin, '30')
    expect(numberIn((await admin.get('/cellars')).body)).toBeNull()
    expect((await sentAs(admin, '0')).location).toBe(paths.attention)
    expect(numberIn((await admin.get('/cellars')).body)).toBe('1')
    await sentAs(admin, '0')
    expect((await admin.get(paths.attention)).body).toContain('This was not at rest.')
    for (const days of ['', '366', '-1', '1e9']) expect((await sentAs(admin, days)).status).toBe(422)
    const other = await admin.post(paths.restAttention(), { ...restLine, rack: 'rack-1', days: '1' })
    expect(other.location).toBe(paths.attention)
    expect((await admin.get(paths.attention)).body).toContain('This no longer needs attention')
    expect((await log.read('attention-rests', { limit: 9 })).length).toBe(2)
  })

  test('shows the lines of one kind or cellar, with links that count them', async () => {
    await stopRack(node)
    expect((await node.core.cellars.create({ cellar: 'gin', title: 'Gin' }, testAsker)).ok).toBe(true)
    const { key } = await node.createKey({ cellar: 'gin', expiresAt: node.clock.now() + dayMs })
    await node.post({ ...validReading, cellar: 'gin' }, key)
    await pass([node], 2 * minuteMs)
    const all = (await admin.get(paths.attention)).body
    expect(filtersIn(all)).toEqual(['Silence 1', 'Keys that expire 1', 'Gin 1', `${testCellar} 1`])
    const keys = (await admin.get(paths.attentionOf({ cellar: null, kind: 'key_expires' }))).body
    expect([keys.includes('rack-2'), keys.includes('expires on')]).toEqual([false, true])
    expect(filtersIn(keys)).toEqual(['Silence 1', '*Keys that expire 1'])
    expect(numberIn(keys)).toBe('2')
    const none = (await admin.get(paths.attentionOf({ cellar: 'gin', kind: 'silent' }))).body
    expect(none).toContain('Nothing of this needs attention.')
    expect(filtersIn(none)).toEqual(['*Silence 0', 'Keys that expire 1', '*Gin 0', `${testCellar} 1`])
    const unknown = (await admin.get(paths.attentionOf({ cellar: 'nowhere', kind: null }))).body
    expect(filtersIn(unknown)).toEqual(filtersIn(all))
  })

  test('counts what is not listed, with each filter', async () => {
    const attention: typeof node.core.attention = {
      ...node.core.attention,
      more: () => 3,
      current: () =>
        Array.from({ length: 14 }, (_, at) => ({
          cellar: `cellar-${at}`,
          line: { kind: 'silent', sinceMs: 0 },
          rest: null,
        })),
    }
    const viewOf = (query: AttentionQuery) => attentionView({ ...node.core, attention }, query)
    expect(viewOf({ cellar: null, kind: null })).toMatchObject({ more: 3, moreCellars: 2 })
    expect(viewOf({ cellar: null, kind: 'key_expires' })).toMatchObject({ awake: [], more: 3, moreCellars: 0 })
  })

  test('offers no rest past the due date, but always a day', async () => {
    const { key, keyId } = await node.createKey({ expiresAt: node.clock.now() + 3 * dayMs })
    await node.post(validReading, key)
    await pass([node], 2 * minuteMs)
    const line = { cellar: testCellar, line: { kind: 'key_expires', keyId } } as const
    const page = (await admin.get(paths.restAttention(attentionFields(line)))).body
    expect([...page.matchAll(/name="days" value="(\d+)"/g)].map(([, days]) => days)).toEqual(['1'])
    const sent = (days: string) =>
      admin.post(paths.restAttention(), { ...Object.fromEntries(attentionFields(line)), days })
    expect([(await sent('7')).status, (await sent('1')).status]).toEqual([422, 303])
  })

  test('says when a keg and its rack were silent, on three pages', async () => {
    const { alive, each } = await stopRack(node)
    const keg = paths.keg(testCellar, 'rack-2', 'pressure')
    const past = paths.attentionPast(attentionFields({ cellar: testCellar, line: { kind: 'silent', rack: 'rack-2' } }))
    expect((await admin.get(paths.attention)).body).toContain(`href="${past.replaceAll('&', '&amp;')}"`)
    for (const page of [keg, paths.rack(testCellar, 'rack-2'), past])
      expect(timesIn((await admin.get(page)).body)).toEqual([['12:15:00', '12:25:10', 'still silent', '12 minutes']])
    alive.add('rack-2')
    await pass([node], minuteMs, each)
    node.clock.advance(6 * dayMs)
    const auditor = await signedIn(node, 'auditor')
    for (const page of [keg, paths.rack(testCellar, 'rack-2'), past])
      expect(timesIn((await auditor.get(page)).body)).toEqual([['12:15:00', '12:25:10', '12:28:00', '13 minutes']])
    expect((await auditor.get(keg)).body).toContain('with the whole rack')
    expect((await auditor.get(paths.rack(testCellar, 'rack-1'))).body).toContain('No silence was recorded.')
    node.clock.advance(30 * dayMs)
    expect((await (await signedIn(node, 'auditor')).get(past)).body).toContain('No silence was recorded.')
  })

  test('goes back no further than the records of the cellar', async () => {
    const past = paths.attentionPast(attentionFields({ cellar: testCellar, line: { kind: 'silent' } }))
    await node.createKey()
    const { cellars } = node.core
    const dayShown = async () => {
      const { body } = await (await signedIn(node, 'auditor')).get(past)
      return /goes back to[\s\S]*?(\d{4}-\d\d-\d\d)/.exec(body)?.[1]
    }
    const daysAgo = (days: number) => new Date(node.clock.now() - days * dayMs).toISOString().slice(0, 10)
    expect(await dayShown()).toBe(daysAgo(0))
    node.clock.advance(60 * dayMs)
    expect(await dayShown()).toBe(daysAgo(30))
    expect((await cellars.changePolicy(testCellar, { retentionMs: 7 * dayMs }, testAsker)).ok).toBe(true)
    expect(await dayShown()).toBe(daysAgo(7))
  })

  test('shows no history of an unknown kind or cellar, or of no place', async () => {
    for (const query of ['?kind=loud', '?kind=silent', '?kind=backup_old', '?kind=silent&cellar=nowhere'])
      expect((await admin.get(`/attention/past${query}`)).status).toBe(404)
  })
})

const textIn = (html: string): string => html.replaceAll(/<[^>]*>/g, '').trim()

/** A chosen filter begins with `*`. */
const filtersIn = (page: string): readonly string[] =>
  [...page.matchAll(/<nav class="filters chips"[\s\S]*?<\/nav>/g)].flatMap(([nav]) =>
    [...nav.matchAll(/<a [^>]*?(aria-current)?="[^"]*">(.*?)<\/a>/g)].map(
      ([, current, words = '']) => `${current === undefined ? '' : '*'}${textIn(words)}`,
    ),
  )

const timesIn = (page: string): readonly (readonly string[])[] => {
  const table = /<table class="stack past-lines">[\s\S]*?<\/table>/.exec(page)?.[0] ?? ''
  return [...table.matchAll(/<tr>(<td[\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<td[\s\S]*?<\/td>/g)].map(([cell]) => {
      const text = textIn(cell)
      return /\d\d:\d\d:\d\d/.exec(text)?.[0] ?? text
    }),
  )
}

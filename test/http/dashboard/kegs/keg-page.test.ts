import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { livePushMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { paths } from '../../../../views/paths.ts'
import { rawConnect } from '../../../support/raw-http.ts'
import { type Service, testCellar } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A reading a minute, for 20 hours. */
const warmFrom = Date.UTC(2026, 1, 28, 16)
const warmReadings = 20 * 60
/** No reading in it. */
const silence = { fromMs: Date.UTC(2026, 1, 28, 22), toMs: Date.UTC(2026, 2, 1, 0) }
const rack = 'fermenter-07'
const hostile = { rack: '../"><img src=x>', keg: 'a/b c%2F~' }

const clock = manualClock()
let service: Service
let schedule: DrivenSchedule
let admin: Visitor
let key: string
let keyId: string
let accepted = 0

const send = async (readings: readonly { rack: string; keg: string; value: number; timestamp: string }[]) => {
  for (let from = 0; from < readings.length; from += 500) {
    const part = readings.slice(from, from + 500).map((reading) => ({ cellar: testCellar, ...reading }))
    const answer = await service.postBatch(part, key)
    if (answer.status !== 200) throw new Error(await answer.text())
    accepted += part.length
  }
  await service.untilFolded(keyId, accepted)
}

const valueAt = (minutes: number): number => 10 + (minutes % 60) / 10

const warm = Array.from({ length: warmReadings }, (_, minutes) => ({ at: warmFrom + minutes * minute, minutes }))
  .filter(({ at }) => at <= silence.fromMs || at >= silence.toMs)
  .map(({ at, minutes }) => ({ at, value: valueAt(minutes) }))

beforeAll(async () => {
  schedule = drivenSchedule()
  service = await startWithOperators({ clock, liveSchedule: schedule, livePassedMs: () => schedule.nowMs })
  admin = await signedIn(service, 'admin')
  const created = await service.createKey({ label: 'Press, south', limit: { readings: 100_000, windowMs: minute } })
  key = created.key
  keyId = created.keyId
  const timestamp = (at: number): string => new Date(at).toISOString()
  await send(warm.map(({ at, value }) => ({ rack, keg: 'temperature', value, timestamp: timestamp(at) })))
  const now = clock.now()
  await send([
    { rack: 'fermenter-08', keg: 'temperature', value: 7.5, timestamp: timestamp(now - 10 * minute) },
    { rack: 'fermenter-08', keg: 'temperature', value: 8.5, timestamp: timestamp(now - 5 * minute) },
    { ...hostile, value: 1, timestamp: timestamp(now - minute) },
    { rack, keg: 'ahead', value: 3, timestamp: timestamp(now + hour) },
    { rack, keg: 'rare', value: 1, timestamp: timestamp(now - 364 * day) },
    { rack, keg: 'rare', value: 1, timestamp: timestamp(now - 2 * day) },
  ])
  const noise = Array.from({ length: 600 }, (_, minutes) => ({
    ...{ rack, keg: 'noise', timestamp: timestamp(now - minutes * minute) },
    value: minutes % 2 === 0 ? 20.5 : 20.500000000000004,
  }))
  await send(noise)
})

afterAll(() => service.stop())

const pageOf = async (keg: string, query: Parameters<typeof paths.keg>[3] = {}, ofRack = rack) => {
  const { status, body } = await admin.get(paths.keg(testCellar, ofRack, keg, query))
  return { status, body, text: textOf(body) }
}

const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replace(/\s+/g, ' ')

type Data = {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly low: number
  readonly high: number
  readonly series: readonly {
    readonly before: number
    readonly streams: readonly string[]
    readonly points: readonly (readonly number[])[]
    readonly gaps: readonly unknown[]
  }[]
}

const chartsIn = (html: string, name = 'data-chart'): readonly Data[] =>
  [...html.matchAll(new RegExp(`${name}="([^"]*)"`, 'g'))].map(([, text = '']) =>
    JSON.parse(text.replaceAll('&#34;', '"').replaceAll('&quot;', '"').replaceAll('&amp;', '&')),
  )

describe('the page of a keg', () => {
  test('says the latest value, its age and its key', async () => {
    const { status, text } = await pageOf('temperature')
    expect(status).toBe(200)
    const last = warm.at(-1)
    expect(text).toContain(`${last?.value} · 60 seconds ago · from Press, south`)
  })

  test('has the points that a computation from the readings gives', async () => {
    const [chart] = chartsIn((await pageOf('temperature')).body)
    const { step = 0, from = 0, to = 0, series = [] } = chart ?? {}
    expect([step, to - from]).toEqual([5 * minute, 24 * hour])
    const steps = Map.groupBy(warm, ({ at }) => Math.floor(at / step) * step)
    const expected = [...steps].map(([at, readings]) => {
      const values = readings.map(({ value }) => value)
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      return [at + step / 2, mean, Math.min(...values), Math.max(...values), values.length]
    })
    const points = series[0]?.points ?? []
    expect(points.map(([at, , ...rest]) => [at, ...rest])).toEqual(expected.map(([at, , ...rest]) => [at, ...rest]))
    for (const [number, [, mean]] of expected.entries()) expect(points[number]?.[1]).toBeCloseTo(mean ?? 0, 1)
  })

  test('shows a silence with its length, in the picture and in words', async () => {
    const { body, text } = await pageOf('temperature')
    expect(body).toContain('silent for 2 h</text>')
    expect(text).toContain('once, 22:00 to 00:00')
    expect(text).toMatch(/1,081, about one in (60 s|1 min)/)
    expect(chartsIn(body)[0]?.series[0]?.gaps).toEqual([[silence.fromMs, silence.toMs, 'silent for 2 h']])
  })

  test('keeps the digits of values that differ by a fault of computing', async () => {
    const { body, text } = await pageOf('noise', { table: 1 })
    expect(text).toMatch(/Mean 20\.50 /)
    expect(text).toContain('from 20.50 to 20.50')
    const { low = 0, high = 0, series = [] } = chartsIn(body)[0] ?? {}
    for (const [, mean = 0] of series[0]?.points ?? []) expect(mean > low && mean < high).toBe(true)
  })

  test('says nothing about silence in a time without readings', async () => {
    const { text } = await pageOf('rare', { from: '2025-01-01', to: '2025-01-02' })
    expect(text).toContain('No reading has a time in this range.')
    expect(text).toContain('Silent –')
  })

  test('names each wrong time of its range', async () => {
    const wrong = { from: 'abc', to: 'xyz' }
    for (const path of [paths.keg(testCellar, rack, 'temperature', wrong), paths.rack(testCellar, rack, wrong)]) {
      const { status, body } = await admin.get(path)
      expect([status, /id="fault-from"/.test(body), /id="fault-to"/.test(body)]).toEqual([422, true, true])
    }
    const { status, text } = await pageOf('temperature', { from: '2026-03-01', to: '2026-02-28' })
    expect([status, text.includes('The end must be later than the beginning.')]).toEqual([422, true])
  })

  test('never links to a longer range than it accepts', async () => {
    let shown = (await pageOf('rare', { range: '1y' })).body
    let zooms = 0
    for (; ; zooms++) {
      const hrefs = [...shown.matchAll(/href="([^"]*[?&](?:amp;)?from=[^"]*)"/g)].map(([, href = '']) => href)
      for (const href of hrefs) {
        const { body } = await admin.get(href.replaceAll('&amp;', '&'))
        expect([href, /The range must|The end must/.exec(body)]).toEqual([href, null])
      }
      const out = /href="([^"]*)" data-zoom="out"/.exec(shown)?.[1]
      if (out === undefined) break
      shown = (await admin.get(out.replaceAll('&amp;', '&'))).body
    }
    expect(zooms).toBeGreaterThan(2)
    const first = (await pageOf('rare', { from: '1970-01-01', to: '1970-01-03' })).body
    expect(first).not.toContain('Earlier')
  })

  test('loads at most 25,600 bytes to draw its chart', async () => {
    const { body } = await pageOf('temperature')
    const scripts = [...body.matchAll(/src="(\/assets\/(?:uplot|chart)[^"]*)"/g)].map(([, src = '']) => src)
    expect(scripts).toHaveLength(2)
    const sizes = scripts.map(async (src) => {
      const { headers } = await fetch(service.url + src, { headers: { 'Accept-Encoding': 'gzip' }, method: 'HEAD' })
      return Number(headers.get('Content-Length'))
    })
    const [one = 0, other = 0] = await Promise.all(sizes)
    expect(Math.min(one, other)).toBeGreaterThan(1_000)
    expect(one + other).toBeLessThanOrEqual(25_600)
  })

  test('links to the events of the lowest and the highest reading', async () => {
    const { body } = await pageOf('temperature')
    const links = [...body.matchAll(/<a href="(\/log\/[^"]*)"><span>(10|15\.9)<\/span><span> at/g)]
    expect(links.map(([, , value]) => value)).toEqual(['10', '15.9'])
    for (const [, href = '', value] of links)
      expect((await admin.get(href)).body).toContain(`<strong>${value}</strong>`)
  })

  test('draws single readings, each with its event', async () => {
    const { body } = await pageOf('temperature', { range: '1h', table: 1 })
    const points = chartsIn(body)[0]?.series[0]?.points ?? []
    const lastHour = warm.filter(({ at }) => at >= clock.now() - hour)
    expect(points.map(([at, value]) => [at, value])).toEqual(lastHour.map(({ at, value }) => [at, value]))
    const [, , stream = -1, revision] = points.at(-1) ?? []
    const { streams = [] } = chartsIn(body)[0]?.series[0] ?? {}
    expect(new Set(streams).size).toBe(1)
    const href = `${streams[stream]}${revision}`
    expect((await admin.get(href)).body).toContain(`<strong>${lastHour.at(-1)?.value}</strong>`)
    expect(body).toContain('2026-03-01 11:59:00.000</a>')
  })

  test('has a table in pages, with links to the log', async () => {
    const { body } = await pageOf('temperature', { table: 2 })
    expect(body.match(/<tr><th scope="row">/g)).toHaveLength(100)
    expect(textOf(body)).toContain('Page 2 of 3')
    const href = /<th scope="row"><a href="(\/log\?[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const asked = new URL(href, service.url).searchParams
    expect(['kind', 'cellar', 'rack'].map((name) => asked.get(name))).toEqual(['readings', testCellar, rack])
    expect(Date.parse(asked.get('to') ?? '') - Date.parse(asked.get('from') ?? '')).toBe(5 * minute)
    expect((await pageOf('temperature', { table: 99 })).text).toContain('Page 3 of 3')
  })

  test('takes any range as typed, and refuses one that cannot be', async () => {
    const { body } = await pageOf('temperature', { from: '2026-02-28 16:00', to: '2026-02-28T18:00Z' })
    expect(chartsIn(body)[0]).toMatchObject({ from: warmFrom, to: warmFrom + 2 * hour })
    expect(body).not.toContain('hx-sse:connect')
    expect(textOf(body)).toContain('2026-02-28 16:00 to 2026-02-28 18:00')
    const wrong = [
      [{ from: '11:00', to: '10:00' }, 'The end must be later than the beginning.'],
      [{ from: '30 February', to: '' }, 'It must be a time (UTC) like'],
      [{ from: '2026-03-02', to: '2026-03-03' }, 'It must be in the past.'],
      [{ from: '2001-01-01', to: '' }, 'The range must be at most three years.'],
    ] as const
    for (const [query, words] of wrong) expect((await pageOf('temperature', query)).text).toContain(words)
  })

  test('compares kegs on one scale, or each on its own', async () => {
    const others = { with: [{ rack: 'fermenter-08', keg: 'temperature' }, hostile] }
    const together = chartsIn((await pageOf('temperature', others)).body)
    expect(together.map(({ series }) => series.length)).toEqual([3])
    const apart = chartsIn((await pageOf('temperature', { ...others, isOwnScale: true })).body)
    expect(apart.map(({ series }) => series.length)).toEqual([1, 1, 1])
    const unknown = { with: [{ rack: 'nowhere', keg: 'temperature' }] }
    expect((await pageOf('temperature', unknown)).text).toContain('no readings of nowhere / temperature')
  })

  test('compares four kegs at most, each once, and passes over what names no keg', async () => {
    const other = { rack: 'fermenter-08', keg: 'temperature' }
    const many = [{ rack, keg: 'temperature' }, other, other, hostile, { rack, keg: 'ahead' }, { rack, keg: 'fifth' }]
    const { body } = await pageOf('temperature', { with: many })
    expect(chartsIn(body)[0]?.series).toHaveLength(4)
    expect(body).not.toContain('fifth')
    const wrong = `${paths.keg(testCellar, rack, 'temperature')}?with=${encodeURIComponent('%zz/%zz fermenter-08/temperature/c alone /')}`
    const { status, body: shown } = await admin.get(wrong)
    expect([status, chartsIn(shown)[0]?.series.length]).toEqual([200, 1])
  })

  test('finds another keg to compare with', async () => {
    const offered = paths.keg(testCellar, rack, 'temperature', { find: 'temperature' })
    expect((await pageOf('temperature')).body).toContain(`href="${offered}"`)
    expect((await admin.get(offered)).body).toContain('with=fermenter-08%2Ftemperature')
    const asked = await admin.post(paths.keg(testCellar, rack, 'temperature'), { range: '30d', find: 'FERMENTER-08' })
    expect(asked.status).toBe(303)
    const { body } = await admin.get(asked.location ?? '')
    const beside = paths.keg(testCellar, rack, 'temperature', {
      range: '30d',
      with: [{ rack: 'fermenter-08', keg: 'temperature' }],
    })
    expect(body).toContain(`href="${beside.replaceAll('&', '&amp;')}"`)
    const none = await pageOf('temperature', { find: 'fermenter-07 temperature' })
    expect(none.text).toContain('No other keg of this cellar has such a name.')
  })

  test('exports the readings of its range as CSV, with a record', async () => {
    const { body } = await pageOf('temperature', { range: '1h' })
    expect(textOf(body)).toContain('CSV, by time of acceptance')
    const form = /<form method="post" action="\/exports"[\s\S]*?<\/form>/.exec(body)?.[0] ?? ''
    const fields = Object.fromEntries(
      [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    )
    expect(fields).toMatchObject({ list: 'readings', format: 'csv', cellar: testCellar, rack, keg: 'temperature' })
    const exported = await admin.post(paths.exports, { ...fields, since: '', until: '' })
    expect(exported.body.trim().split('\n')).toHaveLength(warm.length + 1)
    const log = textOf((await admin.get(paths.log({ type: 'LogExported' }))).body)
    expect(log).toContain(`exported readings: ${warm.length.toLocaleString('en')} rows`)
  })

  test('works for any name', async () => {
    const { status, body } = await pageOf(hostile.keg, {}, hostile.rack)
    expect(status).toBe(200)
    expect(body).toContain('<h1><bdi>a/b c%2F~</bdi></h1>')
    expect(textOf(body)).not.toContain('"><img')
    expect(body).not.toContain('"><img')
  })

  test('says when all readings of a keg are ahead of the clock', async () => {
    const { status, text } = await pageOf('ahead')
    expect(status).toBe(200)
    expect(text).toContain('more than 10 minutes in the future')
  })

  test('is a 404 with words for a keg without readings', async () => {
    const { status, body } = await pageOf('nothing')
    expect(status).toBe(404)
    expect(body).toContain('No such keg')
    expect(body).toContain(`href="${paths.cellar(testCellar)}"`)
    expect((await admin.get(paths.keg('nowhere', rack, 'temperature'))).status).toBe(404)
  })

  test('is linked from the readings of its cellar and from the event of a reading', async () => {
    const link = `href="${paths.keg(testCellar, rack, 'temperature')}"`
    expect((await admin.get(paths.cellar(testCellar))).body).toContain(link)
    expect((await admin.get(paths.event(`readings-${keyId}`, 0))).body).toContain(link)
  })
})

/** After a reading of this value. */
const pushedFor = async (path: string, value: number): Promise<string> => {
  const connection = await rawConnect(service.url)
  const cookie = [...admin.cookies].map(([name, text]) => `${name}=${text}`).join('; ')
  await connection.send(`GET ${path} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nCookie: ${cookie}\r\n\r\n`)
  await connection.answers(1)
  await send([{ rack, keg: 'temperature', value, timestamp: new Date(clock.now() - 1_000).toISOString() }])
  while (!connection.received().includes(String(value))) await schedule.advance(livePushMs)
  connection.drop()
  return connection.received()
}

test('the live stream of a rack has its line and its charts', async () => {
  const path = paths.rack(testCellar, rack)
  expect((await admin.get(path)).body).toContain(`hx-sse:connect="${paths.liveRack(testCellar, rack)}"`)
  for (const still of [{ isPaused: true }, { from: '2026-02-27', to: '2026-02-28' }])
    expect((await admin.get(paths.rack(testCellar, rack, still))).body).not.toContain('hx-sse:connect')
  const pushed = await pushedFor(paths.liveRack(testCellar, rack), 15.125)
  expect(pushed).toContain('<p id="rack-line">')
  expect(pushed).toContain('hx-target="#rack-readings"')
  expect(pushed.match(/<svg class="chart-plot"/g)).toHaveLength(3)
})

describe('the live stream of a keg', () => {
  test('has the latest value, the facts and only the newest points', async () => {
    const { body } = await pageOf('temperature')
    expect(body).toContain(`hx-sse:connect="${paths.liveKeg(testCellar, rack, 'temperature')}"`)
    const paused = (await pageOf('temperature', { isPaused: true })).body
    expect(paused).not.toContain('hx-sse:connect')
    expect(paused).toContain('Resume')

    const pushed = await pushedFor(paths.liveKeg(testCellar, rack, 'temperature'), 99.25)
    expect(pushed).toContain('hx-target="#keg-facts"')
    const [newest] = chartsIn(pushed, 'data-newest')
    expect(newest?.series[0]?.points.at(-1)?.[3]).toBe(99.25)
    expect(newest?.series[0]?.points.length).toBeLessThan(5)
    const sent = (newest?.series[0]?.points ?? []).reduce((sum, [, , , , count = 0]) => sum + count, 0)
    expect((newest?.series[0]?.before ?? 0) + sent).toBe(warm.length + 2)
    expect(pushed).not.toContain('<svg')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { livePushMs } from '../../../src/http/dashboard/live/live-push.ts'
import { kegsPerRackPageMax } from '../../../src/http/dashboard/show/rack-views.ts'
import { kegsPerPageMax } from '../../../src/http/dashboard/show/reading-views.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { type Service, testCellar, validReading } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

let service: Service
let schedule: DrivenSchedule
let admin: Visitor

const kegsOfCellar = 10_000
const racks = 100
const kegsPerRack = kegsOfCellar / racks

/** A page has at most 100 rows, and each row takes less than 700 bytes. */
const pageBytesMax = 128 * 1024

beforeAll(async () => {
  schedule = drivenSchedule()
  service = await startWithOperators({ liveSchedule: schedule })
  admin = await signedIn(service, 'admin')
  const limit = { readings: 1_000_000, windowMs: 60_000 }
  const { key, keyId } = await service.createKey({ limit })
  const readings = Array.from({ length: kegsOfCellar }, (_, number) => ({
    ...validReading,
    rack: `rack ${Math.floor(number / kegsPerRack)}`,
    keg: `keg ${number % kegsPerRack}`,
    value: number,
  }))
  for (let from = 0; from < readings.length; from += batchReadingsMax) {
    const answer = await service.postBatch(readings.slice(from, from + batchReadingsMax), key)
    if (answer.status !== 200) throw new Error(await answer.text())
  }
  await service.untilFolded(keyId, readings.length)
})

afterAll(() => service.stop())

test('the box leads to a rack, by its name or a part of it', async () => {
  for (const typed of ['rack 42', 'RACK-42', 'ack 42'])
    expect((await admin.get(paths.found(typed))).location).toBe(paths.rack(testCellar, 'rack 42'))
  const { keyId } = await service.createKey({ label: 'Rack' })
  expect((await admin.get(paths.found('rack'))).location).toBe(paths.log({ key: keyId }))
})

/** The names of the shown kegs, such as `rack 3/keg 7`. */
const kegRows = (html: string): readonly string[] => {
  const [table = ''] = html.split('id="latest-title"')
  const rows = [...table.matchAll(/<a class="row-name" href="[^"]*\/kegs\/([^"/]*)\/([^"/]*)">/g)]
  return rows.map(([, rack = '', keg = '']) => `${decodeURIComponent(rack)}/${decodeURIComponent(keg)}`)
}

const firstPush = async (path: string): Promise<string> => {
  const abort = new AbortController()
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(service.url + path, { headers: { Cookie: cookie }, signal: abort.signal })
  const decoder = new TextDecoder()
  let text = ''
  const pushed = schedule.advance(livePushMs)
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (/^data: [\s\S]*\n\n$/m.test(text)) break
  }
  await pushed
  abort.abort()
  return text
}

describe(`readings of ${kegsOfCellar} kegs`, () => {
  test(`show ${kegsPerPageMax} kegs on each page`, async () => {
    const first = (await admin.get(paths.cellar(testCellar))).body
    const second = (await admin.get(paths.cellar(testCellar, '', 2))).body
    expect(kegRows(first)).toEqual(Array.from({ length: kegsPerPageMax }, (_, keg) => `rack 0/keg ${keg}`))
    expect(kegRows(second)[0]).toBe('rack 1/keg 0')
    expect(first).toContain('10,000 kegs')
    expect(second).toContain('Page 2 of 100')
    expect(Buffer.byteLength(first)).toBeLessThan(pageBytesMax)
  })

  test('are pushed as that page alone', async () => {
    const pushed = await firstPush(paths.liveReadings(testCellar, '', 2))
    expect(kegRows(pushed)).toHaveLength(kegsPerPageMax)
    expect(kegRows(pushed)[0]).toBe('rack 1/keg 0')
    expect(Buffer.byteLength(pushed)).toBeLessThan(pageBytesMax)
    const highest = { sort: 'value', isReversed: true } as const
    const sorted = await firstPush(paths.liveReadings(testCellar, '', 2, highest))
    expect([kegRows(sorted).length, kegRows(sorted)[0]]).toEqual([kegsPerPageMax, 'rack 98/keg 99'])
    const { body } = await admin.get(paths.cellar(testCellar, '', 2))
    expect(body).toContain(`hx-sse:connect="${paths.liveReadings(testCellar, '', 2)}"`)
  })

  test('have a page for each rack, which shows its kegs in parts', async () => {
    const first = (await admin.get(paths.rack(testCellar, 'rack 7'))).body
    expect(first).toContain('100 kegs')
    expect([...first.matchAll(/<li class="card chart">/g)]).toHaveLength(kegsPerRackPageMax)
    const last = (await admin.get(paths.rack(testCellar, 'rack 7', {}, 4))).body
    expect([...last.matchAll(/id="chart-(\d+)-title"/g)]).toHaveLength(100 - 3 * kegsPerRackPageMax)
    expect(last).toContain('Page 4 of 4')
  })

  test('are found by words, on the page and live', async () => {
    // The words find keg 42 in the 19 racks with a 7 in their number. In rack 42, they find the 19 kegs with a 7.
    const one = (await admin.get(paths.cellar(testCellar, 'KEG 42  rack 7'))).body
    expect(one).toContain('38 of 10,000 kegs')
    expect(kegRows(one)).toContain('rack 7/keg 42')
    const found = paths.cellar(testCellar, 'keg 4', 2)
    expect(kegRows((await admin.get(found)).body)[0]).toBe('rack 4/keg 24')
    const pushed = await firstPush(paths.liveReadings(testCellar, 'keg 4', 2))
    expect(kegRows(pushed)[0]).toBe('rack 4/keg 24')
  })

  test('end at the last page, for any page number', async () => {
    const none = (await admin.get(paths.cellar(testCellar, 'nowhere " &'))).body
    expect(none).toContain('0 of 10,000 kegs')
    expect(none).toContain('value="nowhere &#34; &amp;"')
    expect((await admin.get(paths.cellar(testCellar, '', 101))).body).toContain('Page 100 of 100')
  })

  test('answer any search, and cut a long one', async () => {
    for (const find of ['%', '\\', '.*', '😀'.repeat(400), ' ', '"><img src=x>']) {
      const answer = await admin.get(`${paths.cellar(testCellar)}?find=${encodeURIComponent(find)}`)
      expect([find, answer.status]).toEqual([find, 200])
      expect(answer.body).not.toContain('"><img')
    }
  })
})

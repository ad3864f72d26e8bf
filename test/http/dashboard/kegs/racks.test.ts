import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { paths } from '../../../../views/paths.ts'
import { type Service, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let auditor: Visitor
let keyId: string
let requestId: string
const clock = manualClock()
const beginMs = clock.now()
const minuteMs = 60_000

/** The kegs of `rack-07` stop after ten minutes, and that of `rack-08` goes on for seven hours. */
beforeAll(async () => {
  service = await startWithOperators({ clock })
  const made = await service.createKey({ label: 'Press, south' })
  keyId = made.keyId
  let sent = 0
  const send = async (rack: string, kegs: readonly string[], value: number): Promise<void> => {
    const timestamp = new Date(clock.now()).toISOString()
    const readings = kegs.map((keg, at) => ({ ...validReading, rack, keg, timestamp, value: value + 10 * at }))
    expect((await service.postBatch(readings, made.key)).status).toBe(200)
    sent += readings.length
  }
  for (let minute = 0; minute < 10; minute += 1) {
    await send('rack-07', ['humidity', 'must', 'temperature'], minute)
    await send('rack-08', ['temperature'], 40)
    clock.advance(minuteMs)
  }
  for (; clock.now() < beginMs + 430 * minuteMs; clock.advance(10 * minuteMs)) await send('rack-08', ['temperature'], 5)
  const refused = await service.post({ ...validReading, value: 'much' }, made.key)
  requestId = refused.headers.get('x-request-id') ?? ''
  await service.untilFolded(keyId, sent)
  auditor = await signedIn(service, 'auditor')
})
afterAll(() => service.stop())

const page = async (path: string): Promise<string> => (await auditor.get(path)).body
const plain = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

/** Like `rack-07/must`, from the table of kegs. */
const kegsIn = (html: string): readonly string[] =>
  [...(html.split('id="latest-title"')[0] ?? '').matchAll(/<a class="row-name" href="[^"]*\/kegs\/([^"]*)">/g)].map(
    ([, keg = '']) => keg,
  )
const ofRack7 = ['rack-07/humidity', 'rack-07/must', 'rack-07/temperature']
const ofRack8 = ['rack-08/temperature']

test('two actions tell when a rack stopped: open its cellar, or search the Log', async () => {
  const [, cellar = ''] = /<a class="row-name" href="([^"]*)"/.exec(await page(paths.cellars)) ?? []
  expect(plain(await page(cellar))).toContain('rack-07 3 kegs · silent · last reading 7 hours ago')
  expect((await auditor.get(paths.found('rack-07'))).location).toBe(paths.rack(testCellar, 'rack-07'))
})

describe("a cellar's readings", () => {
  test('are a tree of racks, which say when they stopped', async () => {
    const body = await page(paths.cellar(testCellar))
    expect(kegsIn(body)).toEqual([...ofRack7, ...ofRack8])
    expect(plain(body)).toContain('rack-07 3 kegs · silent · last reading 7 hours ago')
    expect(plain(body)).toMatch(/rack-08 1 keg · last reading \d+ (seconds|minutes) ago/)
    expect(body).toContain(`href="${paths.rack(testCellar, 'rack-07')}"`)
  })

  test('are sorted by their heads, and turn around', async () => {
    const oldest = { sort: 'age', isReversed: true } as const
    const byAge = await page(paths.cellar(testCellar, '', 1, oldest))
    expect(kegsIn(byAge).at(-1)).toBe('rack-08/temperature')
    expect(byAge).toContain('<th scope="col" aria-sort="descending">')
    expect(byAge.replaceAll('&amp;', '&')).toContain(`href="${paths.cellar(testCellar, '', 1, { sort: 'age' })}"`)
    expect(byAge).toContain(
      `hx-sse:connect="${paths.liveReadings(testCellar, '', 1, oldest).replaceAll('&', '&amp;')}"`,
    )
    const byValue = await page(paths.cellar(testCellar, '', 1, { sort: 'value' }))
    expect(kegsIn(byValue)).toEqual([...ofRack8, ...ofRack7])
    expect(plain(byValue)).toContain('Rack and keg')
  })

  test('show silent kegs first on request, and search within that', async () => {
    const order = { silentFirst: true }
    expect(kegsIn(await page(paths.cellar(testCellar, '', 1, order)))).toEqual([...ofRack7, ...ofRack8])
    const reversed = { silentFirst: true, isReversed: true }
    expect(kegsIn(await page(paths.cellar(testCellar, '', 1, reversed)))).toEqual([...ofRack7.toReversed(), ...ofRack8])
    const found = await page(paths.cellar(testCellar, 'temp', 1, order))
    expect(kegsIn(found)).toEqual(['rack-07/temperature', 'rack-08/temperature'])
    expect(found).toContain(`action="${paths.cellar(testCellar, '', 1, order)}"`)
  })

  test('show the last day of a keg as a line with its gaps', async () => {
    const body = await page(paths.cellar(testCellar, 'rack-07 must'))
    expect(body).toContain('aria-label="Last 24 hours: from 14.5 to 14.5, without readings in 47 half hours"')
    expect(body).toMatch(/<path d="M[\d. ]+h0" fill="none">/)
  })
})

describe("a rack's page", () => {
  test('draws its kegs, and says which are silent', async () => {
    const body = await page(paths.rack(testCellar, 'rack-07'))
    expect([...body.matchAll(/<svg class="chart-plot"/g)]).toHaveLength(3)
    expect(plain(body)).toContain('3 kegs · silent · last reading 7 hours ago')
    expect(body).toContain(`href="${paths.keg(testCellar, 'rack-07', 'must')}"`)
    expect(body).toContain('silent for 7 h')
  })

  test('has the ranges of a keg, and says what is wrong with one', async () => {
    const week = await page(paths.rack(testCellar, 'rack-07', { range: '7d' }))
    expect(week).toContain(`href="${paths.keg(testCellar, 'rack-07', 'must', { range: '7d' })}"`)
    expect(await page(paths.rack(testCellar, 'rack-07', { from: 'soon' }))).toContain('id="fault-from"')
  })

  test('leads to its keys, to their refusals and to the Log', async () => {
    const body = await page(paths.rack(testCellar, 'rack-07'))
    const log = { cellar: testCellar, rack: 'rack-07' }
    for (const path of [paths.key(keyId), paths.refusedRequest(requestId), paths.log(log)])
      expect(body.replaceAll('&amp;', '&')).toContain(`href="${path}"`)
    expect(await page(paths.log(log))).toContain(`href="${paths.rack(testCellar, 'rack-07')}"`)
  })

  test('says that a rack is unknown', async () => {
    const { status, body } = await auditor.get(paths.rack(testCellar, 'rack-99'))
    expect([status, body.includes('No such rack')]).toEqual([404, true])
  })
})

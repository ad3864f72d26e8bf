import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { instantText } from '../../../../src/domain/calendar.ts'
import { cellarStream, readingsStream } from '../../../../src/domain/stream-names.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { download } from '../exports/downloading.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

const clock = manualClock()
const { keg } = validReading
let service: Service
let admin: Visitor
let key: { readonly key: string; readonly keyId: string }

beforeEach(async () => {
  service = await startWithOperators({ clock })
  key = await service.createKey({ label: 'Press' })
  await service.post(validReading, key.key)
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

const wordsOf = (html: string): string =>
  html
    .replaceAll(/<\/(th|td|h2|dt)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#34;', '"')
    .trim()

const seen = async (path: string): Promise<string> => wordsOf((await admin.get(path)).body)

const unitsNow = () => [...(service.core.projections.cellars.get(testCellar)?.units ?? [])]

const eventsOfCellar = async (): Promise<readonly string[]> =>
  (await service.log.read(cellarStream(testCellar), { limit: 100 })).map(({ type }) => type)

describe('the form of a unit', () => {
  test('sets, changes and removes it, each by one event', async () => {
    expect((await admin.get(paths.unit(testCellar, { keg }))).body).toContain('<option value="°C">')
    expect(await admin.post(paths.unit(testCellar), { keg, unit: ' °C ' })).toMatchObject({
      status: 303,
      location: paths.settings(testCellar),
    })
    const settings = await admin.get(paths.settings(testCellar))
    for (const said of ['Unit saved.', 'temperature', '°C']) expect(settings.body).toContain(said)
    expect((await admin.get(paths.unit(testCellar, { keg }))).body).toContain('value="°C"')
    await admin.post(paths.unit(testCellar), { keg, unit: '°F', _shown: 'unit=%C2%B0C' })
    expect(unitsNow()).toEqual([[keg, '°F']])
    await admin.post(paths.unit(testCellar), { keg, unit: '' })
    expect(await seen(paths.settings(testCellar))).toContain('Unit removed.')
    expect(unitsNow()).toEqual([])
    expect(await eventsOfCellar()).toEqual(['CellarCreated', 'CellarUnitSet', 'CellarUnitSet', 'CellarUnitSet'])
  })

  test('is one click from the page of a keg, and leads back there', async () => {
    const { rack } = validReading
    const form = paths.unit(testCellar, { rack, keg })
    expect((await admin.get(paths.keg(testCellar, rack, keg))).body).toContain(
      `href="${form.replaceAll('&', '&amp;')}"`,
    )
    expect((await admin.get(form)).body).toContain(`<a href="${paths.keg(testCellar, rack, keg)}">Cancel</a>`)
    const saved = await admin.post(paths.unit(testCellar), { rack, keg, unit: '°C' })
    expect(saved.location).toBe(paths.keg(testCellar, rack, keg))
    expect(await seen(paths.keg(testCellar, rack, keg))).toContain('°C, for every “temperature” of this cellar. Change')
    const auditor = await signedIn(service, 'auditor')
    expect((await auditor.get(paths.keg(testCellar, rack, keg))).body).not.toContain(paths.unit(testCellar))
  })

  test('saves nothing that was not typed, although another changed it', async () => {
    await service.core.cellars.setUnit(testCellar, { keg, unit: '°F' }, testAsker)
    await admin.post(paths.unit(testCellar), { keg, unit: '°C', _shown: 'unit=%C2%B0C' })
    expect(unitsNow()).toEqual([[keg, '°F']])
    expect(await seen(paths.settings(testCellar))).toContain('You changed no field, so nothing was saved.')
  })

  test('says what is wrong beside the field, and keeps what was typed', async () => {
    const long = await admin.post(paths.unit(testCellar), { keg, unit: 'degrees of Celsius' })
    expect(long.status).toBe(422)
    for (const said of ['The unit must be at most 16 characters.', 'value="degrees of Celsius"', 'Unit of'])
      expect(long.body).toContain(said)
    const hidden = await admin.post(paths.unit(testCellar), { keg, unit: '°\u200bC' })
    expect(hidden.body).toContain('The unit must not contain hidden characters.')
    const spaced = await admin.post(paths.unit(testCellar), { keg: ' x', unit: '°C' })
    expect(spaced.status).toBe(422)
    for (const said of ['The name must not begin or end with a space.', 'type="text" value=" x"'])
      expect(spaced.body).toContain(said)
    expect(unitsNow()).toEqual([])
  })

  test('refuses an auditor, who sees the units without actions', async () => {
    await service.core.cellars.setUnit(testCellar, { keg, unit: '°C' }, testAsker)
    const auditor = await signedIn(service, 'auditor')
    expect((await auditor.post(paths.unit(testCellar), { keg, unit: '°F' })).status).toBe(403)
    const { body } = await auditor.get(paths.settings(testCellar))
    expect(wordsOf(body)).toContain('temperature °C')
    expect(body).not.toContain(paths.unit(testCellar))
    expect(unitsNow()).toEqual([[keg, '°C']])
  })
})

describe('a unit stands beside values', () => {
  beforeEach(async () => {
    await service.core.cellars.setUnit(testCellar, { keg, unit: '°C' }, testAsker)
    await service.post({ ...validReading, keg: 'Temperature', value: 7.25 }, key.key)
  })

  test('of kegs and readings of this name, earlier ones too', async () => {
    const { body } = await admin.get(paths.cellar(testCellar))
    const values = [...body.matchAll(/<td class="number value"[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      wordsOf(cell),
    )
    expect(values.toSorted()).toEqual(['21.5 °C', '21.5 °C', '7.25', '7.25'])
  })

  test('on the page of a reading and in the Log', async () => {
    const event = await seen(paths.event(readingsStream(key.keyId), 0))
    for (const said of ['value 21.5 °C.', 'value 21.5 °C']) expect(event.toLowerCase()).toContain(said.toLowerCase())
    expect(event).toContain('Value 21.5 °C')
    expect(await seen(paths.log({ kind: 'readings', cellar: testCellar }))).toContain('21.5 °C')
    expect(await seen(paths.event(readingsStream(key.keyId), 1))).toContain('Value 7.25')
  })

  test('at an instant as it was then, and its change tells both', async () => {
    const at = clock.now()
    clock.advance(60_000)
    await service.core.cellars.setUnit(testCellar, { keg, unit: '°F' }, testAsker)
    expect(await seen(paths.cellarThen(testCellar, instantText(at)))).toContain('Units then Keg Unit temperature °C')
    expect(await seen(paths.cellarThen(testCellar, instantText(clock.now())))).toContain('temperature °F')
    const event = await seen(paths.event(cellarStream(testCellar), 2))
    expect(event).toContain('changed the unit of kegs named “temperature” in')
    for (const said of ['Keg temperature', 'Unit °C → °F']) expect(event).toContain(said)
  })
})

describe('an export of readings', () => {
  const exported = async (fields: Readonly<Record<string, string>>): Promise<string> =>
    (await download(service, admin, { list: 'readings', ...fields })).answer

  beforeEach(async () => {
    await service.core.cellars.create({ cellar: 'other', title: '' }, testAsker)
    await service.core.cellars.setUnit('other', { keg, unit: 'K' }, testAsker)
    await service.core.cellars.setUnit(testCellar, { keg, unit: '=1+1' }, testAsker)
    await service.post({ ...validReading, keg: 'pressure' }, key.key)
  })

  for (const filter of [{}, { cellar: testCellar }, { key: 'keyId' }] as const) {
    test(`has the unit that holds at its beginning, filtered by ${Object.keys(filter).join() || 'nothing'}`, async () => {
      const fields = 'key' in filter ? { key: key.keyId } : { ...filter }
      const lines = (await exported({ ...fields, format: 'ndjson' })).trim().split('\n')
      expect(lines.map((line) => JSON.parse(line)).map(({ data, unit }) => [data.keg, unit])).toEqual([
        [keg, '=1+1'],
        ['pressure', null],
      ])
      const rows = (await exported({ ...fields, format: 'csv' })).trim().split('\r\n')
      expect(rows.map((row) => row.split(',').at(-1))).toEqual(['unit', "'=1+1", ''])
    })
  }

  test('leaves events as they are stored', async () => {
    const lines = (await exported({ list: 'events', format: 'ndjson' })).trim().split('\n')
    const readings = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'ReadingAccepted')
    expect(readings).toHaveLength(2)
    for (const reading of readings) expect(Object.keys(reading)).not.toContain('unit')
  })
})

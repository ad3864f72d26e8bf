import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { labelChoicesMax } from '../../../../src/http/dashboard/ask/find-by-text.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let auditor: Visitor
const clock = manualClock()
const hostile = '<img src=x onerror=alert(1)>\u202e"&quot;'

const createKey = async (label: string, cellar?: string): Promise<string> =>
  (await service.createKey(cellar === undefined ? { label } : { label, cellar })).keyId

const find = (what: string) => auditor.get(`${paths.findInLog}?what=${encodeURIComponent(what)}`)

beforeAll(async () => {
  service = await startWithOperators({ clock })
  auditor = await signedIn(service, 'auditor')
})
afterAll(() => service.stop())

describe('the box of the Log page', () => {
  test('leads to the key with a label, in any case of its letters', async () => {
    const keyId = await createKey('Press, south')
    for (const typed of ['Press, south', ' pRESS, SOUTH ']) {
      const { status, location } = await find(typed)
      expect([status, location]).toEqual([303, paths.log({ key: keyId })])
    }
  })

  test('finds a key by a part of its label, but not by its former label', async () => {
    const keyId = await createKey('Fermenter 2')
    await service.core.keys.relabel(keyId, { label: 'Fermenter, no. 0421', note: '' }, testAsker)
    for (const typed of ['ferment', '0421', 'fermenter no 0421', 'Fermenter-NO'])
      expect([typed, (await find(typed)).location]).toEqual([typed, paths.log({ key: keyId })])
    expect((await find('Fermenter 2')).status).toBe(404)
    expect((await find('fe')).status).toBe(404)
  })

  test('offers no parts of names if a key has exactly the label', async () => {
    const keyId = await createKey('Cooler')
    await createKey('Cooler, spare')
    expect((await find('cooler')).location).toBe(paths.log({ key: keyId }))
  })

  test('leads to the events of a type, also with a time', async () => {
    for (const typed of ['KeySuspended', 'key suspended', 'suspended'])
      expect((await find(typed)).location).toBe(paths.log({ type: 'KeySuspended' }))
    const when = { from: '2026-02-28T23:50:00.000Z', to: '2026-03-01T00:10:00.000Z' }
    expect((await find('KeySuspended 23:50..00:10')).location).toBe(paths.log({ type: 'KeySuspended', ...when }))
    expect((await find('23:50..00:10')).location).toBe(paths.log(when))
  })

  test('takes a label and a time', async () => {
    const keyId = await createKey('Bottling line')
    const { location } = await find('bottling line 2026-03-01')
    expect(location).toBe(paths.log({ key: keyId, from: '2026-03-01', to: '2026-03-02' }))
  })

  test('offers the keys that share a label, with their cellars', async () => {
    const first = await createKey('Pump')
    const second = await createKey('pump', 'wine-far')
    const { status, body } = await find('PUMP')
    expect(status).toBe(200)
    expect(body).toContain(`Pump (clr_${first}_…) of `)
    expect(body).toContain(`pump (clr_${second}_…) of wine-far`)
    for (const keyId of [first, second]) expect(body).toContain(`href="${paths.log({ key: keyId })}"`)
    expect(body).not.toContain('Also looked for')
  })

  test('offers the newest keys of many with the same label, and says so', async () => {
    const made: string[] = []
    for (let many = 0; many < labelChoicesMax; many += 1) {
      made.push(await createKey('Twin'))
      clock.advance(1)
    }
    const all = await find('Twin')
    for (const keyId of made) expect(all.body).toContain(`clr_${keyId}_`)
    expect(all.body).not.toContain('this label')
    await createKey('Twin')
    const { body } = await find('Twin')
    expect(body.match(/<li class="card">/g)).toHaveLength(labelChoicesMax)
    expect(body).not.toContain(`clr_${made[0]}_`)
    expect(body).toContain(`${labelChoicesMax + 1} keys have this label. The list has the newest ${labelChoicesMax}.`)
  })

  test('shows a hostile label as text', async () => {
    await createKey(hostile)
    await createKey(hostile)
    const { status, body } = await find(hostile)
    expect(status).toBe(200)
    expect(body.slice(body.indexOf('choices-found'))).not.toContain('<img')
    expect(body).toContain('hidden character U+202E')
    expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { labelChoicesMax } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

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

  test('finds no key by a part of its label, or by its former label', async () => {
    const keyId = await createKey('Fermenter 2')
    await service.core.keys.relabel(keyId, { label: 'Fermenter 3', note: '' }, testAsker)
    for (const typed of ['Fermenter', 'Fermenter 2']) {
      const { status, body } = await find(typed)
      expect(status).toBe(404)
      expect(body).toContain('no key with this label')
    }
    expect((await find('fermenter 3')).location).toBe(paths.log({ key: keyId }))
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

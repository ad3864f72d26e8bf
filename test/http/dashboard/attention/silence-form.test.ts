import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

const { rack, keg } = validReading
const kegPage = paths.keg(testCellar, rack, keg)
const form = paths.silence(testCellar)

let service: Service
let admin: Visitor
beforeEach(async () => {
  service = await startWithOperators()
  await service.post(validReading, (await service.createKey()).key)
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

const rulesNow = () =>
  service.core.projections.cellars.get(testCellar)?.silence.map(({ setMs: _, ...rule }) => rule) ?? []

const send = (fields: Readonly<Record<string, string>>) =>
  admin.post(form, { rack, keg, of: 'keg', silence: 'after', after: '', ...fields })

describe('the form for silence', () => {
  test('opens from the pages of a keg, a rack and the settings, for admins', async () => {
    const auditor = await signedIn(service, 'auditor')
    for (const page of [kegPage, paths.rack(testCellar, rack), paths.settings(testCellar)]) {
      const link = /href="(\/cellars\/[^"]*\/silence[^"]*)"/.exec((await admin.get(page)).body)?.[1] ?? ''
      expect((await admin.get(link.replaceAll('&amp;', '&'))).body).toContain('When does it count as silent?')
      expect((await auditor.get(page)).body).not.toContain('/silence?')
    }
  })

  test('sets and removes a rule for a keg, a name, a rack and a cellar', async () => {
    expect((await send({ after: ' 2h ' })).location).toBe(kegPage)
    await send({ of: 'name', after: '3h' })
    await send({ of: 'rack', silence: 'never' })
    await send({ of: 'cellar', after: '1d' })
    expect(rulesNow()).toEqual([
      { rack, keg, after: 7_200_000 },
      { rack: null, keg, after: 10_800_000 },
      { rack, keg: null, after: 'never' },
      { rack: null, keg: null, after: 86_400_000 },
    ])
    expect((await admin.get(kegPage)).body).toContain('after 2 hours without a reading, as set for this keg.')
    await send({ silence: 'usual' })
    expect((await admin.get(kegPage)).body).toContain(
      'after 3 hours without a reading, as set for all kegs of this name.',
    )
    await send({ of: 'name', silence: 'usual' })
    expect((await admin.get(kegPage)).body).toContain('It may be silent, as set for this rack.')
    expect((await admin.post(form, { rack, of: 'rack', silence: 'usual', after: '' })).location).toBe(
      paths.rack(testCellar, rack),
    )
    expect((await admin.get(paths.settings(testCellar))).body).toContain('The whole cellar')
  })

  test('refuses other times and choices, and shows what was typed', async () => {
    for (const after of ['', '59s', '366d', 'soon']) {
      const refused = await send({ after })
      expect([after, refused.status, refused.body.includes(`value="${after}"`)]).toEqual([after, 422, true])
    }
    expect((await send({ silence: 'later' })).status).toBe(422)
    expect(rulesNow()).toEqual([])
  })

  test('says if somebody else has changed the rule meanwhile', async () => {
    const opened = (await admin.get(paths.silence(testCellar, [['rack', rack]]))).body
    const _shown = /name="_shown" value="([^"]*)"/.exec(opened)?.[1]?.replaceAll('&amp;', '&') ?? ''
    await service.core.attention.setRule(testCellar, { rack, keg: null, after: 'never' }, testAsker)
    const sent = await send({ keg: '', of: 'rack', after: '2h', _shown })
    expect([sent.status, sent.body.includes('Changed to “never”')]).toEqual([409, true])
    expect((await send({ keg: '', of: 'rack', silence: 'usual', _shown })).location).toBe(paths.rack(testCellar, rack))
    expect(rulesNow()).toEqual([{ rack, keg: null, after: 'never' }])
  })
})

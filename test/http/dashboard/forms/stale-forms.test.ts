import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Asker } from '../../../../src/actors/core-interface.ts'
import { paths } from '../../../../views/paths.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'
import { attributeIn, fieldsOfForm } from './form-fields.ts'

let service: Service
let admin: Visitor
beforeEach(async () => {
  service = await startWithOperators()
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

type Fields = Readonly<Record<string, string>>

const dayMs = 86_400_000

const byBob: Asker = {
  by: { kind: 'operator', email: emailOf.auditor, session: { id: 'bobs-session', linkMadeBy: null } },
  requestId: 'bobs-request',
}

const formOn = async (page: string, action: string): Promise<Fields> =>
  fieldsOfForm((await admin.get(page)).body, action)

const eventsFrom = async (position: number) => (await service.log.readAll({ limit: 100 })).slice(position)

const eventCount = async (): Promise<number> => (await eventsFrom(0)).length

describe('a stale form of a key', () => {
  const openKey = async () => {
    const { keyId } = await service.createKey({ label: 'Pump & "press"' })
    await service.core.keys.relabel(keyId, { note: 'two\nlines & more' }, testAsker)
    const form = await formOn(paths.editKey(keyId), paths.editKey(keyId))
    const save = (fields: Fields) => admin.post(paths.editKey(keyId), { ...form, ...fields })
    return { keyId, form, save, key: () => service.core.projections.keys.get(keyId) }
  }

  const changeByAnother = async (keyId: string) => {
    await service.core.keys.setLimit(keyId, { readings: 10, windowMs: 60_000 }, testAsker)
    await service.core.keys.setExpiry(keyId, service.clock.now() + dayMs, testAsker)
    await service.core.keys.relabel(keyId, { note: 'Only until the harvest' }, testAsker)
  }

  test('changes typed fields, and keeps those that another changed', async () => {
    const { keyId, save, key } = await openKey()
    await changeByAnother(keyId)
    const before = await eventCount()
    expect((await save({ label: 'Press, north' })).location).toBe(paths.key(keyId))
    expect(key()).toMatchObject({
      label: 'Press, north',
      note: 'Only until the harvest',
      limit: { readings: 10, windowMs: 60_000 },
      expiresAt: service.clock.now() + dayMs,
    })
    expect((await eventsFrom(before)).map(({ type }) => type)).toEqual(['KeyRelabelled'])
  })

  test('tells who changed the same fields meanwhile, and wins when it is sent again', async () => {
    const { keyId, save, key } = await openKey()
    await changeByAnother(keyId)
    await service.core.keys.relabel(keyId, { label: 'Press, south' }, byBob)
    const typed = { limit_readings: '600', limit_seconds: '30', note: '', expires: 'never' }
    const before = await eventCount()
    const asked = await save(typed)
    expect([asked.status, await eventCount()]).toEqual([409, before])
    for (const said of [
      /id="fault-note">.*Changed to “Only until the harvest” by the command line at /,
      /id="fault-limit_readings">.*Changed to 10 per 60 s by the command line at /,
      /id="fault-expires">.*Changed to 20\d\d-.* by the command line at /,
    ])
      expect(asked.body).toMatch(said)
    expect(asked.body).not.toContain('id="fault-label"')
    const saved = await admin.post(paths.editKey(keyId), fieldsOfForm(asked.body, paths.editKey(keyId)))
    expect(saved.location).toBe(paths.key(keyId))
    const limit = { readings: 600, windowMs: 30_000 }
    expect(key()).toMatchObject({ label: 'Press, south', note: '', limit, expiresAt: null })
    const types = (await eventsFrom(before)).map(({ type }) => type)
    expect(types).toEqual(['KeyRelabelled', 'KeyLimitChanged', 'KeyExpirySet'])
    const { body } = await admin.get(paths.key(keyId))
    for (const said of ['Changes saved and in force.', '600']) expect(body).toContain(said)
    expect(body.slice(0, body.indexOf('id="history"'))).not.toContain('Only until the harvest')
  })

  test('names who changed the field, and not who changed another since', async () => {
    const { keyId, save } = await openKey()
    await service.core.keys.relabel(keyId, { label: 'Press, south' }, byBob)
    await service.core.keys.relabel(keyId, { note: 'by the command line' }, testAsker)
    const asked = await save({ label: 'Press, north' })
    expect([asked.status, asked.body.includes(`Changed to “Press, south” by ${emailOf.auditor} at `)]).toEqual([
      409,
      true,
    ])
    const same = await save({ label: 'Press, south' })
    expect([same.status, same.location]).toEqual([303, paths.key(keyId)])
  })

  test('names nobody if the change is older than the events that it reads', async () => {
    const { keyId, save } = await openKey()
    await service.core.keys.relabel(keyId, { label: 'Press, south' }, byBob)
    for (let number = 0; number < 100; number += 1)
      await service.core.keys.relabel(keyId, { note: `note ${number}` }, testAsker)
    const asked = await save({ label: 'Press, north' })
    expect([asked.status, asked.body.includes('Changed to “Press, south”, after you opened this form.')]).toEqual([
      409,
      true,
    ])
  })

  test('names the rotation that has set the expiry', async () => {
    const { keyId, save, key } = await openKey()
    const rotated = await service.core.keys.rotate(keyId, { overlapMs: dayMs }, testAsker)
    if (!rotated.ok) throw new Error(rotated.refusal.kind)
    const timestamp = new Date(service.clock.now()).toISOString()
    await service.post({ ...validReading, timestamp }, rotated.value.key)
    await until(() => key()?.expiresAt !== null)
    const asked = await save({ expires: '30d' })
    expect([asked.status, /id="fault-expires">.* by the rotation at /.test(asked.body)]).toEqual([409, true])
  })

  test('changes readings and seconds together, as one limit', async () => {
    const { keyId } = await service.createKey({})
    await service.core.keys.setLimit(keyId, { readings: 100, windowMs: 60_000 }, testAsker)
    const form = await formOn(paths.editKey(keyId), paths.editKey(keyId))
    await service.core.keys.setLimit(keyId, { readings: 100, windowMs: 1_000 }, testAsker)
    const asked = await admin.post(paths.editKey(keyId), { ...form, limit_readings: '50' })
    expect(service.core.projections.keys.get(keyId)?.limit).toEqual({ readings: 100, windowMs: 1_000 })
    await admin.post(paths.editKey(keyId), fieldsOfForm(asked.body, paths.editKey(keyId)))
    expect(service.core.projections.keys.get(keyId)?.limit).toEqual({ readings: 50, windowMs: 60_000 })
  })

  test('saved as shown changes nothing, and says so', async () => {
    const { keyId, save, key } = await openKey()
    await changeByAnother(keyId)
    const [before, keyBefore] = [await eventCount(), key()]
    expect((await save({})).location).toBe(paths.key(keyId))
    expect(await eventCount()).toBe(before)
    expect(key()).toEqual(keyBefore)
    expect((await admin.get(paths.key(keyId))).body).toContain('You changed no field, so nothing was saved.')
  })

  test('remembers after a fault what it showed first', async () => {
    const { keyId, form, save, key } = await openKey()
    await changeByAnother(keyId)
    const again = await save({ label: 'Press, north', expires: 'date' })
    expect(again.status).toBe(422)
    const hidden = /<input[^>]*name="_shown"[^>]*>/.exec(again.body)?.[0] ?? ''
    expect(attributeIn(hidden, 'value')).toBe(form['_shown'] ?? '')
    await save({ label: 'Press, north' })
    expect(key()).toMatchObject({ label: 'Press, north', limit: { readings: 10, windowMs: 60_000 } })
  })

  test('without shown values is compared with present ones', async () => {
    for (const _shown of ['', '%', '&&==%FF', 'label', 'note=forged', `x=${'&'.repeat(5_000)}`]) {
      const { save, key } = await openKey()
      const typed = { label: 'Press, north', note: 'two\r\nlines & more' }
      const saved = await save({ _shown, ...typed })
      const isForged = _shown === 'label'
      expect([_shown, saved.status]).toEqual([_shown, isForged ? 409 : 303])
      if (isForged) await save({ _shown: '', ...typed })
      expect(key()).toMatchObject({ label: 'Press, north', note: 'two\nlines & more', limit: null })
    }
  })
})

describe('stale settings forms', () => {
  const openSettings = async (action: string) => {
    await service.core.cellars.create({ cellar: testCellar, title: 'Old & title' }, testAsker)
    await service.core.cellars.changePolicy(testCellar, { readingAgeMsMax: 30 * dayMs }, testAsker)
    const form = await formOn(paths.settings(testCellar), action)
    return {
      save: (fields: Fields) => admin.post(action, { ...form, ...fields }),
      cellar: () => service.core.projections.cellars.get(testCellar),
    }
  }

  const limit = { readings: 10, windowMs: 60_000 }

  test('change typed bounds, and keep those that another changed', async () => {
    const { save, cellar } = await openSettings(paths.policy(testCellar))
    await service.core.cellars.changePolicy(testCellar, { limit, readingAgeMsMax: dayMs }, testAsker)
    expect((await save({ ahead_max: '10m' })).location).toBe(paths.settings(testCellar))
    expect(cellar()?.policy).toMatchObject({ limit, readingAgeMsMax: dayMs, readingAheadMsMax: 600_000 })
  })

  test('tell who changed the same bound, and win when they are sent again', async () => {
    const { save, cellar } = await openSettings(paths.policy(testCellar))
    await service.core.cellars.changePolicy(testCellar, { limit, readingAgeMsMax: dayMs }, byBob)
    const asked = await save({ age_max: '7d' })
    expect([asked.status, asked.body.includes(`Changed to “1d” by ${emailOf.auditor} at `)]).toEqual([409, true])
    expect(cellar()?.policy.readingAgeMsMax).toBe(dayMs)
    await admin.post(paths.policy(testCellar), fieldsOfForm(asked.body, paths.policy(testCellar)))
    expect(cellar()?.policy).toMatchObject({ limit, readingAgeMsMax: 7 * dayMs, readingAheadMsMax: null })
    expect((await admin.get(paths.settings(testCellar))).body).toContain('Rules saved.')
  })

  test('saved as shown change nothing, and say so', async () => {
    for (const action of [paths.policy(testCellar), paths.rename(testCellar)]) {
      const { save, cellar } = await openSettings(action)
      await service.core.cellars.changePolicy(testCellar, { limit }, testAsker)
      await service.core.cellars.rename(testCellar, 'Theirs', testAsker)
      const before = await eventCount()
      await save({})
      expect([action, await eventCount()]).toEqual([action, before])
      expect(cellar()).toMatchObject({ title: 'Theirs', policy: { limit } })
      expect((await admin.get(paths.settings(testCellar))).body).toContain('You changed no field')
      await service.core.cellars.changePolicy(testCellar, { limit: null }, testAsker)
      await service.core.cellars.rename(testCellar, 'Old & title', testAsker)
    }
  })

  test('tell the title that somebody else has set, and who', async () => {
    const { save, cellar } = await openSettings(paths.rename(testCellar))
    await service.core.cellars.rename(testCellar, 'Theirs', byBob)
    const asked = await save({ title: 'Mine' })
    expect(asked.body).toContain(`Changed to “Theirs” by ${emailOf.auditor} at `)
    expect(cellar()?.title).toBe('Theirs')
    await admin.post(paths.rename(testCellar), fieldsOfForm(asked.body, paths.rename(testCellar)))
    expect(cellar()?.title).toBe('Mine')
  })

  test('tell the retention that somebody else has set, and who', async () => {
    await service.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
    const action = paths.retention(testCellar)
    const form = await formOn(`${action}?days=30`, action)
    await service.core.cellars.changePolicy(testCellar, { retentionMs: 90 * dayMs }, byBob)
    const asked = await admin.post(action, form)
    expect(asked.body).toContain(`Changed to “90” days by ${emailOf.auditor} at `)
    expect(service.core.projections.cellars.get(testCellar)?.policy.retentionMs).toBe(90 * dayMs)
    await admin.post(action, fieldsOfForm(asked.body, action))
    expect(service.core.projections.cellars.get(testCellar)?.policy.retentionMs).toBe(30 * dayMs)
  })

  test('do not confirm again the retention that they showed', async () => {
    await service.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
    await service.core.cellars.changePolicy(testCellar, { retentionMs: 30 * dayMs }, testAsker)
    const action = paths.retention(testCellar)
    const form = await formOn(`${action}?days=30`, action)
    await service.core.cellars.changePolicy(testCellar, { retentionMs: 400 * dayMs }, byBob)
    expect((await admin.post(action, form)).location).toBe(paths.settings(testCellar))
    expect(service.core.projections.cellars.get(testCellar)?.policy.retentionMs).toBe(400 * dayMs)
  })

  test('tell the unit that somebody else has set, and who', async () => {
    await service.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
    const [page, action] = [paths.unit(testCellar, { rack: 'rack-07', keg: 'bar' }), paths.unit(testCellar)]
    const form = await formOn(page, action)
    await service.core.cellars.setUnit(testCellar, { keg: 'bar', unit: 'kPa' }, byBob)
    const asked = await admin.post(action, { ...form, unit: 'bar' })
    expect(asked.body).toContain(`Changed to “kPa” by ${emailOf.auditor} at `)
    await admin.post(action, fieldsOfForm(asked.body, action))
    expect(service.core.projections.cellars.get(testCellar)?.units.get('bar')).toBe('bar')
  })
})

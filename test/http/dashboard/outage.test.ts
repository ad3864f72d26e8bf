import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { watchedHistory } from '../../../src/http/dashboard/show/history-views.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../support/logs/faulty-log.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

let log: FaultyLog
let service: Service
let admin: Visitor
let keyId = ''

beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startWithOperators({ log })
  admin = await signedIn(service, 'admin')
  keyId = (await service.createKey()).keyId
})
afterEach(async () => {
  await service.stop()
  await log.close()
})

describe('when the store is away', () => {
  test('a command’s page says with 503 that nothing changed', async () => {
    await admin.get(paths.suspendKey(keyId))
    log.goAway()
    const answer = await admin.post(paths.suspendKey(keyId), { reason: '' })
    log.comeBack()
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(answer.body).toContain('Nothing was changed.')
    expect(answer.body).toContain(`href="${paths.key(keyId)}"`)
  })

  test('a half-saved form says so, and completes when sent again', async () => {
    const values = { label: 'Pump', note: '', expires: 'keep', limit_readings: '7', limit_seconds: '60' }
    await admin.get(paths.editKey(keyId))
    log.failAppend({ fault: 'not_written', nth: 2 })
    const partly = await admin.post(paths.editKey(keyId), values)
    expect(partly.status).toBe(503)
    expect(partly.body).toContain('Only part of your change is saved')
    expect(partly.body).not.toContain('Nothing was changed.')
    expect(partly.body).toContain(`href="${paths.key(keyId)}"`)
    await until(() => service.core.projections.keys.get(keyId)?.label === 'Pump')
    await admin.get(paths.editKey(keyId))
    log.failAppend({ fault: 'not_written', nth: 1 })
    // The label is saved already, so the form changes only the limit. Its append fails, so this time nothing is changed.
    expect((await admin.post(paths.editKey(keyId), values)).body).toContain('Nothing was changed.')
    expect((await admin.post(paths.editKey(keyId), values)).status).toBe(303)
    await until(() => service.core.projections.keys.get(keyId)?.limit?.readings === 7)
  })

  test('pages that read the log answer 503; others work', async () => {
    log.goAway()
    const history = await admin.get(paths.key(keyId))
    const [cellars, readings, keys] = await Promise.all(
      [paths.cellars, paths.cellar(testCellar), paths.keys(testCellar)].map((path) => admin.get(path)),
    )
    log.comeBack()
    expect([history.status, history.body.includes('The event log is unavailable')]).toEqual([503, true])
    expect([cellars?.status, readings?.status, keys?.status]).toEqual([200, 200, 200])
  })

  test('the pages of a keg and rack show all but the past', async () => {
    const { key, keyId: sender } = await service.createKey()
    await service.post(validReading, key)
    await service.untilFolded(sender, 1)
    const { rack, keg } = validReading
    log.goAway()
    const pages = [await admin.get(paths.keg(testCellar, rack, keg)), await admin.get(paths.rack(testCellar, rack))]
    log.comeBack()
    expect(pages.map(({ status }) => status)).toEqual([200, 200])
    for (const { body } of pages) expect(body).toContain('This node cannot read the records of it now.')
  })

  test('a key and an account can be acted on without their histories', async () => {
    await service.stop()
    service = await startWithOperators({
      log,
      wrapCore: (core) => ({
        ...core,
        questions: { ...core.questions, ask: async () => ({ kind: 'not_now' }) },
      }),
    })
    admin = await signedIn(service, 'admin')
    const pages = [await admin.get(paths.key(keyId)), await admin.get(paths.account)]
    expect(pages.map(({ status }) => status)).toEqual([200, 200])
    for (const { body } of pages) expect(body).toContain('The history cannot be shown now.')
    expect(pages[0]?.body).toContain(`href="${paths.suspendKey(keyId)}"`)
  })

  test('a live page asks again for a history that it could not show', async () => {
    const { questions } = service.core
    let asked = 0
    const ask: typeof questions.ask = async (...question) => {
      asked += 1
      return asked === 1 ? { kind: 'not_now' } : questions.ask(...question)
    }
    const parts = { core: { ...service.core, questions: { ...questions, ask } }, owner: '', nowMs: 0 }
    const history = watchedHistory(parts, keyId, { page: 1, isEverything: false })
    expect([(await history()).entries, (await history()).entries?.length]).toEqual([null, 1])
  })

  test('no key is made or shown', async () => {
    const page = await admin.get(paths.newKey(testCellar))
    const _key_id = /name="_key_id" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    log.goAway()
    const answer = await admin.post(paths.newKey(testCellar), { expires: 'never', _key_id })
    log.comeBack()
    expect([answer.status, answer.body.includes('clr_')]).toEqual([503, false])
    expect(service.core.projections.keys.ofCellar(testCellar)).toHaveLength(1)
  })
})

describe('when the outcome is unknown', () => {
  test('the page says “not confirmed yet” and what to do', async () => {
    await service.stop()
    const unsure = await startWithOperators({
      wrapCore: (core) => ({
        ...core,
        keys: { ...core.keys, revoke: async () => ({ ok: false, refusal: { kind: 'not_confirmed' } }) },
      }),
    })
    const person = await signedIn(unsure, 'admin')
    const made = await unsure.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
    expect(made.ok).toBe(true)
    const { keyId: unsureKey } = await unsure.createKey()
    await person.get(paths.revokeKey(unsureKey))
    const answer = await person.post(paths.revokeKey(unsureKey), { reason: '' })
    expect([answer.status, answer.location]).toEqual([503, null])
    expect(answer.body).toContain('Not confirmed yet')
    expect(answer.body).toContain('Your change may or may not be in force.')
    expect(answer.body).toContain(`href="${paths.key(unsureKey)}"`)
    expect((await person.get(paths.key(unsureKey))).body).not.toContain('Revoked: no reading')
    await unsure.stop()
  })
})

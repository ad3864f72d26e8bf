import { afterEach, beforeEach, expect, test } from 'bun:test'
import { paths } from '../../../../views/paths.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../../support/logs/faulty-log.ts'
import { type Service, testCellar, validReading } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let log: FaultyLog
let service: Service
let admin: Visitor
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startWithOperators({ log })
  admin = await signedIn(service, 'admin')
})
afterEach(async () => {
  await service.stop()
  await log.close()
})

const wholeKey = /clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/

/** The form as the page offers it. */
const openForm = async () => {
  const { body } = await admin.get(paths.newCellar)
  const [, _key_id = ''] = /name="_key_id" value="([^"]*)"/.exec(body) ?? []
  const [, first_key = ''] = /name="first_key" value="([^"]*)" checked/.exec(body) ?? []
  return { cellar: testCellar, title: '', label: '', first_key, _key_id }
}

const keys = () => service.core.projections.keys.ofCellar(testCellar)

test('a new cellar comes with its first key, which works', async () => {
  const { status, headers, body } = await admin.post(paths.cellars, await openForm())
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
  const [key = ''] = wholeKey.exec(body) ?? []
  expect((await service.post(validReading, key)).status).toBe(200)
  expect(keys()).toMatchObject([{ label: 'Key 1', note: '', limit: null, expiresAt: null }])
  const events = await service.log.readAll({ limit: 100 })
  const [cellarMade, keyMade] = ['CellarCreated', 'KeyCreated'].map((type) =>
    events.find((event) => event.type === type),
  )
  expect(cellarMade?.metadata).toEqual(keyMade?.metadata)
})

test('a new cellar comes without a key if its form says so', async () => {
  const { status, location } = await admin.post(paths.cellars, {
    ...(await openForm()),
    first_key: 'later',
    label: 'x'.repeat(500),
  })
  expect([status, location, keys()]).toEqual([303, paths.keys(testCellar), []])
})

test('a form of a cellar that is sent twice shows its key once', async () => {
  const sent = await openForm()
  expect((await admin.post(paths.cellars, sent)).status).toBe(201)
  const again = await admin.post(paths.cellars, sent)
  const [key, ...others] = keys()
  expect([again.status, again.location, others]).toEqual([303, paths.keyShown(key?.keyId ?? ''), []])
  const other = await admin.post(paths.cellars, { ...sent, _key_id: '4fGh7kLm' })
  expect([other.status, other.body.includes('id="fault-cellar"')]).toEqual([409, true])
  expect(other.body).toContain(`<a href="${paths.keys(testCellar)}"><bdi>${testCellar}</bdi></a>`)
})

test('a refused label of the first key creates no cellar', async () => {
  const sent = { ...(await openForm()), label: 'x'.repeat(500) }
  const { status, body } = await admin.post(paths.cellars, sent)
  expect([status, body.includes('id="fault-label"')]).toEqual([422, true])
  expect(body).toMatch(/name="first_key" value="now" checked/)
  expect(body).toContain(`name="_key_id" value="${sent._key_id}"`)
  expect(service.core.projections.cellars.list()).toEqual([])
})

test('a cellar whose first key failed stays, and the page says so', async () => {
  const sent = await openForm()
  log.failAppend({ fault: 'not_written', nth: 2 })
  const { status, location } = await admin.post(paths.cellars, sent)
  expect([status, location, keys()]).toEqual([303, paths.keys(testCellar), []])
  const { body } = await admin.get(paths.keys(testCellar))
  expect(body).toContain('Its first key was not created, or not confirmed')
  expect(body).toContain('class="notice calm"')
})

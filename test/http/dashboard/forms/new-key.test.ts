import { afterEach, beforeEach, expect, test } from 'bun:test'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'
import { fieldsOfForm } from './form-fields.ts'

let service: Service
let admin: Visitor
beforeEach(async () => {
  service = await startWithOperators()
  await service.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

const dayMs = 86_400_000
const createAction = paths.newKey(testCellar)

test('the form of a new key offers one year first', async () => {
  const { body } = await admin.get(paths.newKey(testCellar))
  const [first] = [...body.matchAll(/name="expires" value="([^"]*)"/g)].map(([, value]) => value)
  const fields = fieldsOfForm(body, createAction)
  expect([first, fields['expires'], body.includes('value="never"')]).toEqual(['1y', '1y', true])
  await admin.post(createAction, fields)
  const [key] = service.core.projections.keys.ofCellar(testCellar)
  expect(key?.expiresAt).toBe(service.clock.now() + 365 * dayMs)
})

test('the page of a key marks an end within 14 days in words', async () => {
  const { keyId } = await service.createKey({ expiresAt: service.clock.now() + 14 * dayMs + 1 })
  const isMarked = async () => (await admin.get(paths.key(keyId))).body.includes('ends soon')
  expect(await isMarked()).toBe(false)
  service.clock.advance(1)
  expect(await isMarked()).toBe(true)
  service.clock.advance(14 * dayMs)
  admin = await signedIn(service, 'admin')
  expect(await isMarked()).toBe(false)
})

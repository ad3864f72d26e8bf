import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import type { Core } from '../../../src/actors/core-interface.ts'
import { refused } from '../../../src/domain/refusal.ts'
import { paths } from '../../../views/paths.ts'
import { startWithOperators } from '../../http/dashboard/visitor.ts'
import { launchChromium } from '../../support/chromium.ts'
import { emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const cellars = 60
const keysEach = 167
const vineyards = 40

let browser: Browser
let service: Service
/** Its stream refuses a revocation. */
let stubborn = ''

const wrapCore = (core: Core): Core => ({
  ...core,
  keys: {
    ...core.keys,
    revoke: async (keyId, reason, asker) =>
      keyId === stubborn ? refused({ kind: 'busy' }) : core.keys.revoke(keyId, reason, asker),
  },
})

const createIn = async (cellar: string): Promise<void> => {
  await service.core.cellars.create({ cellar, title: `Cellar ${cellar}` }, testAsker)
  for (let made = 1; made <= keysEach; made += 1) {
    const label = made <= 20 ? `Press ${made}, row ${cellar}` : `Tank ${made} of vine-${made % vineyards}-yard`
    const key = { cellar, label, note: '', limit: null, expiresAt: null }
    const created = await service.core.keys.create(key, testAsker)
    if (created.ok && label.endsWith('vine-7-yard')) stubborn = created.value.state.keyId
  }
}

beforeAll(async () => {
  // Browsers drop cookies whose time is over by their own clock.
  service = await startWithOperators({ clock: manualClock(Date.now()), wrapCore })
  await Promise.all(Array.from({ length: cellars }, (_, at) => createIn(`c-${at + 1}`)))
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

type View = { readonly javaScriptEnabled?: boolean; readonly width?: number }

const open = async ({ javaScriptEnabled = true, width = 1280 }: View = {}): Promise<Page> => {
  const context = await browser.newContext({ javaScriptEnabled, viewport: { width, height: 800 } })
  const page = await context.newPage()
  await page.goto(service.url + paths.signIn)
  await page.getByLabel('E-mail').fill(emailOf.admin)
  await page.getByLabel('Password', { exact: true }).fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(service.url + paths.cellars)
  return page
}

const withStatus = (word: string, status: 'suspended' | 'revoked' | 'limit'): number =>
  service.core.projections.keys
    .list()
    .filter((key) => key.label.includes(word) && (status === 'limit' ? key.limit : key[status]) !== null).length

test.each([
  { what: 'at 1280 px', view: {}, row: 'c-11' },
  { what: 'at 360 px without JavaScript', view: { javaScriptEnabled: false, width: 360 }, row: 'c-12' },
])('twenty of 10,000 keys are suspended in six actions, $what', async ({ view, row }) => {
  const page = await open(view)
  let actions = 0
  const act = async (action: Promise<unknown>): Promise<void> => {
    actions += 1
    await action
  }
  await act(page.getByRole('link', { name: 'Keys', exact: true }).click())
  await act(page.getByRole('searchbox').fill(`row ${row}`))
  await act(page.getByRole('searchbox').press('Enter'))
  await page.getByText('20 of 10,020 keys').waitFor()
  await act(page.locator(view.javaScriptEnabled === false ? 'input[name=all]' : '[data-picks]').check())
  await act(page.getByRole('button', { name: 'Suspend', exact: true }).click())
  await page.getByRole('heading', { name: `Suspend 20 keys of Cellar ${row}?` }).waitFor()
  await act(page.getByRole('button', { name: 'Suspend 20 keys' }).click())
  await page.getByRole('heading', { name: '20 keys suspended' }).waitFor()
  expect(withStatus(`row ${row}`, 'suspended')).toBe(20)
  expect(actions).toBeLessThanOrEqual(6)
  await page.context().close()
})

test('all that a filter finds is revoked by keyboard, and one refused key is listed', async () => {
  const page = await open()
  await page.goto(service.url + paths.allKeys({ words: ['vine-7-yard'] }))
  const found = cellars * Math.floor((keysEach - 7) / vineyards)
  await page.locator('input[name=all]').focus()
  await page.keyboard.press('Space')
  while ((await page.locator(':focus').getAttribute('value')) !== 'revoke') await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const count = found.toLocaleString('en')
  await page.getByRole('heading', { name: `Revoke ${count} keys of 60 cellars?` }).waitFor()
  const number = page.getByLabel(`To confirm, type the number of keys: ${count}`)
  await number.focus()
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await page.getByText('This is not the number of keys.').waitFor()
  expect(await page.locator(':focus').getAttribute('name')).toBe('count')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(count)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: `${(found - 1).toLocaleString('en')} of ${count} keys revoked` }).waitFor()
  await page.getByRole('heading', { name: '1 key was not changed' }).waitFor()
  expect(withStatus('vine-7-yard', 'revoked')).toBe(found - 1)
  await page.context().close()
})

test('without JavaScript, the page of a long change loads itself until it has ended', async () => {
  const page = await open({ javaScriptEnabled: false, width: 360 })
  await page.goto(service.url + paths.allKeys({ words: ['press'] }))
  await page.locator('input[name=all]').check()
  await page.getByRole('button', { name: 'Set limit' }).click()
  await page.getByLabel('Readings').fill('70')
  await page.getByLabel('Period in seconds').fill('10')
  await page.getByRole('button', { name: /^Set the limit of/ }).click()
  await page.getByRole('heading', { name: /with the new limit$/ }).waitFor()
  expect(withStatus('Press', 'limit')).toBe(1_200 - withStatus('Press', 'suspended'))
  await page.context().close()
})

test('the new keys of a rotation are downloaded once', async () => {
  const page = await open()
  await page.goto(service.url + paths.keys('c-3', { words: ['press'] }))
  await page.locator('[data-picks]').check()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByRole('button', { name: 'Rotate 20 keys' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as CSV' }).click()
  const rows = readFileSync(await (await download).path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  expect(rows).toHaveLength(21)
  await page.reload()
  await page.getByRole('heading', { name: 'The new keys were downloaded' }).waitFor()
  await page.context().close()
})

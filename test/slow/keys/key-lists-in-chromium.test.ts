import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { keysPerPageMax } from '../../../src/http/dashboard/show/key-list.ts'
import { paths } from '../../../views/paths.ts'
import { startWithOperators } from '../../http/dashboard/visitor.ts'
import { launchChromium } from '../../support/chromium.ts'
import { emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const keysOfAll = 10_000
const cellars = 60
/** Made one after the other, so that the newest is known. */
const madeAtOnce = 100

let browser: Browser
let service: Service
let wanted: { readonly key: string; readonly keyId: string }

beforeAll(async () => {
  // Browsers drop cookies whose time is over by their own clock.
  service = await startWithOperators({ clock: manualClock(Date.now()) })
  for (let cellar = 0; cellar < cellars; cellar += 1)
    await service.core.cellars.create({ cellar: `cellar-${cellar}`, title: '' }, testAsker)
  const create = (number: number) =>
    service.createKey({ cellar: `cellar-${number % cellars}`, label: `Press ${number}` })
  for (let number = 0; number < keysOfAll; number += madeAtOnce)
    await Promise.all(Array.from({ length: madeAtOnce }, (_, at) => create(number + at)))
  wanted = await service.createKey({ cellar: 'cellar-7', label: 'Fermenter, north' })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

const open = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(service.url + paths.signIn)
  await page.getByLabel('E-mail').fill(emailOf.admin)
  await page.getByLabel('Password').fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(service.url + paths.cellars)
  return page
}

const rows = (page: Page) => page.locator('#key-list tbody tr')
const pageOfWanted = () => service.url + paths.key(wanted.keyId)

test('one key of 10,000 is found in two actions', async () => {
  const page = await open()
  await page.goto(service.url + paths.allKeys())
  expect(await rows(page).count()).toBe(keysPerPageMax)
  expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(10_000)
  await page.getByRole('searchbox').pressSequentially('fermen')
  await page.getByText('1 of 10,001 keys').waitFor()
  await page.waitForURL(service.url + paths.allKeys({ words: ['fermen'] }))
  expect(await page.evaluate<string>('document.activeElement.name')).toBe('find')
  await page.getByRole('link', { name: 'Fermenter, north' }).click()
  await page.waitForURL(pageOfWanted())
  await page.context().close()
})

test('a pasted key is found as one types, without its secret', async () => {
  const page = await open()
  const secret = wanted.key.slice('clr_12345678_'.length)
  const told: string[] = []
  page.on('request', (request) => told.push(request.url(), request.postData() ?? ''))
  await page.goto(service.url + paths.allKeys())
  await page.getByRole('searchbox').fill(wanted.key)
  await page.getByText('1 of 10,001 keys').waitFor()
  await page.getByRole('searchbox').press('Enter')
  await page.waitForURL(service.url + paths.allKeys({ words: [`clr_${wanted.keyId}`] }))
  expect(told.filter((text) => text.includes(secret))).toEqual([])
  await page.context().close()
})

test.each([
  ['by keyboard alone', {}],
  ['at 360 px', { viewport: { width: 360, height: 740 } }],
  ['without JavaScript', { viewport: { width: 360, height: 740 }, javaScriptEnabled: false }],
] as const)('a key is found, and its menu opens, %s', async (_, options) => {
  const page = await open(options)
  await page.goto(service.url + paths.allKeys())
  if (!('javaScriptEnabled' in options)) await page.keyboard.press('/')
  else await page.getByRole('searchbox').focus()
  await page.keyboard.type('fermenter')
  await page.keyboard.press('Enter')
  await page.waitForURL(service.url + paths.allKeys({ words: ['fermenter'] }))
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
    page.viewportSize()?.width ?? 0,
  )
  await page.getByRole('button', { name: /^Actions for Fermenter/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Revoke', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Revoke', exact: true }).waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Fermenter, north' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(pageOfWanted())
  await page.context().close()
})

test('rows that are selected stay, and a form names them or the filter', async () => {
  const page = await open()
  await page.goto(service.url + paths.keys('cellar-3', { sort: 'label' }))
  const suspend = page.getByRole('button', { name: 'Suspend', exact: true })
  expect(await suspend.isVisible()).toBe(false)
  await page.getByLabel('This page').check()
  await page.getByText(`${keysPerPageMax} selected`).waitFor()
  await rows(page).nth(1).getByRole('checkbox').uncheck()
  await page.getByText(`${keysPerPageMax - 1} selected`).waitFor()
  await page.mouse.move(1, 1)
  await page.getByRole('searchbox').focus()
  await service.createKey({ cellar: 'cellar-3', label: 'A new one' })
  await page.getByText('On hold').waitFor()
  expect(await page.locator('input[name="key"]:checked').count()).toBe(keysPerPageMax - 1)
  await suspend.click()
  const named = new URL(page.url()).searchParams
  expect([named.get('do'), named.get('cellar'), named.getAll('key').length]).toEqual([
    'suspend',
    'cellar-3',
    keysPerPageMax - 1,
  ])
  await page.goto(service.url + paths.keys('cellar-3', { sort: 'label' }))
  await page.getByRole('link', { name: 'A new one' }).waitFor()
  await page.getByLabel(/^All \d+ found/).check()
  await page.getByRole('button', { name: 'Set limit' }).click()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    sort: 'label',
    cellar: 'cellar-3',
    all: 'on',
    do: 'limit',
  })
  await page.context().close()
})

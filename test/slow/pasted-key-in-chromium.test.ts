import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { paths } from '../../views/paths.ts'
import { startWithOperators } from '../http/dashboard/visitor.ts'
import { launchChromium } from '../support/chromium.ts'
import { emailOf, testPassword } from '../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

let browser: Browser
let service: Service
let key: { readonly key: string; readonly keyId: string }

beforeAll(async () => {
  // Browsers drop cookies whose time is over by their own clock.
  service = await startWithOperators({ clock: manualClock(Date.now()) })
  key = await service.createKey({ label: 'Press, south' })
  await service.post({ ...validReading, timestamp: new Date(service.clock.now()).toISOString() }, key.key)
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

type Asked = { readonly method: string; readonly url: string; readonly body: string }

const open = async (javaScriptEnabled: boolean) => {
  const context = await browser.newContext({ javaScriptEnabled })
  const page = await context.newPage()
  await page.goto(service.url + paths.signIn)
  await page.getByLabel('E-mail').fill(emailOf.auditor)
  await page.getByLabel('Password').fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(service.url + paths.cellars)
  const asked: Asked[] = []
  page.on('request', (request) =>
    asked.push({ method: request.method(), url: request.url(), body: request.postData() ?? '' }),
  )
  return { context, page, asked }
}

const keysOfLog = async (page: Page): Promise<void> => {
  await page.goto(service.url + paths.log())
  await page.locator('summary', { hasText: 'Filter' }).click()
  await page.getByLabel('Key', { exact: true }).fill(key.key)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/[?&]key=clr_/)
  await page.getByText('Page of the key').waitFor()
}

const boxOfLog = async (page: Page): Promise<void> => {
  await page.goto(service.url + paths.log())
  await page.getByRole('searchbox').fill(` ${key.key} today`)
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('Page of the key').waitFor()
}

const kegs = async (page: Page): Promise<void> => {
  await page.goto(service.url + paths.cellar(testCellar, 'rack'))
  await page.getByLabel('Find racks and kegs').fill(key.key)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('No rack or keg name matches').waitFor()
}

const keys = async (page: Page): Promise<void> => {
  await page.goto(service.url + paths.allKeys())
  await page.getByRole('searchbox').fill(key.key)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.waitForURL(service.url + paths.allKeys({ words: [`clr_${key.keyId}`] }))
  await page.getByRole('link', { name: 'Press, south' }).waitFor()
}

const expectAskedWithoutSecret = async (
  { asked, page, context }: { readonly asked: readonly Asked[]; readonly page: Page; readonly context: BrowserContext },
  bodiesWithSecret: number,
): Promise<void> => {
  const secret = key.key.slice('clr_12345678_'.length)
  expect(asked.filter(({ url }) => url.includes(secret))).toEqual([])
  expect(asked.filter(({ url }) => url.includes('_csrf'))).toEqual([])
  expect(asked.filter(({ body }) => body.includes(secret))).toHaveLength(bodiesWithSecret)
  expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(bodiesWithSecret)
  expect(page.url()).not.toContain(secret)
  await context.close()
}

test('the list of cellars is searched as one types, without secrets', async () => {
  for (let number = 1; number <= 10; number += 1)
    await service.core.cellars.create({ cellar: `c-${number}`, title: '' }, testAsker)
  const { context, page, asked } = await open(true)
  await page.getByLabel('Find cellars').pressSequentially('C-1')
  await page.getByText('2 of 11 cellars').waitFor()
  expect(await page.locator('.row-name').allTextContents()).toEqual(['c-1', 'c-10'])
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('field-find')
  await service.core.cellars.create({ cellar: 'c-11', title: '' }, testAsker)
  await page.getByText('3 of 12 cellars').waitFor()
  await page.getByLabel('Find cellars').fill(key.key)
  await page.getByText('No cellar has this title').waitFor()
  expect(await page.getByLabel('Find cellars').inputValue()).toBe(key.key.slice(0, 'clr_12345678'.length))
  const secret = key.key.slice('clr_12345678_'.length)
  expect(asked.filter(({ url, body }) => url.includes(secret) || body.includes(secret))).toEqual([])
  await context.close()
})

test('a pasted key loses its secret before it leaves the browser', async () => {
  const window = await open(true)
  for (const ask of [boxOfLog, keysOfLog, kegs]) await ask(window.page)
  await window.page.goBack()
  await window.page.getByLabel('Find racks and kegs').fill('rack')
  await window.page.getByRole('button', { name: 'Find' }).click()
  await window.page.getByText('1 of 1 keg').waitFor()
  await window.page.goto(service.url + paths.key(key.keyId))
  await window.page.getByLabel('Time (UTC)').fill(key.key)
  await window.page.getByRole('button', { name: 'Check' }).click()
  await window.page.getByText('It must be a time').waitFor()
  await expectAskedWithoutSecret(window, 0)
})

test('a key pasted without JavaScript is sent by POST, and in no address', async () => {
  const window = await open(false)
  for (const ask of [boxOfLog, keysOfLog, kegs, keys]) await ask(window.page)
  await expectAskedWithoutSecret(window, 4)
})

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { paths } from '../../views/paths.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Service, startService, testAsker } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

let browser: Browser
let service: Service
const home = mkdtempSync(join(tmpdir(), 'cellarbook-shell-'))
beforeAll(async () => {
  // The copied command sends the shell's time.
  service = await startService({ isDerived: true, clock: manualClock(Date.now()) })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  rmSync(home, { recursive: true })
})

const openSetUpLink = async (options: Parameters<Browser['newContext']>[0]): Promise<Page> => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const link = await service.core.operators.issueLink({ email: null, role: 'admin' }, testAsker)
  if (!link.ok) throw new Error(link.refusal.kind)
  await page.goto(service.url + paths.link(link.value.secret))
  return page
}

const clipboardOf = async (context: BrowserContext): Promise<string> => {
  const paper = await context.newPage()
  await paper.setContent('<textarea></textarea>')
  await paper.locator('textarea').focus()
  await paper.keyboard.press('Control+V')
  const text = await paper.locator('textarea').inputValue()
  await paper.close()
  return text
}

const pasteIntoShell = async (lines: string): Promise<string> => {
  const shell = Bun.spawn(['sh'], { stdin: new Blob([lines]), env: { PATH: process.env['PATH'] ?? '', HOME: home } })
  return new Response(shell.stdout).text()
}

const isInSight = async (page: Page, shown: Locator): Promise<boolean> => {
  const box = await shown.boundingBox()
  const scrolledPx = await page.evaluate('scrollY')
  return box !== null && scrolledPx === 0 && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0)
}

test('a new operator sees the first reading after eight actions', async () => {
  const page = await openSetUpLink({ viewport: { width: 1280, height: 800 } })
  let actions = 0
  const act = (done: Promise<unknown>): Promise<unknown> => {
    actions += 1
    return done
  }
  await act(page.getByLabel('E-mail').fill('ada@example.org'))
  await act(page.getByLabel('Password').fill('twelve chars and more'))
  await act(page.getByRole('button', { name: 'Set up and sign in' }).click())
  await act(page.getByRole('link', { name: 'Create the first cellar' }).click())
  await act(page.getByLabel('Identifier').fill('wine-berlin'))
  await act(page.getByRole('button', { name: 'Create cellar' }).click())
  await act(page.getByRole('button', { name: 'Copy command' }).click())
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const waiting = page.getByText('Waiting for the first reading')
  expect(await isInSight(page, waiting)).toBe(true)
  const lines = await clipboardOf(page.context())
  expect(JSON.parse(String(await act(pasteIntoShell(lines))))).toMatchObject({ status: 'success' })
  const works = page.getByText('It works: the first reading has arrived.')
  await works.waitFor()
  expect([await isInSight(page, works), await waiting.count(), actions]).toEqual([true, 0, 8])
  await page.context().close()
})

test('the same way works without JavaScript, on a narrow screen', async () => {
  const page = await openSetUpLink({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } })
  await page.getByLabel('E-mail').fill('bob@example.org')
  await page.getByLabel('Password').fill('twelve chars and more')
  expect(await page.getByRole('button', { name: 'Show' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  await page.getByRole('link', { name: 'Create cellar' }).click()
  await page.getByLabel('Identifier').fill('plain')
  await page.getByLabel('Label').fill('Press')
  await page.getByRole('button', { name: 'Create cellar' }).click()
  const lines = (await page.locator('#first-command').textContent()) ?? ''
  expect(JSON.parse(await pasteIntoShell(lines))).toMatchObject({ status: 'success' })
  await page.getByRole('link', { name: 'the page of this key', exact: true }).click()
  await page.getByRole('heading', { name: 'Press' }).waitFor()
  await page.context().close()
})

test('a new password can be shown, and is hidden before the form is sent', async () => {
  const page = await openSetUpLink({})
  const field = page.getByLabel('Password')
  await field.fill('too short')
  await page.getByRole('button', { name: 'Show password' }).click()
  expect([await field.getAttribute('type'), await field.inputValue()]).toEqual(['text', 'too short'])
  await page.getByRole('button', { name: 'Hide password' }).click()
  expect(await field.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Show password' }).click()
  await page.evaluate(`document.addEventListener('submit', (event) => {
    event.preventDefault()
    window.typeWhenSent = document.getElementById('field-password').type
  })`)
  await page.getByLabel('E-mail').fill('eva@example.org')
  await field.fill('twelve chars and more')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  expect(await page.evaluate('window.typeWhenSent')).toBe('password')
  await page.context().close()
})

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { everyPage, harmless } from '../views/every-page.ts'

setDefaultTimeout(600_000)

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

/** A usual key has no more requests: created, changed, suspended, resumed, rotated, and revoked. */
const usualRequests = 6

test.each(['key-active', 'key-auditor'])('the page %s of a usual key prints on one sheet', async (name) => {
  const css = await Bun.file(join(import.meta.dir, '../../views/assets/app.css')).text()
  const shown = everyPage(harmless).find((page) => page.name === name)
  const page = await browser.newPage({ colorScheme: 'dark' })
  await page.setContent(String(await shown?.html).replace('</head>', `<style>${css}</style></head>`))
  const rows = "[...document.querySelectorAll('.history tbody tr')]"
  await page.evaluate(`for (const row of ${rows}.slice(${usualRequests})) row.remove()`)
  // Each request of the sample has two events, and the sample answers a question about an instant.
  await page.evaluate("for (const more of document.querySelectorAll('.history-line + .history-line')) more.remove()")
  await page.evaluate("document.querySelector('#state-at .answer')?.parentElement.remove()")
  const printed = await page.pdf({ format: 'A4' })
  expect(printed.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.report').isVisible()).toBe(true)
  expect(await page.locator('.report').textContent()).toMatch(/of the cellar .+ Printed by .+ log position 2,375\./s)
  for (const screenOnly of ['.masthead nav', '.export', '#state-at form'])
    expect(await page.locator(screenOnly).isVisible()).toBe(false)
  expect(await page.evaluate('getComputedStyle(document.documentElement).color')).toBe('rgb(0, 0, 0)')
  await page.close()
})

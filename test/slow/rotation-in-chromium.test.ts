import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { paths } from '../../views/paths.ts'
import { startWithOperators } from '../http/dashboard/visitor.ts'
import { launchChromium } from '../support/chromium.ts'
import { emailOf, testPassword } from '../support/test-operators.ts'
import { type Service, testAsker, validReading } from '../support/test-service.ts'
import { until } from '../support/time/until.ts'

// Only ends the test of a page that never loads.
setDefaultTimeout(600_000)

const minute = 60_000
const axe = Bun.file(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'))

let browser: Browser
let service: Service
beforeAll(async () => {
  service = await startWithOperators()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

type Way = { readonly width: number; readonly javaScriptEnabled: boolean; readonly byKeyboard: boolean }

const ways: readonly (Way & { readonly name: string })[] = [
  { name: 'at 1280 px', width: 1280, javaScriptEnabled: true, byKeyboard: false },
  { name: 'at 360 px by keyboard alone', width: 360, javaScriptEnabled: true, byKeyboard: true },
  { name: 'at 360 px without JavaScript', width: 360, javaScriptEnabled: false, byKeyboard: false },
]

const openedBy = async ({ width, javaScriptEnabled }: Way): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled })
  const page = await context.newPage()
  await page.goto(service.url + paths.signIn)
  await page.getByLabel('E-mail').fill(emailOf.admin)
  await page.getByLabel('Password', { exact: true }).fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

test.each(ways)('a key in use is rotated and retired, and no reading is refused, $name', async (way) => {
  const page = await openedBy(way)
  const { key: oldKey, keyId } = await service.createKey({ label: 'Press, south' })
  const statuses: number[] = []
  const send = async (key: string, rack: string): Promise<void> => {
    const answer = await service.post({ ...validReading, rack }, key)
    statuses.push(answer.status)
  }

  const choose = async (name: string, role: 'link' | 'button' = 'link'): Promise<void> => {
    const wanted = page.getByRole(role, { name, exact: role === 'button' }).first()
    if (!way.byKeyboard) return wanted.click()
    await wanted.waitFor()
    const focused = wanted.and(page.locator(':focus'))
    while ((await focused.count()) === 0) await page.keyboard.press('Tab')
    return page.keyboard.press('Enter')
  }
  /** Without JavaScript, people reload the page. */
  const seen = async (text: string | RegExp): Promise<void> => {
    const shown = page.getByText(text).first()
    if (way.javaScriptEnabled) return shown.waitFor()
    while (!(await shown.isVisible())) await page.reload()
  }
  const judged = async (): Promise<void> => {
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(Number(wide)).toBeLessThanOrEqual(way.width)
    if (!way.javaScriptEnabled) return
    await page.evaluate(await axe.text())
    expect(await page.evaluate('axe.run(document).then(({ violations }) => violations.map(({ id }) => id))')).toEqual(
      [],
    )
  }

  for (const rack of ['rack-1', 'rack-2', 'rack-3']) await send(oldKey, rack)
  await page.goto(service.url + paths.key(keyId))
  await choose('Rotate')
  await choose('Rotate key', 'button')
  const newKey = (await page.locator('#new-key').textContent()) ?? ''
  await page.goto(service.url + paths.key(keyId))
  await seen('0 of 3 racks have switched.')
  await seen('No reading with the new key yet.')
  expect(await page.getByRole('link', { name: 'Retire the old key now' }).count()).toBe(0)

  service.clock.advance(minute)
  await send(newKey, 'rack-1')
  await send(newKey, 'rack-2')
  await send(oldKey, 'rack-2')
  await send(oldKey, 'rack-3')
  await seen('1 of 3 racks have switched.')
  await seen('1 still uses the old key. 1 sends with both.')
  await seen('in 24 hours')
  await judged()
  await choose('Retire the old key now')
  await seen('2 racks still use the old key:')
  await judged()
  await choose('Cancel')

  service.clock.advance(minute)
  await send(newKey, 'rack-2')
  await seen('2 of 3 racks have switched.')
  await send(newKey, 'rack-3')
  await page.goto(service.url + paths.allKeys({ rotation: true }))
  await seen('All 3 racks have switched.')
  await judged()
  await choose('Retire now')
  await seen('No rack is known to still use it')
  await choose('Retire old key', 'button')
  await seen('Old key retired.')
  expect(statuses).toEqual(statuses.map(() => 200))
  await page.goto(service.url + paths.allKeys({ rotation: true }))
  await seen('No rotation goes on: each old key has stopped.')
  await page.goto(service.url + paths.key(keyId))
  expect((await service.post(validReading, oldKey)).status).toBe(401)

  await choose('Let it work again')
  await judged()
  await choose('Let it work again', 'button')
  await seen('The old key has a later end now.')
  expect((await service.post(validReading, oldKey)).status).toBe(200)
  await service.core.keys.revoke(keyId, '', testAsker)
  await page.context().close()
})

test.each(ways.filter(({ byKeyboard }) => !byKeyboard))(
  'a fleet is rotated, and its old keys are retired together, $name',
  async (way) => {
    const page = await openedBy(way)
    const label = `Fleet of ${way.width}`
    const olds = [await service.createKey({ label }), await service.createKey({ label })]
    const send = async (key: string): Promise<number> => (await service.post(validReading, key)).status
    for (const { key } of olds) expect(await send(key)).toBe(200)
    const choose = async (list: string, button: string): Promise<void> => {
      await page.goto(service.url + list)
      for (const box of await page.locator('input[name="key"]').all()) await box.check()
      await page.getByRole('button', { name: button, exact: true }).click()
    }

    await choose(paths.allKeys({ words: [label] }), 'Rotate')
    await page.getByRole('button', { name: 'Rotate 2 keys' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as JSON' }).click(),
    ])
    const newKeys = (await Bun.file(await file.path()).text()).match(/clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g) ?? []
    expect(newKeys).toHaveLength(2)
    service.clock.advance(minute)
    for (const key of newKeys) expect(await send(key)).toBe(200)
    const superseded = () =>
      olds.every(({ keyId }) => service.core.projections.keys.get(keyId)?.rotation?.superseded != null)
    await until(superseded)

    await choose(paths.allKeys({ rotation: true }), 'Retire old keys')
    await page.getByRole('button', { name: 'Retire 2 keys' }).click()
    await page.getByText('2 keys retired').first().waitFor()
    await page.goto(service.url + paths.allKeys({ rotation: true }))
    await page.getByText('No rotation goes on: each old key has stopped.').waitFor()
    for (const { key } of olds) expect(await send(key)).toBe(401)
    for (const key of newKeys) expect(await send(key)).toBe(200)
    await page.context().close()
  },
)

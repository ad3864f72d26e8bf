/** What people do most often with what needs attention takes three actions, however they use the page. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openMaster } from '../../../src/webhooks/master.ts'
import { signedSender } from '../../../src/webhooks/signed-webhook.ts'
import { paths } from '../../../views/paths.ts'
import { startWatching, stopRack, type WatchingService } from '../../support/attention/watched-racks.ts'
import { launchChromium } from '../../support/chromium.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { addOperators, emailOf, testPassword } from '../../support/test-operators.ts'
import { testAsker, testCellar } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

// Only ends the test of a page that never loads.
setDefaultTimeout(600_000)

const axe = Bun.file(join(import.meta.dir, '../../../node_modules/axe-core/axe.min.js'))

let browser: Browser
let node: WatchingService
const received: string[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    received.push(`${request.headers.get('webhook-id') ?? ''} ${await request.text()}`)
    return new Response('thank you')
  },
})

beforeAll(async () => {
  const [log, clock] = [await openFreshLog(), manualClock()]
  await addOperators(log, clock.now())
  const place = { given: new Uint8Array(32), dataDir: '', hasEmbeddedLog: true, newBytes: () => new Uint8Array() }
  const webhooks = {
    node: 'node-1',
    sendsWaiting: true,
    master: () => openMaster(place),
    send: signedSender({ privateAddresses: 'refuse' }, '0'),
    wordsOf: () => 'a rack is silent',
  }
  node = await startWatching({ log, clock, webhooks })
  await stopRack(node)
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await node.stop()
  await node.log.close()
  await receiver.stop(true)
})

type Way = { readonly width: number; readonly javaScriptEnabled: boolean; readonly byKeyboard: boolean }

const ways: readonly (Way & { readonly name: string })[] = [
  { name: 'at 1280 px', width: 1280, javaScriptEnabled: true, byKeyboard: false },
  { name: 'at 360 px by keyboard alone', width: 360, javaScriptEnabled: true, byKeyboard: true },
  { name: 'at 360 px without JavaScript', width: 360, javaScriptEnabled: false, byKeyboard: false },
]

type Story = {
  readonly page: Page
  /** One action. */
  choose(name: string, role?: 'link' | 'button'): Promise<void>
  /** Part of the next action. */
  type(label: string, text: string): Promise<void>
  seen(text: string): Promise<void>
  actions(): number
}

const begin = async (way: Way, path: string): Promise<Story> => {
  const { width, javaScriptEnabled, byKeyboard } = way
  const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled })
  const page = await context.newPage()
  await page.goto(node.url + paths.signIn)
  await page.getByLabel('E-mail').fill(emailOf.admin)
  await page.getByLabel('Password', { exact: true }).fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.goto(node.url + path)
  let actions = 0

  const judged = async (): Promise<void> => {
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(width)
    if (!javaScriptEnabled) return
    await page.evaluate(await axe.text())
    const found = await page.evaluate('axe.run(document).then(({ violations }) => violations.map(({ id }) => id))')
    expect(found).toEqual([])
  }
  const focus = async (wanted: ReturnType<Page['getByRole']>): Promise<void> => {
    await wanted.waitFor()
    const focused = wanted.and(page.locator(':focus'))
    while ((await focused.count()) === 0) await page.keyboard.press('Tab')
  }
  return {
    page,
    choose: async (name, role = 'link') => {
      actions += 1
      const wanted = page.getByRole(role, { name, exact: role === 'button' }).first()
      if (!byKeyboard) return wanted.click()
      await focus(wanted)
      return page.keyboard.press('Enter')
    },
    type: async (label, text) => {
      if (!byKeyboard) return page.getByLabel(label).fill(text)
      await focus(page.getByLabel(label))
      return page.keyboard.type(text)
    },
    seen: async (text) => {
      await page.getByText(text).first().waitFor()
      await judged()
    },
    actions: () => actions,
  }
}

test.each(ways)('“when was it silent?” is answered in three actions, $name', async (way) => {
  const { page, choose, seen, actions } = await begin(way, paths.cellars)
  await choose('Attention')
  await seen('is silent, with 2 kegs')
  await choose('History')
  await seen('2026-03-01 12:15:00 UTC')
  await seen('still silent')
  expect(actions()).toBe(2)
  await page.context().close()

  const fromCellar = await begin(way, paths.cellar(testCellar))
  await fromCellar.choose('rack-2')
  await fromCellar.seen('When was it silent?')
  await fromCellar.choose('temperature')
  await fromCellar.seen('with the whole rack')
  expect(fromCellar.actions()).toBe(2)
  await fromCellar.page.context().close()
})

test.each(ways)('a line is put to rest in three actions, $name', async (way) => {
  const { page, choose, seen, actions } = await begin(way, paths.cellars)
  await choose('Attention')
  await choose('Put to rest')
  await seen('Put to rest?')
  await choose('Put to rest', 'button')
  await seen('Put to rest. It is listed below')
  expect(actions()).toBe(3)
  await page.context().close()
  const line = { cellar: testCellar, kind: 'silent', rack: 'rack-2' } as const
  expect((await node.core.attention.rest(line, 0, testAsker)).ok).toBe(true)
})

test.each(ways)('a webhook is made and tested in three actions, $name', async (way) => {
  const { page, choose, type, seen, actions } = await begin(way, paths.attention)
  await choose('Set it up')
  await type('Address', `http://127.0.0.1:${receiver.port}/${way.width}`)
  await choose('Make webhook', 'button')
  await seen('Signing secret')
  await choose('Send a test', 'button')
  await seen('The test was delivered.')
  await seen('200 · thank you')
  expect(actions()).toBe(3)
  expect(received.at(-1)).toContain('"type":"cellarbook.test"')
  await page.context().close()
  for (const { webhookId } of node.core.webhooks.list()) await node.core.webhooks.remove(webhookId, testAsker)
})

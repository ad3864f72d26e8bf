import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { loadAssets } from '../../src/http/dashboard/assets.ts'
import { FirstReading } from '../../views/keys/key-created.tsx'
import { KeyList } from '../../views/keys/keys-page.tsx'
import { LogPush } from '../../views/log/list/log-page.tsx'
import { launchChromium } from '../support/chromium.ts'
import {
  everyPage,
  harmless,
  nowMs,
  sampleKey,
  sampleKeyList,
  sampleLogPush,
  sampleReading,
} from '../views/every-page.ts'
import { type SamplePush, sampleKegPush } from '../views/sample-keg-pages.ts'

// This limit is long, because the machine may be busy. It only ends the test of a page that never loads.
setDefaultTimeout(600_000)

/**
 * The content policy of the real service. The tests serve every page under it, without the service, to find blocked
 * scripts and styles.
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const root = join(import.meta.dir, '../..')
/** As the service sends them. */
const assets = new Map(loadAssets().all.map((asset) => [`/assets/${asset.name}`, asset]))
const pages = everyPage(harmless).filter((page) => page.name !== 'first-reading')

/** Texts that could widen a page, or turn it around. */
const strangeTexts = ['W'.repeat(200), `${'قبو النبيذ '.repeat(12)}(${'م'.repeat(90)})`]
const strangePages = strangeTexts.flatMap((text, at) =>
  everyPage(() => text)
    .filter((page) => page.name !== 'first-reading')
    .map((page) => ({ ...page, name: `strange-${at}/${page.name}` })),
)
const byPath = new Map(pages.map((page) => [`/${page.name}`, page]))
const strangeByPath = new Map(strangePages.map((page) => [`/${page.name}`, page]))

/** For each path, the functions that send a message to its open streams. */
const streams = new Map<string, Set<(message: string) => void>>()

const lookers = new Set<() => void>()

/** Resolves when `isSo` is true. Checks it whenever a stream opens or closes. */
const until = (isSo: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isSo()) return
      lookers.delete(look)
      resolve()
    }
    lookers.add(look)
    look()
  })

const streamsChanged = (): void => {
  for (const look of lookers) look()
}

const openStream = (path: string): Response => {
  let send = (_: string): void => {}
  const body = new ReadableStream<string>({
    start: (controller) => {
      send = (message) => controller.enqueue(message)
      streams.set(path, (streams.get(path) ?? new Set()).add(send))
      controller.enqueue(': open\n\n')
      streamsChanged()
    },
    cancel: () => {
      streams.get(path)?.delete(send)
      streamsChanged()
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

const answer = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  const asset = assets.get(pathname)
  if (asset !== undefined) return new Response(asset.bytes, { headers: { 'Content-Type': asset.type } })
  if (pathname.startsWith('/live/')) return openStream(pathname)
  const path = pathname.endsWith('/revoke') ? '/confirm-revoke' : pathname
  const page = byPath.get(path) ?? strangeByPath.get(path)
  return new Response(page === undefined ? 'no such page' : await page.html, {
    status: page === undefined ? 404 : 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy },
  })
}

// Without an idle timeout, a stream stays open if a page fails to close it, and the test can see that.
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
const base = `http://127.0.0.1:${server.port}`
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium()
})

afterAll(async () => {
  await browser.close()
  await server.stop(true)
})

type Visitor = { readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }

/** Records console errors and exceptions, for example of blocked scripts and styles. */
const visitor = async (options: Parameters<Browser['newContext']>[0]): Promise<Visitor> => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (fault) => complaints.push(`${page.url()}: ${fault.message}`))
  return { context, page, complaints }
}

const rulesets = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Each page is loaded once, and shown in all these ways. axe is slow, so it judges each layout once, and of the other theme of
 * a layout only its colours.
 */
const looks: readonly {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly judged: object | null
}[] = [
  { colorScheme: 'light', width: 1280, judged: { runOnly: rulesets } },
  { colorScheme: 'dark', width: 1280, judged: null },
  { colorScheme: 'light', width: 800, judged: null },
  { colorScheme: 'light', width: 360, judged: { runOnly: { type: 'rule', values: ['color-contrast'] } } },
  { colorScheme: 'dark', width: 360, judged: { runOnly: rulesets } },
]

test('every page passes WCAG 2.2 AA and never scrolls sideways, in every look', async () => {
  const axe = await Bun.file(join(root, 'node_modules/axe-core/axe.min.js')).text()
  const { context, page, complaints } = await visitor({})
  const faults: unknown[] = []
  for (const path of byPath.keys()) {
    await page.goto(base + path)
    await page.evaluate(axe)
    for (const { colorScheme, width, judged } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 740 })
      const overflowPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      if (overflowPx !== 0) faults.push({ path, width, overflowPx })
      if (judged === null) continue
      const violations = await page.evaluate(
        `axe.run(document, ${JSON.stringify(judged)})
        .then((result) => result.violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      )
      if (JSON.stringify(violations) !== '[]') faults.push({ path, colorScheme, width, violations })
    }
  }
  expect(faults).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('very long names and names from right to left never widen a page', async () => {
  const { context, page } = await visitor({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false })
  const faults: unknown[] = []
  for (const path of strangeByPath.keys()) {
    await page.goto(base + path)
    const overflowPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    const direction = await page.evaluate('getComputedStyle(document.querySelector("main")).direction')
    if (overflowPx !== 0 || direction !== 'ltr') faults.push({ path, overflowPx, direction })
  }
  expect(faults).toEqual([])
  await context.close()
})

/** What people can act on. A browser gives a link or a control with the tab index -1 to the pointer only. */
const controls = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, pre[tabindex]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)`

/** A field for a date and time has several stops. */
const stopsOfDateField = 10

test('every link and control can be reached by the Tab key, and shows its focus', async () => {
  const { context, page, complaints } = await visitor({})
  const faults: unknown[] = []
  for (const path of byPath.keys()) {
    await page.goto(base + path)
    const count = await page.evaluate<number>(`(() => {
      window.controls = ${controls}
      window.reached = new Set()
      window.unseen = []
      document.addEventListener('focusin', ({ target }) => {
        window.reached.add(target)
        const shown = target.matches('.choice input') ? target.nextElementSibling : target
        if (getComputedStyle(shown).outlineStyle === 'none') window.unseen.push(target.outerHTML.slice(0, 120))
      })
      return window.controls.length
    })()`)
    await Promise.all(Array.from({ length: count + stopsOfDateField }, () => page.keyboard.press('Tab')))
    const left = await page.evaluate<string[]>(`(() => {
      const hrefs = new Set([...document.querySelectorAll('a[href]:not([tabindex="-1"])')].map((link) => link.getAttribute('href')))
      const isOther = (one) => window.reached.has(one) || (one.tabIndex === -1 && hrefs.has(one.getAttribute('href')))
      const isRadio = (one) => one.type === 'radio' && [...window.reached].some((other) => other.name === one.name)
      return window.controls.filter((one) => !isOther(one) && !isRadio(one)).map((one) => one.outerHTML.slice(0, 120))
    })()`)
    const unseen = await page.evaluate<string[]>('window.unseen')
    if (left.length > 0 || unseen.length > 0) faults.push({ path, left, unseen })
  }
  expect(faults).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('without JavaScript, every page has its text and only controls that work', async () => {
  const { context, page } = await visitor({ javaScriptEnabled: false })
  const faults: unknown[] = []
  for (const path of byPath.keys()) {
    await page.goto(base + path)
    const heading = await page.locator('h1').first().isVisible()
    const dead = await page
      .locator('button[type="button"]:not([popovertarget]):visible, a[href^="javascript:"], a[href="#"]')
      .count()
    const withoutButton = await page.evaluate<number>(`[...document.querySelectorAll('form')]
      .filter((form) => form.querySelector('button:not([type="button"])') === null).length`)
    if (!heading || dead > 0 || withoutButton > 0) faults.push({ path, heading, dead, withoutButton })
  }
  expect(faults).toEqual([])
  await context.close()
})

test('the copy button copies the key, and tells people and screen readers', async () => {
  const { context, page, complaints } = await visitor({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${base}/key-created`)
  const button = page.getByRole('button', { name: 'Copy key' })
  await button.click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.locator('.secret [role="status"]').textContent()).toBe('Copied')
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(sampleKey)
  await button.waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('the first reading replaces the waiting text, and the page closes its stream', async () => {
  const { context, page, complaints } = await visitor({})
  const path = '/live/keys/7Qp2abCd/first-reading'
  await page.goto(`${base}/key-created`)
  await page.getByText('Waiting for the first reading').waitFor()
  const reading = await FirstReading({ keyId: '7Qp2abCd', reading: sampleReading(harmless) })
  await until(() => streams.get(path)?.size === 1)
  for (const send of streams.get(path) ?? []) send(`data: ${reading.replaceAll('\n', '\ndata: ')}\n\n`)
  await page.getByText('It works: the first reading has arrived.').waitFor()
  expect(await page.getByText('Waiting for the first reading').count()).toBe(0)
  await until(() => streams.get(path)?.size === 0)
  expect(complaints).toEqual([])
  await context.close()
})

test('a live update keeps the focus', async () => {
  const { context, page, complaints } = await visitor({})
  const path = '/live/cellars/wine-berlin/keys'
  await page.goto(`${base}/keys-active`)
  const filter = page
    .locator('#key-list')
    .getByRole('link', { name: /^Expires/ })
    .first()
  await filter.focus()
  await until(() => streams.get(path)?.size === 1)
  const list = await KeyList({ ...sampleKeyList(harmless), nowMs: nowMs + 60_000, isAdmin: true })
  const changed = list.replace('<b>2,520</b>', '<b>2,521</b>')
  expect(changed).not.toBe(list)
  for (const send of streams.get(path) ?? []) send(`data: ${changed.replaceAll('\n', '\ndata: ')}\n\n`)
  await page.getByText('2,521').waitFor()
  expect(await page.locator('#key-list').count()).toBe(1)
  expect(await page.evaluate<string>('document.activeElement.textContent')).toStartWith('Expires')
  expect(complaints).toEqual([])
  await context.close()
})

test('the log keeps its rows while the pointer or the focus is on them', async () => {
  const { context, page, complaints } = await visitor({})
  const path = '/live/log'
  await page.goto(`${base}/log`)
  await until(() => streams.get(path)?.size === 1)
  const push = async (count: string): Promise<void> => {
    const html = (await LogPush(sampleLogPush(harmless))).replaceAll('2,381 readings', count)
    for (const send of streams.get(path) ?? []) send(`data: ${html.replaceAll('\n', '\ndata: ')}\n\n`)
  }
  const receipt = page.locator('#log-list td.place a').first()
  await receipt.focus()
  await push('2,382 readings')
  await push('2,383 readings')
  expect(await page.getByText('2,381 readings').count()).toBeGreaterThan(0)
  expect([await page.getByText('On hold').isVisible(), await page.locator('.live-mark').isVisible()]).toEqual([
    true,
    false,
  ])
  await page.getByRole('searchbox').focus()
  await page.getByText('2,383 readings').first().waitFor()
  await receipt.hover()
  await push('2,384 readings')
  await page.getByRole('button', { name: 'Find' }).hover()
  await page.getByText('2,384 readings').first().waitFor()
  expect([await page.getByText('On hold').isVisible(), await page.locator('.live-mark').isVisible()]).toEqual([
    false,
    true,
  ])
  expect(complaints).toEqual([])
  await context.close()
})

test('readings keep rows under the focus, and the key / leads to the box', async () => {
  const { context, page, complaints } = await visitor({})
  const path = '/live/cellars/wine-berlin/readings'
  await page.goto(`${base}/readings-page`)
  const send = async (value: string): Promise<void> => {
    const html = await page.evaluate<string>('document.getElementById("cellar-readings").outerHTML')
    for (const write of streams.get(path) ?? [])
      write(`data: ${html.replaceAll('21.87', value).replaceAll('\n', '\ndata: ')}\n\n`)
  }
  await until(() => streams.get(path)?.size === 1)
  await page.locator('#cellar-readings td a').first().focus()
  await send('99.75')
  await page.getByText('On hold').waitFor()
  expect(await page.getByText('99.75').count()).toBe(0)
  await page.keyboard.press('/')
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('field-find')
  await page.getByText('99.75').first().waitFor()
  await page.keyboard.type('rack/1')
  expect(await page.getByRole('searchbox').inputValue()).toEndWith('rack/1')
  expect(complaints).toEqual([])
  await context.close()
})

test('the keyboard reads a chart, zooms, and opens the readings of a point', async () => {
  const { context, page, complaints } = await visitor({})
  const chart = page.getByRole('application', { name: /^Chart/ })
  const readout = page.locator('.chart-readout')
  const open = async (): Promise<void> => {
    await page.goto(`${base}/keg`)
    await chart.focus()
  }
  await open()
  expect(await readout.textContent()).toContain('2026-11-21 10:10 to 10:15 UTC: ')
  await page.keyboard.press('ArrowLeft')
  expect(await readout.textContent()).toMatch(/10:05 to 10:10 UTC: [\d.]+ °C, [\d.]+ to [\d.]+, 30 readings/)
  await page.keyboard.press('Home')
  expect(await readout.textContent()).toContain('2026-11-20 10:15 to 10:20')
  await page.keyboard.press('+')
  await page.waitForURL((url) => url.searchParams.has('from') && url.hash === '#chart')
  await open()
  await page.keyboard.press('-')
  await page.waitForURL((url) => url.searchParams.get('from') === '2026-11-19 22:15:00')
  await open()
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('to') === '2026-11-21T10:15:00.000Z')
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
  await context.close()
})

test('the pointer zooms a chart, and opens the readings of a point', async () => {
  const { context, page } = await visitor({})
  await page.goto(`${base}/keg`)
  const box = await page.locator('.chart-drawing .u-over').boundingBox()
  if (box === null) throw new Error('the chart is not drawn')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width / 4, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2, y, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL((url) => url.searchParams.has('to'))
  const asked = new URL(page.url()).searchParams
  const [from, to] = ['from', 'to'].map((name) => Date.parse(`${asked.get(name)}Z`))
  expect(Math.abs(Number(to) - Number(from) - 6 * 3_600_000)).toBeLessThan(10 * 60_000)
  await page.goto(`${base}/keg`)
  await page.mouse.click(box.x + box.width / 4, y)
  await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('kind') === 'readings')
  await context.close()
})

/** The page of a keg with its live stream, half a minute after it was loaded. */
const liveKeg = async () => {
  const { context, page, complaints } = await visitor({})
  const path = '/live/cellars/wine-berlin/kegs/rack-17/temperature'
  await page.clock.install()
  await page.goto(`${base}/keg`)
  await until(() => streams.get(path)?.size === 1)
  await page.clock.fastForward(31_000)
  await page.evaluate('window.isSame = true')
  const push = async (change: SamplePush): Promise<void> => {
    const html = await sampleKegPush(harmless, nowMs, change)
    for (const send of streams.get(path) ?? []) send(`data: ${html.replaceAll('\n', '\ndata: ')}\n\n`)
  }
  const loads = async (change: SamplePush): Promise<void> => {
    const loaded = page.waitForEvent('load')
    await push(change)
    await loaded
  }
  return { context, page, complaints, push, loads }
}

test('a chart cuts no time off at its right edge', async () => {
  const { context, page } = await visitor({})
  const shown = await (await fetch(`${base}/keg`)).text()
  const toMs = Number(/"to":(\d+)/.exec(shown.replaceAll('&#34;', '"'))?.[1])
  const times = Array.from({ length: 40 }, (_, at) => [toMs - at * 5 * 60_000, `21 Nov 00:${10 + at}`])
  const body = shown.replaceAll('&#34;', '"').replace(/"times":\[.*?\]\]/, `"times":${JSON.stringify(times)}`)
  const attribute = (text: string): string => text.replaceAll('"', '&#34;')
  const changed = body.replace(
    /data-chart="(\{.*?\})" data-log/,
    (_, data) => `data-chart="${attribute(data)}" data-log`,
  )
  await page.route(`${base}/keg`, (route) => route.fulfill({ body: changed, contentType: 'text/html' }))
  await page.addInitScript(`
    window.textEnds = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
      if (text.startsWith('21 Nov')) window.textEnds.push(x + this.measureText(text).width / 2 - this.canvas.width)
      return fillText.call(this, text, x, ...rest)
    }`)
  for (const width of [1_280, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`${base}/keg`)
    await page.locator('figure.drawn').waitFor()
    const ends = await page.evaluate<readonly number[]>('window.textEnds')
    expect(ends.length).toBeGreaterThan(3)
    // uPlot rounds places to whole pixels.
    expect(Math.max(...ends)).toBeLessThan(1)
  }
  await context.close()
})

test('a live update moves the newest point of a chart, and its scale', async () => {
  const { context, page, complaints, push } = await liveKeg()
  const leftOf = () => page.evaluate<number>('document.querySelector(".chart-drawing .u-over").offsetLeft')
  const left = await leftOf()
  await push({ mean: 12.75 })
  await page.getByText('10:10 to 10:15 UTC: 12.75 °C, 12.75 to 12.75').waitFor()
  expect(await leftOf()).toBe(left)
  expect(await page.locator('.chart-readout').getAttribute('aria-live')).toBe('off')
  await push({ mean: 1_234_567 })
  await page.getByText('10:10 to 10:15 UTC: 1234567').waitFor()
  expect(await leftOf()).toBeGreaterThan(left + 20)
  expect(await page.evaluate('window.isSame')).toBe(true)
  expect(complaints).toEqual([])
  await context.close()
})

test('a live chart whose last point leaves its range says so', async () => {
  const { context, page, complaints, push } = await liveKeg()
  const chart = page.getByRole('application', { name: /^Chart/ })
  await chart.focus()
  // Each update follows on the one before it.
  for (let laterSteps = 3; laterSteps <= 288; laterSteps += 3) await push({ laterSteps })
  await page.getByRole('paragraph').getByText('No reading has a time in this range.').waitFor()
  for (const key of ['Home', 'ArrowLeft', 'End']) await page.keyboard.press(key)
  expect(await page.evaluate('window.isSame')).toBe(true)
  expect(complaints).toEqual([])
  await context.close()
})

test('late readings load a chart again, but not while something is typed', async () => {
  const { context, page, push, loads } = await liveKeg()
  await page.getByText('From … to …').click()
  const field = page.locator('#field-from')
  await field.fill('rack')
  await page.locator('h1').click()
  await push({ late: 40 })
  await page.locator('[data-newest]').waitFor({ state: 'attached' })
  expect([await page.evaluate('window.isSame'), await field.inputValue()]).toEqual([true, 'rack'])
  await field.fill('')
  await page.locator('h1').click()
  await loads({ late: 40 })
  await context.close()
})

test('an update that misses steps loads a chart again', async () => {
  const { context, loads } = await liveKeg()
  await loads({ laterSteps: 280 })
  await context.close()
})

test('without JavaScript, the picture of the server is the chart', async () => {
  const { context, page } = await visitor({ javaScriptEnabled: false, forcedColors: 'active' })
  await page.goto(`${base}/keg`)
  expect(await page.getByRole('img', { name: /^temperature of rack-17, from 2026-11-20/ }).isVisible()).toBe(true)
  expect(await page.getByText('silent for 2 h', { exact: true }).isVisible()).toBe(true)
  expect(await page.getByRole('link', { name: 'Zoom out' }).isVisible()).toBe(true)
  await context.close()
})

test('a revocation is confirmed in a dialog, and without JavaScript on a page', async () => {
  const { context, page, complaints } = await visitor({})
  await page.goto(`${base}/key-active`)
  const link = page.getByRole('link', { name: /^Revoke/ })
  await link.click()
  await page.getByRole('dialog', { name: /^Revoke/ }).waitFor()
  expect(await page.getByRole('dialog').getByText('This key is in use:').isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate<string>('document.activeElement.textContent')).toStartWith('Revoke')
  expect(complaints).toEqual([])
  await context.close()

  const bare = await visitor({ javaScriptEnabled: false })
  await bare.page.goto(`${base}/key-active`)
  await bare.page.getByRole('link', { name: /^Revoke/ }).click()
  await bare.page.getByRole('button', { name: 'Revoke key' }).waitFor()
  await bare.context.close()
})

test('without JavaScript, buttons that need it are hidden', async () => {
  const { context, page } = await visitor({ javaScriptEnabled: false })
  await page.goto(`${base}/key-created`)
  expect(await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0)
  expect(await page.getByText('When the reading arrives').isVisible()).toBe(true)
  await context.close()
})

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { liveStreamsPerSessionMax } from '../../src/http/dashboard/live/live-push.ts'
import { eventKindsShown } from '../../views/log/kind-mark.tsx'
import { paths } from '../../views/paths.ts'
import { startWithOperators } from '../http/dashboard/visitor.ts'
import { launchChromium } from '../support/chromium.ts'
import { openFreshLog } from '../support/logs/engine.ts'
import { emailOf } from '../support/test-operators.ts'
import { type Service, startService, testAsker } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { until } from '../support/time/until.ts'

// This limit is long, because the machine may be busy. It only ends the test of a page that never loads.
setDefaultTimeout(600_000)

/** If a page did not escape this name in a shell command, the quote would end the string and start a command. */
const hostileCellar = "'; rm -rf ~ #"
const hostileText = '"><img src=x onerror=alert(1)>'
const email = 'ada@example.org'
const password = 'twelve chars and more'

let browser: Browser
let service: Service
const home = mkdtempSync(join(tmpdir(), 'cellarbook-shell-'))

beforeAll(async () => {
  // The commands that a page offers for copying send the shell's time. The service must have a similar time to accept
  // it.
  service = await startService({ isDerived: true, clock: manualClock(Date.now()) })
  browser = await launchChromium()
})

afterAll(async () => {
  await browser.close()
  await service.stop()
  rmSync(home, { recursive: true })
})

type Window = { readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }

/**
 * Records blocked resources, exceptions and dialogs, which no page should have. Only an injected script could open a
 * dialog.
 */
const newWindow = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Window> => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (fault) => complaints.push(`${page.url()}: ${fault.message}`))
  page.on('dialog', (dialog) => {
    // The page of a new key asks before it is left.
    if (dialog.type() === 'beforeunload') return dialog.accept()
    complaints.push(`${page.url()}: a dialog said ${dialog.message()}`)
    return dialog.dismiss()
  })
  return { context, page, complaints }
}

const setUpLink = async (): Promise<string> => {
  const link = await service.core.operators.issueLink({ email: null, role: 'admin' }, testAsker)
  if (!link.ok) throw new Error(link.refusal.kind)
  return service.url + paths.link(link.value.secret)
}

/** Runs pasted lines with a home folder of its own. An injected command could delete only that. */
const runInShell = async (lines: string): Promise<string> => {
  const shell = Bun.spawn(['sh'], { stdin: new Blob([lines]), env: { PATH: process.env['PATH'] ?? '', HOME: home } })
  const output = await new Response(shell.stdout).text()
  await shell.exited
  return output
}

/** Pastes the copied text into an empty page, because the dashboard's pages may not read the clipboard. */
const copied = async ({ context, page }: Window, button: string): Promise<string> => {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const paper = await context.newPage()
  await paper.setContent('<textarea></textarea>')
  await paper.locator('textarea').focus()
  await paper.keyboard.press('Control+V')
  const text = await paper.locator('textarea').inputValue()
  await paper.close()
  await page.getByRole('button', { name: button, exact: true }).waitFor()
  return text
}

const expectNoIntruder = async (page: Page): Promise<void> => expect(await page.locator('img').count()).toBe(0)

test('an admin creates a cellar and a key, sees a reading, and revokes', async () => {
  await Bun.write(join(home, 'precious'), 'still here')
  const window = await newWindow()
  const { context, page, complaints } = window
  await page.goto(await setUpLink())
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Set up and sign in' }).click()

  await page.getByRole('link', { name: 'Create the first cellar' }).click()
  await page.getByLabel('Identifier').fill(hostileCellar)
  await page.getByLabel('Title').fill(hostileText)
  await page.getByLabel('Later', { exact: true }).check()
  await page.getByRole('button', { name: 'Create cellar' }).click()
  await page.getByRole('link', { name: 'Create the first key' }).click()
  await page.getByLabel('Label').fill(hostileText)
  await page.getByLabel('Note').fill(`${hostileText}\n${hostileCellar}`)
  await page.getByLabel('30 days').check()
  await page.getByRole('button', { name: 'Create key' }).click()

  await page.getByRole('heading', { name: 'Copy the key now: it is shown only once' }).waitFor()
  await expectNoIntruder(page)
  const key = await copied(window, 'Copy key')
  expect(key).toMatch(/^clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  expect(await page.locator('#new-key').textContent()).toBe(key)
  const lines = await copied(window, 'Copy command')
  const [exported = ''] = lines.split('\n')
  const checkLines = `${exported}\n${await copied(window, 'Copy check')}`
  await page.getByText('Waiting for the first reading').waitFor()
  await page.evaluate('window.notReloaded = true')
  expect(JSON.parse(await runInShell(checkLines))).toMatchObject({ message: 'Reading would be stored.' })
  expect(JSON.parse(await runInShell(lines))).toMatchObject({ status: 'success' })
  await page.getByText('It works: the first reading has arrived.').waitFor()
  expect(await page.evaluate('window.notReloaded')).toBe(true)
  expect(readdirSync(home)).toEqual(['precious'])

  await page.getByRole('link', { name: 'See the readings of this cellar' }).click()
  await page.getByRole('heading', { name: /Latest readings/ }).waitFor()
  expect(await page.locator('tr[id^="reading-"]').count()).toBe(1)
  await page.evaluate('window.notReloaded = true')
  await runInShell(lines)
  await page.locator('tr[id^="reading-"]').nth(1).waitFor()
  expect(await page.evaluate('window.notReloaded')).toBe(true)
  await expectNoIntruder(page)

  await page.getByRole('link', { name: 'API Keys' }).first().click()
  await page.getByText('24 hours').first().waitFor()
  await page.locator('#key-list').getByRole('link', { name: hostileText }).first().click()
  await page.getByRole('link', { name: /^Revoke/ }).click()
  await page.getByRole('dialog').getByText('This key is in use:').waitFor()
  await page.getByRole('dialog').getByLabel('Reason').fill(hostileText)
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Key revoked.').waitFor()
  expect(JSON.parse(await runInShell(lines))).toEqual({ error: 'Invalid API key', status: 401 })

  const history = page.locator('#history')
  for (const words of ['KeyCreated', 'KeyRevoked', email, hostileText]) {
    expect(
      await history
        .getByText(words, { exact: words !== email })
        .first()
        .isVisible(),
    ).toBe(true)
  }
  await expectNoIntruder(page)
  expect(complaints).toEqual([])
  await context.close()
})

test('every page works without JavaScript, except live updates', async () => {
  const { context, page, complaints } = await newWindow({ javaScriptEnabled: false })
  const name = 'no script'
  await page.goto(service.url)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Create cellar' }).click()
  await page.getByLabel('Identifier').fill(name)
  await page.getByLabel('Later', { exact: true }).check()
  await page.getByRole('button', { name: 'Create cellar' }).click()
  await page.getByRole('link', { name: 'Create the first key' }).click()
  await page.getByLabel('Label').fill('Plain')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('#new-key').textContent()) ?? ''

  const reading = { cellar: name, rack: 'r', keg: 'k', value: 7.25, timestamp: '2026-03-01T12:00:00Z' }
  expect((await service.post(reading, key)).status).toBe(200)
  await page.getByRole('link', { name: 'Go to the page of this key' }).click()
  await page.getByRole('link', { name: /^Edit/ }).click()
  await page.getByLabel('Readings').fill('5')
  await page.getByLabel('Period in seconds').fill('60')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved and in force.').waitFor()
  for (const [action, button, pill] of [
    ['Suspend', 'Suspend key', 'suspended'],
    ['Resume', 'Resume key', 'active'],
    ['Revoke', 'Revoke key', 'revoked'],
  ] as const) {
    await page.getByRole('link', { name: new RegExp(`^${action}`) }).click()
    await page.getByRole('button', { name: button }).click()
    await page.locator(`#key-facts .pill.${pill}`).waitFor()
  }
  await page.getByLabel('Time (UTC)').fill('2020-01-01')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('it did not exist at').waitFor()
  await page.goto(service.url + paths.cellar(name))
  expect(await page.getByText('7.25').first().isVisible()).toBe(true)
  await askTheLog(page, key.slice(0, 'clr_'.length + 8))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

/** Finds what happened to a key today, filters it, opens an event, turns to the next one, and exports the readings. */
const askTheLog = async (page: Page, keyName: string): Promise<void> => {
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await page.getByRole('searchbox').fill(`${keyName} today`)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByLabel('Kind of event').getByRole('link', { name: 'Keys', exact: true }).click()
  await page.locator('summary', { hasText: 'Filter' }).click()
  await page.getByLabel('Type of event', { exact: true }).selectOption('KeySuspended')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('link', { name: /^key-.*@\d+$/ }).click()
  await page.getByRole('heading', { name: `${email} suspended Plain` }).waitFor()
  await page.getByRole('link', { name: 'After in stream →' }).click()
  await page.getByRole('heading', { name: `${email} resumed Plain` }).waitFor()
  await page.getByRole('link', { name: 'Plain', exact: true }).last().click()
  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: /^CSV.*Readings of the key$/ }).click()
  expect(await Bun.file(await (await downloaded).path()).text()).toContain('7.25')
}

const looks = [
  { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
] as const

test('served pages pass WCAG 2.2 AA, block nothing by their policy, and never scroll sideways', async () => {
  const axe = await Bun.file(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')).text()
  const [key] = service.core.projections.keys.ofCellar(hostileCellar)
  const keyId = key?.keyId ?? ''
  const { keyId: activeId } = await service.createKey({ cellar: hostileCellar, label: hostileText.repeat(2) })
  const signedInPaths = [
    paths.cellars,
    paths.newCellar,
    paths.cellar(hostileCellar),
    paths.keg(hostileCellar, 'rack-1', 'temperature', { table: 1 }),
    paths.keg(hostileCellar, hostileText, 'no such keg'),
    paths.cellar(hostileCellar, '', 1, { sort: 'age', isReversed: true }),
    paths.rack(hostileCellar, 'rack-1'),
    paths.log({ cellar: hostileCellar, rack: 'rack-1' }),
    paths.keys(hostileCellar),
    paths.keys(hostileCellar, { status: 'revoked' }),
    paths.newKey(hostileCellar),
    paths.settings(hostileCellar),
    paths.key(keyId),
    `${paths.key(keyId)}?at=2026-13-01`,
    paths.editKey(activeId),
    paths.revokeKey(activeId),
    paths.account,
    paths.operators,
    paths.operatorSessions(email),
    paths.removeOperator(email),
    paths.devicesGuide,
    paths.log(),
    ...eventKindsShown.map((kind) => paths.log({ kind })),
    paths.log({ key: activeId, from: 'nonsense' }),
    paths.event(`key-${activeId}`, 0),
    paths.found(hostileText),
    paths.refusedRequest('no-id'),
    paths.refusedRequest('019ab3f2-51c4-7c30-9d21-6b0c2f7e8a11'),
    paths.cellarThen(hostileCellar, 'now'),
    '/no/such/page',
  ]
  const faults: unknown[] = []
  for (const look of looks) {
    const { context, page, complaints } = await newWindow(look)
    const judge = async (path: string): Promise<void> => {
      await page.goto(service.url + path)
      const overflowPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      await page.evaluate(axe)
      const violations = await page.evaluate(
        `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
        .then((result) => result.violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      )
      if (overflowPx !== 0 || JSON.stringify(violations) !== '[]') faults.push({ look, path, overflowPx, violations })
      await expectNoIntruder(page)
    }
    await judge('/link/spent')
    await judge(paths.signIn)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Cellars', exact: true }).waitFor()
    for (const path of signedInPaths) await judge(path)
    // Chromium reports each page with status 404, 410 or 422 as an error. This test expects such pages.
    const unexpected = complaints.filter((complaint) => !/status of (404|410|422)/.test(complaint))
    expect(unexpected).toEqual([])
    await context.close()
  }
  expect(faults).toEqual([])
})

test('a table becomes a list when it has no room, and no page scrolls sideways', async () => {
  const limit = { readings: 10_000_000, windowMs: 86_400_000 }
  const { key, keyId } = await service.createKey({ cellar: hostileCellar, label: 'W'.repeat(60), limit })
  const names = { cellar: hostileCellar, rack: 'W'.repeat(128), keg: 'W'.repeat(128) }
  await service.post({ ...names, value: -1.7976931348623157e308, timestamp: '2026-03-01T12:00:00.123456789Z' }, key)
  await service.untilFolded(keyId, 1)
  const { context, page } = await newWindow()
  await signIn(page)
  const shapeAt = async (widthPx: number): Promise<unknown> => {
    const shape: Record<string, string> = {}
    await page.setViewportSize({ width: widthPx, height: 800 })
    for (const [name, path] of [
      ['cellars', paths.cellars],
      ['kegs, readings', paths.cellar(hostileCellar)],
      ['keys', paths.keys(hostileCellar)],
      ['keg', paths.keg(hostileCellar, names.rack, names.keg, { table: 1 })],
      ['rack', paths.rack(hostileCellar, names.rack)],
      ['history', paths.key(keyId)],
      ['operators', paths.operators],
      ['account', paths.account],
    ] as const) {
      await page.goto(service.url + path)
      shape[name] = String(
        await page.evaluate(`[
          ...[...document.querySelectorAll('table.stack')].map((table) =>
            table.getBoundingClientRect().width > table.parentElement.getBoundingClientRect().width + 0.5 ? 'too wide'
              : getComputedStyle(table).display === 'table' ? 'table' : 'sheets'),
          ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls'] : [])].join(', ')`),
      )
    }
    return shape
  }
  const [twoTables, twoSheets] = ['table, table', 'sheets, sheets']
  const allTables = {
    cellars: 'table',
    'kegs, readings': twoTables,
    keg: '',
    rack: 'table',
    history: 'table',
    operators: 'table',
    account: twoTables,
  }
  const allSheets = {
    cellars: 'sheets',
    'kegs, readings': twoSheets,
    keg: '',
    rack: 'sheets',
    history: 'sheets',
    operators: 'sheets',
    account: twoSheets,
  }
  const shapes = [
    [320, { ...allSheets, keys: 'sheets' }],
    [390, { ...allSheets, keys: 'sheets' }],
    [
      768,
      {
        ...allSheets,
        cellars: 'table',
        rack: 'table',
        'kegs, readings': 'table, sheets',
        keys: 'sheets',
        account: twoTables,
      },
    ],
    [1024, { ...allTables, keys: 'sheets' }],
    [1180, { ...allTables, keys: 'table' }],
    [1280, { ...allTables, keys: 'table' }],
  ] as const
  for (const [widthPx, shape] of shapes) expect([widthPx, await shapeAt(widthPx)]).toEqual([widthPx, shape])
  await context.close()
})

const signIn = async (page: Page, to = { url: service.url, email }): Promise<void> => {
  await page.goto(to.url)
  await page.getByLabel('E-mail').fill(to.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Cellars', exact: true }).waitFor()
}

test('a page is live even if the script for its stream loads late', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const slow = await context.newPage()
  const released = Promise.withResolvers<void>()
  await slow.route('**/hx-sse*', async (route) => {
    await released.promise
    await route.continue()
  })
  const live = slow.waitForRequest((request) => request.url().includes('/live/'))
  await slow.goto(service.url + paths.cellars, { waitUntil: 'commit' })
  // `waitForFunction` would compile a string within the page, which the content policy forbids. So it gets a function.
  await slow.waitForFunction(() => 'htmx' in globalThis)
  // Two timers pass. If htmx did not wait for the whole document, it would start now, without the script for streams.
  await slow.evaluate('new Promise((resolve) => setTimeout(() => setTimeout(resolve)))')
  released.resolve()
  expect((await live).url()).toContain('/live/cellars')
  await context.close()
})

/**
 * Opens a page that believes it is in the background until `show()`. Without a window, Chromium calls every page
 * visible.
 */
const openHidden = async (context: BrowserContext, path: string): Promise<Page> => {
  const page = await context.newPage()
  await page.addInitScript(`
    let hidden = true
    Object.defineProperty(document, 'hidden', { get: () => hidden })
    window.show = () => {
      hidden = false
      document.dispatchEvent(new Event('visibilitychange'))
    }`)
  await page.goto(service.url + path)
  return page
}

test('a page opened in the background holds no connection until somebody looks at it', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  // Chromium opens at most six connections to a host. If seven hidden pages kept one each, the next page would never
  // load.
  const hidden: Page[] = []
  for (let opened = 0; opened < 7; opened += 1) hidden.push(await openHidden(context, paths.cellars))
  await page.goto(service.url + paths.operators)
  await until(() => service.live.streams === 0)
  const [first] = hidden
  await first?.evaluate('show()')
  await until(() => service.live.streams === 1)
  expect(await first?.locator('#live-state p:visible').count()).toBe(0)
  await context.close()
})

test('seven visible windows stay live and usable over six connections', async () => {
  // Pages of earlier tests may still have a stream open.
  await until(() => service.live.streams === 0)
  const { context, page } = await newWindow()
  await signIn(page)
  const windows: Page[] = [page]
  for (let opened = 1; opened < 7; opened += 1) {
    const other = await context.newPage()
    await other.goto(service.url + paths.cellars)
    windows.push(other)
  }
  expect(service.live.streams).toBeLessThanOrEqual(liveStreamsPerSessionMax + 1)
  await service.core.cellars.create({ cellar: 'seen-in-seven-windows', title: '' }, testAsker)
  for (const window of windows) {
    await window.getByRole('link', { name: 'seen-in-seven-windows' }).waitFor()
    expect(await window.locator('#live-state p:visible').count()).toBe(0)
  }
  await page.getByRole('link', { name: 'Operators' }).click()
  await page.getByRole('heading', { name: 'Operators', exact: true }).waitFor()
  await context.close()
})

test('the mark "Live" of the Log page is shown only while updates come', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const log = await context.newPage()
  const begin = Promise.withResolvers<void>()
  await log.route('**/live/**', async (route) => {
    await begin.promise
    await route.continue()
  })
  await log.goto(service.url + paths.log())
  const [live, off] = [log.locator('.live-mark'), log.locator('.live-off')]
  expect([await live.isVisible(), await off.isVisible()]).toEqual([false, false])
  begin.resolve()
  await live.waitFor({ state: 'visible' })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await off.waitFor({ state: 'visible' })
  expect([await live.isVisible(), await off.textContent()]).toEqual([false, 'Not live'])
  await context.close()
  const plain = await newWindow({ javaScriptEnabled: false })
  await signIn(plain.page)
  await plain.page.goto(service.url + paths.log())
  await plain.page.getByText('Reload this page to see what is new.').waitFor()
  const { page: still } = plain
  expect([await still.locator('.live-mark').isVisible(), await still.locator('.live-off').isVisible()]).toEqual([
    false,
    false,
  ])
  await plain.context.close()
})

test('a page says that too many pages are open, and reconnects when there is room', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const other = await context.newPage()
  let asked = 0
  await other.route('**/live/**', (route) => {
    asked += 1
    if (asked < 4) return route.fulfill({ status: 429, contentType: 'text/event-stream', body: '' })
    return route.continue()
  })
  await other.goto(service.url + paths.cellars)
  await other.getByText(/^Live updates stopped at .* Too many pages are open/).waitFor()
  await other.getByText('Too many pages are open').waitFor({ state: 'hidden' })
  expect(asked).toBe(4)
  await context.close()
})

test('a page says when its updates stopped, and hides the warning when they continue', async () => {
  const [log, clock] = [await openFreshLog(), manualClock(Date.UTC(2026, 2, 1, 10, 42))]
  const before = await startWithOperators({ log, clock })
  const { context, page } = await newWindow()
  await signIn(page, { url: before.url, email: emailOf.admin })
  await until(() => before.live.streams === 1)
  const state = page.locator('#live-state')
  expect(await state.locator('p:visible').count()).toBe(0)
  await before.stop()
  await page.getByText(/^Live updates stopped at 10:4\d UTC\. The service does not answer/).waitFor()
  const after = await startService({ log, clock, isDerived: true, port: Number(new URL(before.url).port) })
  await state.getByText('Live updates stopped at').first().waitFor({ state: 'hidden' })
  expect(await state.locator('p:visible').count()).toBe(0)
  expect(after.live.streams).toBe(1)
  await context.close()
  await after.stop()
  await log.close()
})

test('a page whose stream cannot begin says so, and tries again', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const other = await context.newPage()
  let asked = 0
  await other.route('**/live/**', (route) => {
    asked += 1
    if (asked === 1) return route.abort()
    if (asked === 2) return route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })
    // A node answers 503 if it does not know the session, key or cellar yet.
    if (asked === 3) return route.fulfill({ status: 503, contentType: 'text/event-stream', body: '' })
    return route.continue()
  })
  await other.goto(service.url + paths.cellars)
  await other.getByText('The service does not answer').waitFor()
  await other.getByText('The service does not answer').waitFor({ state: 'hidden' })
  expect(asked).toBe(4)
  expect(await other.getByText('Bad gateway').count()).toBe(0)
  await context.close()
})

test('a page whose session has ended says so, stops asking, and leads to the sign-in', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const asksLater = await context.newPage()
  await asksLater.goto(service.url + paths.keys(hostileCellar, { status: 'revoked' }))
  const watching = await context.newPage()
  await watching.goto(service.url + paths.keys(hostileCellar, { status: 'revoked' }))
  await until(() => service.live.streams === 3)
  // The page `asksLater` loses its stream before the session ends. It learns of the end only when it reconnects.
  let requests = 0
  asksLater.on('request', (request) => {
    if (request.url().includes('/live/')) requests += 1
  })
  await asksLater.evaluate(`
    Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await until(() => service.live.streams === 2)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await asksLater.evaluate(`
    Object.defineProperty(document, 'hidden', { get: () => false })
    document.dispatchEvent(new Event('visibilitychange'))`)
  for (const ended of [watching, asksLater]) {
    await ended.getByText(/^Live updates stopped at .* Your session has ended/).waitFor()
  }
  expect(requests).toBe(1)
  const again = asksLater.waitForRequest((request) => request.url().includes('/live/'), { timeout: 3_000 })
  expect(await again.catch(() => 'never')).toBe('never')
  await watching.getByRole('link', { name: 'Open this page again' }).click()
  await watching.getByLabel('E-mail').fill(email)
  await watching.getByLabel('Password').fill(password)
  await watching.getByRole('button', { name: 'Sign in' }).click()
  await watching.locator('#key-list').waitFor()
  expect(watching.url()).toBe(service.url + paths.keys(hostileCellar, { status: 'revoked' }))
  await context.close()
})

test('a key’s page shows a revocation by somebody else without disturbing open forms', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const { keyId } = await service.createKey({ cellar: hostileCellar, label: 'Watched' })
  await page.goto(service.url + paths.key(keyId))
  await page.getByLabel('Time (UTC)').fill('2026-03-0')
  const asked = await context.newPage()
  await asked.goto(service.url + paths.key(keyId))
  await asked.getByRole('link', { name: /^Suspend/ }).click()
  await asked.getByRole('dialog').getByLabel('Reason').fill('half a reas')
  await until(() => service.live.streams === 2)
  await service.core.keys.revoke(keyId, 'stolen', testAsker)
  for (const shown of [page, asked]) {
    await shown.locator('#key-facts .pill.revoked').waitFor()
    await shown.locator('#history').getByText('KeyRevoked').waitFor()
    expect(await shown.getByRole('link', { name: /^(Edit|Suspend|Revoke)/, includeHidden: true }).count()).toBe(0)
    expect(await shown.locator('#history').count()).toBe(1)
  }
  expect(await page.getByLabel('Time (UTC)').inputValue()).toBe('2026-03-0')
  expect(await page.evaluate('document.activeElement.id')).toBe('field-at')
  expect(await asked.getByRole('dialog').getByLabel('Reason').inputValue()).toBe('half a reas')
  await asked.getByRole('button', { name: 'Suspend key' }).click()
  await asked.getByText('by the command line. Nothing was changed.').waitFor()
  await context.close()
})

test('signing out in one window ends the live updates of the others', async () => {
  const { context, page } = await newWindow()
  await signIn(page)
  const other = await context.newPage()
  const opened = other.waitForResponse((response) => response.url().includes('/live/'))
  await other.goto(service.url + paths.cellars)
  await opened
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await until(() => service.live.streams === 0)
  const asksAgain = other.waitForRequest((request) => request.url().includes('/live/'), { timeout: 3_000 })
  expect(await asksAgain.catch(() => 'never')).toBe('never')
  await context.close()
})

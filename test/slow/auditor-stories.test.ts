/**
 * What an auditor must be able to answer with at most three actions after the sign-in. An action is a link, a button, or a pasted
 * text with Enter. Each service has a real `ask.db`.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Asker } from '../../src/actors/core-interface.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { eventView } from '../../src/export/event-view.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { launchChromium } from '../support/chromium.ts'
import { openFreshLog, storeUrl } from '../support/logs/engine.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { addOperators, emailOf, testPassword } from '../support/test-operators.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

// This limit is long, because the machine may be busy. It only ends the test of a page that never loads.
setDefaultTimeout(600_000)

const minuteMs = 60_000
const dayMs = 86_400_000

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

type Auditor = {
  readonly page: Page
  readonly context: BrowserContext
  /** `within` names a navigation. Default: the whole page. */
  follow(link: string | RegExp, within?: string): Promise<void>
  paste(text: string): Promise<void>
  press(button: RegExp): Promise<void>
}

const actionsMax = 3

/** Signs an auditor in, and fails at the fourth action. */
const auditorAt = async (url: string): Promise<Auditor> => {
  const context = await browser.newContext({ acceptDownloads: true })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByLabel('E-mail').fill(emailOf.auditor)
  await page.getByLabel('Password').fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Cellars', exact: true }).waitFor()
  let actions = 0
  const act = async (action: () => Promise<void>): Promise<void> => {
    actions += 1
    expect(actions).toBeLessThanOrEqual(actionsMax)
    await action()
  }
  return {
    page,
    context,
    follow: (link, within) =>
      act(() => {
        const place = within === undefined ? page.locator('body') : page.getByRole('navigation', { name: within })
        return place.getByRole('link', { name: link, exact: true }).click()
      }),
    paste: (text) =>
      act(async () => {
        const box = page.getByRole('searchbox')
        await box.fill(text)
        await box.press('Enter')
      }),
    press: (button) => act(() => page.getByRole('button', { name: button }).click()),
  }
}

type Running = Pick<Service, 'url' | 'createKey' | 'post' | 'postBatch' | 'core' | 'untilFolded' | 'stop'>

const start = (log: EventLog, clock = manualClock()): Promise<Running> => startService({ log, clock, isDerived: true })

describe('the auditor, on two nodes', () => {
  test('finds a refused request by its id, after a restart and on another node', async () => {
    const [url, prefix, clock] = [await storeUrl(), freshPrefix(), manualClock()]
    const logs = [await openAt(url, prefix), await openAt(url, prefix)] as const
    await addOperators(logs[0], clock.now())
    const first = await start(logs[0], clock)
    const other = await start(logs[1], clock)
    const { key } = await first.createKey({ label: 'Press, south', limit: { readings: 1, windowMs: minuteMs } })
    await first.post(validReading, key)
    const refused = await first.post(validReading, key)
    expect(refused.status).toBe(429)
    const requestId = refused.headers.get('X-Request-Id') ?? ''
    clock.advance(30 * minuteMs)
    await first.stop()
    const restarted = await start(logs[0], clock)
    for (const node of [restarted, other]) {
      const auditor = await auditorAt(node.url)
      await auditor.follow('Log')
      await auditor.paste(requestId)
      const { page } = auditor
      await page
        .getByRole('heading', { name: /Press, south clr_\S+ had used its 1 reading of the last 60 seconds/ })
        .waitFor()
      for (const words of ['429 RATE_LIMITED', '30 minutes ago', '1 reading in 60 seconds'])
        expect(await page.getByText(words).first().isVisible()).toBe(true)
      await auditor.context.close()
    }
    await Promise.all([restarted.stop(), other.stop()])
    for (const log of logs) await log.close()
  })
})

describe('the auditor', () => {
  let log: EventLog
  let service: Running
  let keyId: string
  let firstReceipt: string
  const clock = manualClock()
  const admin: Asker = {
    by: { kind: 'operator', email: emailOf.admin },
    requestId: '019ca8e0-0000-7000-8000-000000000001',
  }
  const [batches, batch] = [4, 500]

  beforeAll(async () => {
    log = await openFreshLog()
    await addOperators(log, clock.now())
    service = await start(log, clock)
    const pressed = await service.createKey({ label: 'Press, south' })
    const far = await service.createKey({ label: 'Press, north' })
    keyId = pressed.keyId
    const old = await service.post({ ...validReading, value: 17.25 }, pressed.key)
    firstReceipt = old.headers.get('X-Receipt') ?? ''
    for (let day = 0; day < batches; day += 1) {
      const readings = Array.from({ length: batch }, (_, at) => ({ ...validReading, value: day * batch + at }))
      for (const { key } of [pressed, far]) expect((await service.postBatch(readings, key)).status).toBe(200)
      clock.advance(dayMs / 2)
      expect((await service.postBatch(readings.slice(0, 3), pressed.key)).status).toBe(200)
      clock.advance(dayMs / 2)
    }
    const { cellars } = service.core
    await cellars.changePolicy(testCellar, { limit: { readings: 6_000, windowMs: minuteMs } }, testAsker)
    clock.advance(minuteMs)
    await cellars.changePolicy(testCellar, { limit: { readings: 600, windowMs: minuteMs } }, admin)
    clock.advance(20 * minuteMs)
    await service.untilFolded(keyId, 1 + batches * (batch + 3))
  })
  afterAll(async () => {
    await service.stop()
    await log.close()
  })

  const readingsOfYesterday = async (): Promise<readonly RecordedEvent[]> => {
    const midnight = Math.floor(clock.now() / dayMs) * dayMs
    const all: RecordedEvent[] = []
    for (let from = 0; from < batches * (batch + 3); from += readPageEventsMax)
      all.push(...(await log.read(readingsStream(keyId), { from, limit: readPageEventsMax })))
    return all.filter(
      ({ type, recordedAt }) => type === 'ReadingAccepted' && recordedAt >= midnight - dayMs && recordedAt < midnight,
    )
  }

  test('opens the receipt of an old reading', async () => {
    const { page, context, follow, paste } = await auditorAt(service.url)
    await follow('Log')
    await paste(firstReceipt)
    await page.getByRole('heading', { name: /1 reading of/ }).waitFor()
    for (const words of ['17.25', '2026-03-01 12:00:00.000 UTC', firstReceipt])
      expect(await page.getByText(words).first().isVisible()).toBe(true)
    await context.close()
  })

  test('learns who lowered a cellar’s limit, and when', async () => {
    const { page, context, follow } = await auditorAt(service.url)
    await follow('Log')
    await follow('Cellars', 'Kind of event')
    await page.getByRole('row', { name: /lowered the default limit/ }).waitFor()
    await follow(/^cellar-.*@2$/)
    const said = `${emailOf.admin} lowered the default limit of ${testCellar} from 6,000 to 600 readings in 60 seconds.`
    await page.getByRole('heading', { name: said }).waitFor()
    expect(await page.locator('.facts-list').getByText('2026-03-05 12:01:00.000 UTC').first().isVisible()).toBe(true)
    await context.close()
  })

  test('exports yesterday’s readings of a key, equal to those of the log', async () => {
    const { page, context, follow, paste, press } = await auditorAt(service.url)
    await follow('Log')
    await paste(`clr_${keyId} yesterday`)
    await page.getByRole('heading', { name: /^Export/ }).waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), press(/^JSON lines.*Readings of the key$/)])
    const text = await Bun.file(await download.path()).text()
    const stored = await readingsOfYesterday()
    expect(stored).toHaveLength(batch + 3)
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      stored.map((event) => JSON.parse(JSON.stringify({ ...eventView(event), unit: null }))),
    )
    await context.close()
  })
})

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { paths } from '../../views/paths.ts'
import { startWithOperators } from '../http/dashboard/visitor.ts'
import { launchChromium } from '../support/chromium.ts'
import { emailOf, testPassword } from '../support/test-operators.ts'
import { type Service, testAsker, testCellar } from '../support/test-service.ts'

setDefaultTimeout(600_000)

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

const shots = process.env['SHOTS']

const look = async (page: Page, name: string): Promise<void> => {
  if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true })
}

const signIn = async (page: Page): Promise<void> => {
  await page.getByLabel('E-mail').fill(emailOf.admin)
  await page.getByLabel('Password').fill(testPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const signedIn = async (options: Parameters<Browser['newContext']>[0]): Promise<Page> => {
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(service.url + paths.signIn)
  await signIn(page)
  await page.waitForURL('**/cellars')
  return page
}

const endSessions = () => service.core.operators.endSessions(emailOf.admin, { allBut: null }, testAsker)

const small = { width: 360, height: 740 }

describe('a search that is typed', () => {
  const typedInKeys = async (): Promise<Page> => {
    const page = await signedIn({ viewport: small })
    await page.goto(service.url + paths.allKeys())
    await page.getByRole('searchbox').pressSequentially('press')
    await page.waitForURL('**/keys?find=press*')
    return page
  }

  test('goes on after the sign-in, if the session has ended meanwhile', async () => {
    await service.createKey({ label: 'Press 1' })
    const page = await typedInKeys()
    await endSessions()
    await page.getByRole('searchbox').pressSequentially(' 1')
    await page.getByLabel('Password').waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toContain('/keys?find=press+1')
    await signIn(page)
    await page.waitForURL('**/keys?find=press+1*')
    expect(await page.getByRole('searchbox').inputValue()).toBe('press 1')
    await page.locator('#keys-now').getByText('Press 1').first().waitFor()
    await page.context().close()
  })

  test('is asked again as a page, if the answer is an error', async () => {
    await service.createKey({ label: 'Press 2' })
    const page = await typedInKeys()
    await page.route('**/keys', (route) => {
      const answer = { status: 503, contentType: 'text/html', body: '<title>busy</title><p>busy</p>' }
      return route.request().method() === 'POST' ? route.fulfill(answer) : route.continue()
    })
    await page.getByRole('searchbox').pressSequentially(' 2')
    await page.waitForURL('**/keys?find=press+2*')
    await page.locator('#keys-now').getByText('Press 2').first().waitFor()
    await page.context().close()
  })
})

test('Back from a form that opened again shows a page', async () => {
  const { keyId } = await service.createKey({ label: 'Press' })
  const page = await signedIn({ viewport: small })
  await page.goto(service.url + paths.editKey(keyId))
  await endSessions()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('your form was not sent').waitFor()
  await signIn(page)
  await page.getByText('so this form was not sent').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Cellars' }).waitFor()
  await page.context().close()
})

describe.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'with JavaScript: $javaScriptEnabled',
  ({ javaScriptEnabled }) => {
    test('a form whose session has ended opens again after the sign-in', async () => {
      const { keyId } = await service.createKey({ label: 'Press' })
      const page = await signedIn({ viewport: small, javaScriptEnabled })
      await page.goto(service.url + paths.editKey(keyId))
      await page.getByLabel('Label').fill('Pump & press')
      await page.getByLabel('Note').fill('two\nlines')
      await endSessions()
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('your form was not sent').waitFor()
      await look(page, `kept-sign-in-${javaScriptEnabled}`)
      await signIn(page)
      if (!javaScriptEnabled) {
        await look(page, 'open-form')
        await page.getByRole('button', { name: 'Open the form' }).click()
      }
      await page.getByText('so this form was not sent').waitFor()
      await look(page, `kept-form-${javaScriptEnabled}`)
      expect(page.url()).toBe(service.url + paths.editKey(keyId))
      expect(await page.getByLabel('Label').inputValue()).toBe('Pump & press')
      expect(await page.getByLabel('Note').inputValue()).toBe('two\nlines')
      expect(service.core.projections.keys.get(keyId)?.label).toBe('Press')
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Changes saved and in force.').waitFor()
      expect(service.core.projections.keys.get(keyId)).toMatchObject({ label: 'Pump & press', note: 'two\nlines' })
      await page.context().close()
    })

    test('the page of a new key warns before it is left', async () => {
      await service.createKey()
      const page = await signedIn({ viewport: small, javaScriptEnabled })
      const makeKey = async () => {
        await page.goto(service.url + paths.newKey(testCellar))
        await page.getByRole('button', { name: 'Create key' }).click()
        await page.getByText('it is shown only once').waitFor()
      }
      await makeKey()
      const keys = service.core.projections.keys.list().length
      await page.reload()
      await page.getByText('was shown once, and cannot be shown again').waitFor()
      await look(page, `shown-once-${javaScriptEnabled}`)
      expect([page.url().endsWith('?shown=once'), service.core.projections.keys.list().length]).toEqual([true, keys])
      if (javaScriptEnabled) {
        await makeKey()
        const warned = page.waitForEvent('dialog').then(async (dialog) => {
          await dialog.dismiss()
          return dialog.type()
        })
        await page.getByRole('link', { name: 'Log', exact: true }).click({ noWaitAfter: true })
        expect(await warned).toBe('beforeunload')
        await page.getByRole('button', { name: /copy key/i }).click()
        await page.locator('.key-once[data-copied]').waitFor()
        await page.getByRole('link', { name: 'Log', exact: true }).click()
        await page.waitForURL('**/log')
      }
      await page.context().close()
    })

    test('a wrong field gets the focus and is in sight', async () => {
      const [{ keyId }, cellar] = [await service.createKey({ label: 'Press' }), testCellar]
      const page = await signedIn({ viewport: small, javaScriptEnabled })
      const wrong = [
        [paths.settings(cellar), 'limit_seconds', 'Save rules', 'soon'],
        [paths.settings(cellar), 'days', 'Review change', 'many'],
        [paths.editKey(keyId), 'limit_readings', 'Save changes', '5'],
        [paths.revokeKey(keyId), 'reason', 'Revoke key', 'x'.repeat(400)],
        [paths.newKey(cellar), 'expires_on', 'Create key', '2020-01-01'],
      ] as const
      for (const [path, field, button, text] of wrong) {
        await page.goto(service.url + path)
        if (field === 'expires_on') await page.locator('#expires-date').check({ force: true })
        await page.locator(`#field-${field}`).fill(text)
        await page.getByRole('button', { name: button }).click()
        const refused = page.locator('[aria-invalid="true"]')
        await refused.waitFor()
        await look(page, `wrong-${field}-${javaScriptEnabled}`)
        const [box, focused] = [await refused.boundingBox(), await refused.evaluate((one) => one.matches(':focus'))]
        const isInSight = box !== null && box.y >= 0 && box.y + box.height <= small.height
        expect([path, field, focused, isInSight]).toEqual([path, field, true, true])
      }
      await page.context().close()
    })
  },
)

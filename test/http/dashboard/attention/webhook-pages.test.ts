import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Sending, Sent, WebhookParts } from '../../../../src/actors/webhooks/webhook-parts.ts'
import { webhookAnswer } from '../../../../src/cli/control/webhook-operations.ts'
import { webhooksStream } from '../../../../src/domain/stream-names.ts'
import { paths } from '../../../../views/paths.ts'
import { startWatching, stopRack } from '../../../support/attention/watched-racks.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { addOperators } from '../../../support/test-operators.ts'
import { type Service, type ServiceOptions, testAsker } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { type Seen, signedIn, startWithOperators, type Visitor } from '../visitor.ts'

const url = 'https://hooks.example/alerts'
const secretOf = (webhookId: string): string => `whsec_secret-of-${webhookId}`

let service: Service
let admin: Visitor
let auditor: Visitor
let sent: Sending[]
let answer: Sent

const parts: WebhookParts = {
  node: 'node-1',
  sendsWaiting: true,
  master: () => ({ id: 'master01', secretOf }),
  send: async (sending) => {
    sent.push(sending)
    return answer
  },
  wordsOf: ({ kind }) => kind,
}

const start = async (options: ServiceOptions = {}): Promise<void> => {
  sent = []
  answer = { status: 204, answer: 'thank you', why: null, tookMs: 12 }
  service = await startWithOperators({
    webhooks: parts,
    ...options,
  })
  admin = await signedIn(service, 'admin')
  auditor = await signedIn(service, 'auditor')
}
beforeEach(() => start())
afterEach(() => service.stop())

const webhook = () => {
  const [only] = service.core.webhooks.list()
  if (only === undefined) throw new Error('There is no webhook')
  return only
}

const make = (fields: Readonly<Record<string, string>> = {}): Promise<Seen> =>
  admin.post(paths.webhooks, { url, which: 'all', ...fields })

const idOf = (): string => webhook().webhookId

describe('the pages of webhooks', () => {
  test('make one with an address and its kinds, and show its secret at once', async () => {
    expect((await admin.get(paths.attention)).body).toContain('>Set it up</a>')
    expect((await admin.get(paths.webhooks)).body).toContain('There is no webhook yet.')
    const made = await make({ which: 'some', kind_silent: 'on', kind_backup_old: 'on' })
    expect(made.status).toBe(201)
    expect(webhook()).toMatchObject({ url, kinds: ['silent', 'backup_old'] })
    expect(made.body).toContain(secretOf(idOf()))
    expect((await admin.get(paths.webhooks)).body).toContain('Silence, old backups')
    expect((await admin.get(paths.attention)).body).toContain('<bdi>hooks.example</bdi>')
  })

  test('make one webhook of a form that is sent twice', async () => {
    const answers = await Promise.all([make(), make()])
    expect(answers.map(({ location }) => location).toSorted()).toEqual([null, paths.webhook(idOf())].toSorted())
    expect(service.core.webhooks.list()).toHaveLength(1)
  })

  test('refuse a wrong address and no kind, and show what was typed', async () => {
    for (const fields of [{ url: 'http://hooks.example/' }, { url: '' }, { which: 'some' }, { which: '' }]) {
      const refused = await make({ kind_loud: 'on', ...fields })
      expect([fields, refused.status]).toEqual([fields, 422])
    }
    const refused = await make({ url: 'ftp://x', which: 'some', kind_silent: 'on' })
    expect(refused.body).toContain('value="ftp://x"')
    expect(refused.body).toContain('name="kind_silent" value="on" checked')
    expect(service.core.webhooks.list()).toEqual([])
  })

  test('show the secret to admins only, and only in the answer to a form', async () => {
    await make()
    const [page, secret] = [paths.webhook(idOf()), secretOf(idOf())]
    for (const person of [admin, auditor])
      for (const path of [page, paths.webhooks, paths.attention, `${page}/remove`])
        expect((await person.get(path)).body).not.toContain(secret)
    expect((await admin.post(paths.webhookSecret(idOf()), {})).body).toContain(secret)
    expect((await auditor.post(paths.webhookSecret(idOf()), {})).status).toBe(403)
    expect((await admin.get(paths.webhookSecret(idOf()))).location).toBe(page)
    const seen = (await auditor.get(page)).body
    expect([seen.includes(url), seen.includes('Send a test'), seen.includes('Remove')]).toEqual([true, false, false])
    expect(JSON.stringify(service.lines)).not.toContain('whsec_')
  })

  test('send a test, and say what came of it', async () => {
    await make()
    const page = paths.webhook(idOf())
    expect((await admin.post(paths.testWebhook(idOf()), {})).location).toBe(page)
    const delivered = (await admin.get(page)).body
    expect(delivered).toContain('The test was delivered.')
    expect(delivered).toContain('<bdi>204 · thank you</bdi>')
    answer = { status: 503, answer: '<b>busy', why: 'The status is not 2xx', tookMs: 1_200 }
    await admin.post(paths.testWebhook(idOf()), {})
    const failed = (await admin.get(page)).body
    expect(failed).toContain('The test was not delivered.')
    expect(failed).toContain('<bdi>503 · &lt;b&gt;busy · The status is not 2xx</bdi>')
    expect(sent).toHaveLength(2)
    for (const path of [page, paths.webhooks, paths.attention])
      expect((await auditor.get(path)).body).toContain('<span>test failed</span>')
  })

  test('say on each page that a webhook fails', async () => {
    answer = { status: 503, answer: 'busy', why: 'The answer was 503.', tookMs: 12 }
    const [log, clock] = [await openFreshLog(), manualClock()]
    await addOperators(log, clock.now())
    const node = await startWatching({ log, clock, webhooks: { ...parts, send: async () => answer } })
    admin = await signedIn(node, 'admin')
    await make()
    const [{ webhookId = '' } = {}] = node.core.webhooks.list()
    await stopRack(node)
    for (const path of [paths.attention, paths.webhooks, paths.webhook(webhookId)]) {
      const page = (await admin.get(path)).body
      expect([path, page.includes('failing</span></span> since')]).toEqual([path, true])
    }
    expect((await admin.get(paths.webhook(webhookId))).body).toContain('1 message<')
    expect((await admin.get(paths.removeWebhook(webhookId))).body).toContain('1 waiting message will not be sent.')
    const remove = (isConfirmed: boolean) =>
      webhookAnswer(node.core, { op: 'remove_webhook', webhookId, isConfirmed }, testAsker).next()
    expect((await remove(false)).value).toMatchObject({ message: expect.stringContaining('add --yes') })
    expect(await remove(true)).toMatchObject({ done: false, value: { value: { id: webhookId, waiting: 1 } } })
    expect(node.core.webhooks.list()).toEqual([])
    await node.stop()
    await log.close()
  })

  test('change the address and kinds, and remove it after a question', async () => {
    await make()
    const page = paths.webhook(idOf())
    const _shown =
      /name="_shown" value="([^"]*)"/.exec((await admin.get(page)).body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const change = (fields: Readonly<Record<string, string>>) =>
      admin.post(page, { url, which: 'all', _shown, ...fields })
    expect((await change({})).location).toBe(page)
    expect(await service.log.read(webhooksStream, { limit: 9 })).toHaveLength(1)
    expect((await change({ url: 'x' })).status).toBe(422)
    expect((await change({ which: 'some', kind_silent: 'on' })).location).toBe(page)
    expect(webhook().kinds).toEqual(['silent'])
    const overtaken = await change({ which: 'some', kind_backup_old: 'on' })
    expect([overtaken.status, overtaken.body.includes('after you opened this form')]).toEqual([409, true])
    expect((await admin.get(paths.removeWebhook(idOf()))).body).toContain('Remove webhook?')
    expect((await admin.post(paths.removeWebhook(idOf()), {})).location).toBe(paths.webhooks)
    expect((await admin.get(page)).status).toBe(404)
  })

  test('say what to do on a node without a master', async () => {
    await service.stop()
    const why = 'Webhooks need WEBHOOK_MASTER_FILE.'
    await start({ webhooks: { ...parts, master: () => ({ why }) } })
    const list = (await admin.get(paths.webhooks)).body
    expect([list.includes(why), list.includes('name="url"')]).toEqual([true, false])
    expect((await make()).status).toBe(409)
  })

  test('tell only admins why a node cannot send', async () => {
    const why = 'Cannot read /var/lib/cellarbook/webhook-master.'
    let isAway = false
    await service.stop()
    await start({ webhooks: { ...parts, master: (how) => (isAway ? { why } : parts.master(how)) } })
    await make()
    isAway = true
    // The list reads the file again.
    await admin.get(paths.webhooks)
    const page = paths.webhook(idOf())
    const shows = async (person: Visitor) => (await person.get(page)).body.includes(why)
    expect([await shows(admin), await shows(auditor)]).toEqual([true, false])
    expect((await auditor.get(page)).body).toContain('Ask an admin to look at this.')
  })

  test('say an answer once', async () => {
    answer = { status: 500, answer: 'oh', why: null, tookMs: 1 }
    await make()
    await admin.post(paths.testWebhook(idOf()), {})
    expect((await admin.get(paths.webhook(idOf()))).body).toContain('<bdi>500 · oh</bdi>')
  })
})

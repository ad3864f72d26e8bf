import { attentionKinds } from '../../src/domain/attention/attention-lines.ts'
import type { Delivery } from '../../src/domain/attention/webhook.ts'
import { RemoveWebhookPage, WebhookPage } from '../../views/attention/webhooks/webhook-page.tsx'
import type { WebhookView } from '../../views/attention/webhooks/webhook-types.ts'
import { WebhooksPage } from '../../views/attention/webhooks/webhooks-page.tsx'
import type { Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'

const minute = 60_000

export const sampleWebhooks = (texts: Texts, nowMs: number): readonly [WebhookView, ...WebhookView[]] => {
  const works: WebhookView = {
    webhookId: '7Qp2abCd',
    url: texts('url'),
    kinds: ['silent', 'disk_fills'],
    set: { at: nowMs - 9_000 * minute, by: { kind: 'operator', email: texts('email') } },
    state: 'works',
    waiting: 0,
    failingSinceMs: null,
    nextTryMs: null,
    last: sampleDeliveries(texts, nowMs)[1] ?? null,
    why: null,
  }
  const failing = {
    state: 'failing' as const,
    failingSinceMs: nowMs - 90 * minute,
    nextTryMs: nowMs + 2 * minute,
    waiting: 1_000,
  }
  return [
    works,
    { ...works, webhookId: '4fGh7kLm', kinds: [], ...failing },
    { ...works, webhookId: '5fGh7kLm', state: 'not sending', why: texts('fault'), last: null },
    { ...works, webhookId: '6fGh7kLm', set: { at: nowMs, by: { kind: 'cli' } }, state: 'not used yet', last: null },
  ]
}

const sampleDeliveries = (texts: Texts, nowMs: number): readonly Delivery[] => {
  const sent = {
    messageId: 'msg_1',
    of: { stream: 'attention-1', revision: 4 },
    beganMs: nowMs - 5 * minute,
    node: texts('rack'),
  }
  const ended = { atMs: nowMs - 4 * minute, status: 200, answer: texts('note'), why: null, tookMs: 84 }
  return [
    { ...sent, revision: 9, of: null, attempt: 1, ended: null },
    { ...sent, revision: 7, attempt: 2, ended: { ...ended, outcome: 'delivered' } },
    { ...sent, revision: 5, attempt: 1, ended: { ...ended, outcome: 'failed', status: 503, why: texts('fault') } },
    {
      ...sent,
      revision: 3,
      of: null,
      attempt: 1,
      ended: { ...ended, outcome: 'unknown', status: null, answer: null, why: texts('fault') },
    },
    { ...sent, revision: 1, of: null, attempt: 1, node: null, ended: { ...ended, outcome: 'given_up', status: null } },
  ]
}

export const webhookPages = (
  texts: Texts,
  { shell, nowMs }: { readonly shell: (role: 'admin' | 'auditor') => Shell; readonly nowMs: number },
): readonly Page[] => {
  const webhooks = sampleWebhooks(texts, nowMs)
  const [webhook, failing = webhook, unsent = webhook] = webhooks
  const [admin, auditor] = [shell('admin'), shell('auditor')]
  const kinds = attentionKinds.map((kind) => ({ kind, isChosen: webhook.kinds.includes(kind) }))
  const form = { values: { url: '', which: 'all' }, faults: {} }
  const typed = { url: texts('typed'), which: 'some' }
  const edit = { values: typed, faults: {}, shown: texts('shown') }
  const refused = { url: texts('fault'), which: texts('fault'), form: texts('fault') }
  const page = { shell: admin, kinds, form: edit, secret: null }
  const deliveries = { deliveries: sampleDeliveries(texts, nowMs), before: 3 }
  const none = { deliveries: [], before: null }
  return [
    { name: 'webhooks', html: WebhooksPage({ shell: admin, webhooks, form, kinds, why: null }) },
    { name: 'webhooks-auditor', html: WebhooksPage({ shell: auditor, webhooks, form, kinds, why: null }) },
    {
      name: 'webhooks-refused',
      html: WebhooksPage({ shell: admin, webhooks: [], form: { values: typed, faults: refused }, kinds, why: null }),
    },
    {
      name: 'webhooks-no-secret',
      html: WebhooksPage({ shell: admin, webhooks: [], form, kinds, why: texts('fault') }),
    },
    { name: 'webhooks-none', html: WebhooksPage({ shell: auditor, webhooks: [], form, kinds, why: null }) },
    { name: 'webhook', html: WebhookPage({ ...page, webhook: failing, deliveries }) },
    { name: 'webhook-auditor', html: WebhookPage({ ...page, shell: auditor, webhook: unsent, deliveries: none }) },
    {
      name: 'webhook-secret',
      html: WebhookPage({ ...page, webhook, deliveries: none, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
    },
    {
      name: 'webhook-refused',
      html: WebhookPage({ ...page, form: { ...edit, faults: refused }, webhook, deliveries }),
    },
    { name: 'webhook-remove', html: RemoveWebhookPage({ shell: admin, webhook: failing, fault: texts('fault') }) },
  ]
}

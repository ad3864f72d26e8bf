import { RemoveWebhookPage, WebhookPage } from '../../../../../views/attention/webhooks/webhook-page.tsx'
import type { WebhookView } from '../../../../../views/attention/webhooks/webhook-types.ts'
import { WebhooksPage } from '../../../../../views/attention/webhooks/webhooks-page.tsx'
import { paths } from '../../../../../views/paths.ts'
import type { Core, WebhookInput } from '../../../../actors/core-interface.ts'
import { type AttentionKind, attentionKinds } from '../../../../domain/attention/attention-lines.ts'
import type { Webhook } from '../../../../domain/attention/webhook.ts'
import { checkedUrl } from '../../../../domain/attention/webhook-url.ts'
import { done } from '../../../../domain/refusal.ts'
import { webhooksStream } from '../../../../domain/stream-names.ts'
import { invalidField, type Typed } from '../../../../domain/text.ts'
import { isChanged, shownFieldOf, shownValues } from '../../forms/changed-fields.ts'
import { changedMeanwhile, quoted } from '../../forms/changed-meanwhile.ts'
import { type FormFields, noFields } from '../../forms/read-form.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../../page-answers.tsx'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../../visit.ts'

type Input = Omit<WebhookInput, 'webhookId'>
type Shown = Readonly<Record<string, string>>

export const webhookViews = ({ webhooks }: Core): readonly WebhookView[] =>
  webhooks.list().map((webhook) => viewOf(webhooks, webhook))

const viewOf = (webhooks: Core['webhooks'], webhook: Webhook): WebhookView => ({
  ...webhook,
  ...webhooks.status(webhook.webhookId),
})

export const showWebhooks = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  await core.webhooks.load()
  return htmlPage(visit, listPage(core, visit))
}

export const makeWebhook = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { webhooks } = deps.core
  await webhooks.load()
  const again = (faults: Faults) => listPage(deps.core, visit, faults)
  const input = typedInput(visit.form)
  if (!input.ok) return refusedPage(visit, input.refusal, { back: toWebhooks, again })
  const set = await webhooks.set({ ...input.value, webhookId: null }, askerOf(visit))
  if (!set.ok && set.refusal.kind === 'webhook_exists')
    return seeOther(visit, paths.webhook(set.refusal.webhookId), { notice: 'webhook_was_made' })
  if (!set.ok) return refusedPage(visit, set.refusal, { back: toWebhooks, again })
  return htmlPage(visit, await pageOf(deps, visit, { webhook: set.value, isSecretShown: true }), 201)
}

export const showWebhook = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  return webhook === null ? notFound(visit) : htmlPage(visit, await pageOf(deps, visit, { webhook }))
}

export const showSecret = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  if (webhook === null) return notFound(visit)
  return htmlPage(visit, await pageOf(deps, visit, { webhook, isSecretShown: true }))
}

/** The address of the secret stays in the browser after the form. */
export const leadToWebhook = (_: DashboardDeps, visit: SignedInVisit): Response =>
  seeOther(visit, paths.webhook(visit.params['webhookId'] ?? ''))

export const changeWebhook = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  if (webhook === null) return notFound(visit)
  const { form } = visit
  const [now, back] = [fieldsOf(webhook), toWebhook(webhook)]
  const shown = shownValues(form, now)
  if (!isChanged(form, shown, Object.keys(now))) return seeOther(visit, back.href, { notice: 'nothing_typed' })
  const again = (faults: Faults) => pageOf(deps, visit, { webhook, faults, shown })
  const input = typedInput(form)
  if (!input.ok) return refusedPage(visit, input.refusal, { back, again })
  const { url, ...kinds } = now
  const overtaken = await changedMeanwhile(deps, visit, {
    shown,
    now,
    groups: [
      { typed: ['url'], now: quoted(webhook.url) },
      { typed: ['which', ...Object.keys(kinds)], now: 'other kinds' },
    ],
    stream: webhooksStream,
    valuesIn: ({ type, data }) => (type === 'WebhookSet' && data.webhookId === webhook.webhookId ? fieldsOf(data) : {}),
  })
  if (overtaken !== null) return htmlPage(visit, await pageOf(deps, visit, { webhook, ...overtaken }), 409)
  const set = await deps.core.webhooks.set({ ...input.value, webhookId: webhook.webhookId }, askerOf(visit))
  if (set.ok) return seeOther(visit, back.href, { notice: 'webhook_changed' })
  return refusedPage(visit, set.refusal, { back, again })
}

export const testWebhook = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  if (webhook === null) return notFound(visit)
  const back = toWebhook(webhook)
  const tested = await deps.core.webhooks.test(webhook.webhookId, askerOf(visit))
  if (!tested.ok)
    return refusedPage(visit, tested.refusal, { back, again: (faults) => pageOf(deps, visit, { webhook, faults }) })
  const isDelivered = tested.value.ended?.outcome === 'delivered'
  return seeOther(visit, back.href, { notice: isDelivered ? 'test_delivered' : 'test_not_delivered' })
}

export const confirmRemoval = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  return webhook === null ? notFound(visit) : htmlPage(visit, removePage(deps, visit, webhook))
}

export const removeWebhook = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const webhook = await webhookInPath(deps, visit)
  if (webhook === null) return notFound(visit)
  const removed = await deps.core.webhooks.remove(webhook.webhookId, askerOf(visit))
  if (removed.ok) return seeOther(visit, paths.webhooks, { notice: 'webhook_removed' })
  const again = (faults: Faults) => removePage(deps, visit, webhook, faults)
  return refusedPage(visit, removed.refusal, { back: toWebhook(webhook), again })
}

const toWebhooks = { href: paths.webhooks, words: 'Back to the webhooks' }
const toWebhook = ({ webhookId }: Webhook) => ({ href: paths.webhook(webhookId), words: 'Back to the webhook' })

const webhookInPath = async ({ core }: DashboardDeps, { params }: SignedInVisit): Promise<Webhook | null> => {
  await core.webhooks.load()
  return core.webhooks.list().find(({ webhookId }) => webhookId === params['webhookId']) ?? null
}

/** The fields of the form. A browser sends only the boxes that are checked. */
const fieldsOf = ({ url, kinds }: Input): Shown => ({
  url,
  which: kinds.length === 0 ? 'all' : 'some',
  ...Object.fromEntries(attentionKinds.map((kind) => [`kind_${kind}`, kinds.includes(kind) ? 'on' : ''])),
})

const typedKinds = (form: FormFields): readonly AttentionKind[] =>
  attentionKinds.filter((kind) => form(`kind_${kind}`) !== '')

const typedInput = (form: FormFields): Typed<Input> => {
  const url = checkedUrl(form('url'))
  if (!url.ok) return url
  if (form('which') === 'all') return done({ url: url.value, kinds: [] })
  const kinds = typedKinds(form)
  return kinds.length > 0 && form('which') === 'some'
    ? done({ url: url.value, kinds })
    : invalidField('which', 'Choose what is sent.')
}

/** What was sent, or what holds now. */
const formOf = (form: FormFields, now: Input, faults: Faults) => {
  const isSent = form('which') !== '' || form('url') !== ''
  const values = isSent
    ? { url: form('url'), which: form('which') }
    : { url: now.url, which: fieldsOf(now)['which'] ?? '' }
  const chosen = isSent ? typedKinds(form) : now.kinds
  return {
    form: { values, faults: placedFaults(values, faults) },
    kinds: attentionKinds.map((kind) => ({ kind, isChosen: chosen.includes(kind) })),
  }
}

const listPage = (core: Core, visit: SignedInVisit, faults: Faults = noFaults): JSX.Element => (
  <WebhooksPage
    shell={visit.shell}
    webhooks={webhookViews(core)}
    {...formOf(visit.form, { url: '', kinds: [] }, faults)}
    why={visit.session.role === 'admin' ? core.webhooks.why() : null}
  />
)

type PageParts = {
  readonly webhook: Webhook
  readonly faults?: Faults
  readonly shown?: Shown
  readonly isSecretShown?: boolean
}

const pageOf = async (
  { core: { webhooks } }: DashboardDeps,
  visit: SignedInVisit,
  { webhook, faults = noFaults, shown = fieldsOf(webhook), isSecretShown = false }: PageParts,
): Promise<string> => {
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const from = { before: Number.isSafeInteger(before) && before > 0 ? before : null }
  const deliveries = await webhooks.deliveries(webhook.webhookId, from)
  const { form, kinds } = formOf(isSecretShown ? noFields : visit.form, webhook, faults)
  const secret = isSecretShown ? webhooks.secretOf(webhook) : { why: '' }
  return (
    <WebhookPage
      shell={visit.shell}
      webhook={viewOf(webhooks, webhook)}
      deliveries={deliveries}
      form={{ ...form, shown: shownFieldOf(shown) }}
      kinds={kinds}
      secret={'secret' in secret ? secret.secret : null}
    />
  )
}

const removePage = (
  { core: { webhooks } }: DashboardDeps,
  visit: SignedInVisit,
  webhook: Webhook,
  faults: Faults = noFaults,
): JSX.Element => <RemoveWebhookPage shell={visit.shell} webhook={viewOf(webhooks, webhook)} fault={faults['form']} />

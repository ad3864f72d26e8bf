import { Layout } from '../../frame/layout.tsx'
import { ActionLink } from '../../parts/action-link.tsx'
import { ByWhom } from '../../parts/by.tsx'
import { ConfirmCard } from '../../parts/confirm-card.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Fact } from '../../parts/fact.tsx'
import { Csrf } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import { Crumbs } from '../../parts/nav-links.tsx'
import { countOf } from '../../parts/quantity.ts'
import { AgoOrNever, Instant } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import type { EditForm, Shell } from '../../types.ts'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { hostOf, toldText, WebhookState } from './webhook-state.tsx'
import type { DeliveriesView, KindChoice, WebhookField, WebhookView } from './webhook-types.ts'

type PageProps = {
  readonly shell: Shell
  readonly webhook: WebhookView
  readonly deliveries: DeliveriesView
  readonly form: EditForm<WebhookField>
  readonly kinds: readonly KindChoice[]
  /** Only in the answer to a form. */
  readonly secret: string | null
}

export const WebhookPage = (props: PageProps): JSX.Element => {
  const { shell, webhook, deliveries } = props
  const isAdmin = shell.operator?.role === 'admin'
  return (
    <Layout shell={shell} title={`Webhook ${hostOf(webhook.url)}`} section="attention">
      <WebhookCrumbs />
      <div class="heading">
        <h1>
          <Name text={webhook.url} />
        </h1>
      </div>
      {props.secret === null ? null : <Secret webhookId={webhook.webhookId} secret={props.secret} />}
      <div class="columns">
        <StateCard webhook={webhook} nowMs={shell.nowMs} csrf={isAdmin ? shell.csrf : null} />
        {isAdmin ? (
          <WebhookForm
            csrf={shell.csrf}
            action={paths.webhook(webhook.webhookId)}
            title="Change"
            button="Save"
            form={props.form}
            kinds={props.kinds}
          />
        ) : null}
      </div>
      <Deliveries webhookId={webhook.webhookId} {...deliveries} />
    </Layout>
  )
}

const WebhookCrumbs = (): JSX.Element => (
  <Crumbs crumbs={[<a href={paths.attention}>Needs attention</a>, <a href={paths.webhooks}>Webhooks</a>]} />
)

type StateProps = {
  readonly webhook: WebhookView
  readonly nowMs: number
  /** Of an admin. */
  readonly csrf: string | null
}

const StateCard = ({ webhook, nowMs, csrf }: StateProps): JSX.Element => (
  <section class="card" aria-labelledby="state-title">
    <h2 id="state-title">Sending</h2>
    <dl class="facts-list">
      <Fact term="State">
        <WebhookState webhook={webhook} nowMs={nowMs} />
        {webhook.why === null ? null : (
          <small class="under">{csrf === null ? 'Ask an admin to look at this.' : <Name text={webhook.why} />}</small>
        )}
      </Fact>
      <Fact term="Sends">
        <span safe>{toldText(webhook)}</span>
      </Fact>
      <Fact term="Last attempt">
        <AgoOrNever at={webhook.last?.beganMs ?? null} nowMs={nowMs} />
      </Fact>
      <Fact term="Waiting">
        <span safe>{countOf(webhook.waiting, 'message', 'messages')}</span>
      </Fact>
      <Fact term="Set">
        <Instant at={webhook.set.at} />
        <small class="under quiet">
          by <ByWhom by={webhook.set.by} />
        </small>
      </Fact>
    </dl>
    {csrf === null ? null : <Actions webhookId={webhook.webhookId} csrf={csrf} />}
  </section>
)

const Actions = ({ webhookId, csrf }: { readonly webhookId: string; readonly csrf: string }): JSX.Element => (
  <ul class="action-list">
    <li>
      <PostButton action={paths.testWebhook(webhookId)} csrf={csrf} words="Send a test" />
      <small class="under quiet">takes up to 15 s</small>
    </li>
    <li>
      <PostButton action={paths.webhookSecret(webhookId)} csrf={csrf} words="Show the secret" />
    </li>
    <ActionLink href={paths.removeWebhook(webhookId)} verb="Remove" of="this webhook" isDangerous />
  </ul>
)

const PostButton = (props: { readonly action: string; readonly csrf: string; readonly words: string }): JSX.Element => (
  <form method="post" action={props.action}>
    <Csrf token={props.csrf} />
    <button type="submit" class="action" safe>
      {props.words}
    </button>
  </form>
)

const Secret = (props: { readonly webhookId: string; readonly secret: string }): JSX.Element => (
  <section class="card" aria-labelledby="secret-title">
    <h2 id="secret-title">Secret</h2>
    <p>
      Each request is signed with this secret, as Standard Webhooks says. So the receiver can check that it comes from
      here. Give it to the receiver only. Admins can see it again on this page.
    </p>
    <Copyable id="webhook-secret" label="Signing secret" text={props.secret} what="secret" secret />
    <Copyable
      id="webhook-check"
      label="To check a request in Python, with the package standardwebhooks:"
      text={check}
      what="lines"
    />
  </section>
)

const check = `from standardwebhooks.webhooks import Webhook

message = Webhook(secret).verify(body, headers)  # raises WebhookVerificationError`

export const RemoveWebhookPage = (props: {
  readonly shell: Shell
  readonly webhook: WebhookView
  readonly fault: string | undefined
}): JSX.Element => {
  const { shell, webhook } = props
  return (
    <Layout shell={shell} title="Remove webhook" section="attention" narrow>
      <WebhookCrumbs />
      <ConfirmCard
        title="Remove webhook?"
        csrf={shell.csrf}
        action={paths.removeWebhook(webhook.webhookId)}
        fault={props.fault}
        button="Remove webhook"
        isDangerous
        cancel={paths.webhook(webhook.webhookId)}
      >
        <p>
          Nothing more is sent to <Name text={webhook.url} />.
          {webhook.waiting === 0 ? null : (
            <span safe>{` ${countOf(webhook.waiting, 'waiting message', 'waiting messages')} will not be sent.`}</span>
          )}
        </p>
        <p class="quiet">A new webhook to the same address will have another secret.</p>
      </ConfirmCard>
    </Layout>
  )
}

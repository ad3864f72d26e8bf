import { Layout } from '../../frame/layout.tsx'
import { Name } from '../../parts/name.tsx'
import { Crumbs } from '../../parts/nav-links.tsx'
import { type Column, Count, Table } from '../../parts/table.tsx'
import { AgoOrNever } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import type { Form, Shell } from '../../types.ts'
import { WebhookForm } from './webhook-form.tsx'
import { toldText, WebhookState } from './webhook-state.tsx'
import type { KindChoice, WebhookField, WebhookView } from './webhook-types.ts'

export const WebhooksPage = (props: {
  readonly shell: Shell
  readonly webhooks: readonly WebhookView[]
  readonly form: Form<WebhookField>
  readonly kinds: readonly KindChoice[]
  /** Why this node can make no webhook. `null`: it can. */
  readonly why: string | null
}): JSX.Element => {
  const { shell, webhooks, why } = props
  const isAdmin = shell.operator?.role === 'admin'
  return (
    <Layout shell={shell} title="Webhooks" section="attention">
      <Crumbs crumbs={[<a href={paths.attention}>Needs attention</a>]} />
      <div class="heading">
        <h1>Webhooks</h1>
        <p class="lead">When something starts or stops needing attention, this service posts it to these addresses.</p>
      </div>
      {webhooks.length === 0 ? (
        <div class="empty small">
          <p>There is no webhook yet.</p>
          {isAdmin ? null : <p class="quiet">An admin can make one.</p>}
        </div>
      ) : (
        <Table class="webhooks" room="wider" rows={webhooks} columns={columns(shell.nowMs)} />
      )}
      {!isAdmin ? null : why === null ? (
        <WebhookForm
          csrf={shell.csrf}
          action={paths.webhooks}
          title="Make a webhook"
          button="Make webhook"
          form={props.form}
          kinds={props.kinds}
        />
      ) : (
        <section class="card warn" aria-labelledby="no-secret">
          <h2 id="no-secret">No webhook can be made here</h2>
          <p>
            <Name text={why} />
          </p>
        </section>
      )}
    </Layout>
  )
}

const columns = (nowMs: number): readonly Column<WebhookView>[] => [
  {
    head: 'Address',
    cell: ({ webhookId, url }) => (
      <a class="row-name" href={paths.webhook(webhookId)}>
        <Name text={url} />
      </a>
    ),
  },
  { head: 'What', cell: (webhook) => <span safe>{toldText(webhook)}</span> },
  { head: 'State', cell: (webhook) => <WebhookState webhook={webhook} nowMs={nowMs} /> },
  { head: 'Last attempt', cell: ({ last }) => <AgoOrNever at={last?.beganMs ?? null} nowMs={nowMs} /> },
  { head: 'Waiting', isNumber: true, cell: ({ waiting }) => <Count of={waiting} /> },
]

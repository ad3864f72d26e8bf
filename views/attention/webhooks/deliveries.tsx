import type { Delivery } from '../../../src/domain/attention/webhook.ts'
import { Name } from '../../parts/name.tsx'
import { Pill, type PillLook } from '../../parts/pill.tsx'
import { countText } from '../../parts/quantity.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Instant } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import type { DeliveriesView } from './webhook-types.ts'

export const Deliveries = (props: DeliveriesView & { readonly webhookId: string }): JSX.Element => {
  const { deliveries, before } = props
  return (
    <section aria-labelledby="deliveries-title">
      <h2 id="deliveries-title">
        Deliveries <small>newest first, of the last 30 days</small>
      </h2>
      {deliveries.length === 0 ? (
        <div class="empty small">
          <p>Nothing was sent yet.</p>
        </div>
      ) : (
        <Table class="deliveries" hasRowHeadings={false} rows={deliveries} columns={columns} />
      )}
      {before === null ? null : (
        <p class="list-note">
          <a class="action" href={paths.webhook(props.webhookId, before)}>
            Older deliveries
          </a>
        </p>
      )}
    </section>
  )
}

const looks: Readonly<Record<NonNullable<Delivery['ended']>['outcome'], readonly [PillLook, string]>> = {
  delivered: ['active', 'delivered'],
  failed: ['revoked', 'failed'],
  unknown: ['suspended', 'not known'],
  given_up: ['expired', 'given up'],
}

const columns: readonly Column<Delivery>[] = [
  { head: 'When', cell: ({ beganMs }) => <Instant at={beganMs} /> },
  {
    head: 'What',
    cell: ({ of, attempt, node }) => (
      <>
        {of !== null ? <a href={paths.event(of.stream, of.revision)}>Message</a> : node === null ? 'Messages' : 'Test'}
        <small class="under quiet">
          {of === null || attempt === 1 ? null : <span safe>{`attempt ${countText(attempt)}, `}</span>}
          {node === null ? null : (
            <>
              by <Name text={node} />
            </>
          )}
        </small>
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ ended }) => {
      const [look, word] = ended === null ? (['soon', 'under way'] as const) : looks[ended.outcome]
      return <Pill look={look} word={word} />
    },
  },
  {
    head: 'Answer',
    isEmpty: ({ ended }) => answerOf(ended) === '',
    cell: ({ ended }) => <Name text={answerOf(ended)} />,
  },
  {
    head: 'Took',
    isEmpty: ({ ended }) => ended === null,
    isNumber: true,
    cell: ({ ended }) => <span safe>{ended === null ? '' : `${countText(ended.tookMs)}\u00a0ms`}</span>,
  },
]

/** Like `503 Service Unavailable: busy`, and why it was not enough. */
const answerOf = (ended: Delivery['ended']): string => {
  if (ended === null) return ''
  const { status, answer, why } = ended
  // The status says this already.
  const reason = why === `The answer was ${status}.` ? null : why
  return [status === null ? null : `${status}`, answer, reason]
    .filter((part) => part !== null && part !== '')
    .join(' · ')
}

import { ChangeList } from '../log/change-list.tsx'
import { EventSentence } from '../log/event-sentence.tsx'
import { ReceiptLink } from '../log/receipt-link.tsx'
import { ByWhom } from '../parts/by.tsx'
import { attribute } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { HistoryEntry, HistoryLine, HistoryView } from '../types.ts'
import { StatusPill } from './key-status.tsx'

type HistoryProps = { readonly keyId: string; readonly history: HistoryView }

export const KeyHistory = ({ keyId, history }: HistoryProps): JSX.Element => (
  <section id="history" aria-labelledby="history-title">
    <h2 id="history-title">
      History <small>from the event log, newest first, in UTC</small>
    </h2>
    <InternalEvents keyId={keyId} history={history} />
    {history.entries === null ? (
      <p class="index-note" role="status">
        The history cannot be shown now. This page tries again by itself.
      </p>
    ) : null}
    <Table
      class="history"
      room="wider"
      isHidden={history.entries === null}
      rows={history.entries ?? []}
      frameOf={({ lines }) => ({ id: `position-${lines.at(-1)?.position}` })}
      columns={columnsOf(keyId)}
    />
    <PageLinks
      page={history.page}
      pages={history.pages}
      hrefOf={(page) => `${paths.key(keyId, page, history.isEverything)}#history`}
      words={{ before: 'Newer events', behind: 'Older events' }}
    />
  </section>
)

/** Internal events say how a change came into force. Without them, the history tells what people did. */
const InternalEvents = ({ keyId, history }: HistoryProps): JSX.Element => {
  if (history.internal === 0) return ''
  const many = countOf(history.internal, 'internal event is', 'internal events are')
  return (
    <p class="quiet">
      <span safe>{history.isEverything ? `${many} shown too.` : `${many} not shown.`}</span>{' '}
      <a href={attribute(`${paths.key(keyId, 1, !history.isEverything)}#history`)}>
        {history.isEverything ? 'Show less' : 'Show everything'}
      </a>
    </p>
  )
}

const columnsOf = (keyId: string): readonly Column<HistoryEntry>[] => [
  { head: 'When', cell: ({ lines }) => <ExactInstant at={lines.at(-1)?.at ?? 0} /> },
  {
    head: 'What happened',
    cell: ({ lines, by }) => (
      <>
        {lines.map((line) => (
          <Line line={line} keyId={keyId} />
        ))}
        <PasswordMaker by={by} />
      </>
    ),
  },
  {
    head: 'Status afterwards',
    cell: ({ status, expiresAt }) => (
      <>
        <StatusPill status={status} />
        {status === 'active' && expiresAt !== null ? (
          <span class="under">
            until <ExactInstant at={expiresAt} />
          </span>
        ) : null}
      </>
    ),
  },
  { head: 'In the log', class: 'place', cell: PlaceInLog },
]

const PlaceInLog = ({ lines, requestId }: HistoryEntry): JSX.Element => (
  <>
    {lines.map((line) => (
      <span class="history-place">
        <ReceiptLink event={line} />
        <span class="under" safe>{`position ${countText(line.position)}`}</span>
      </span>
    ))}
    <a class="under" href={attribute(paths.found(requestId))} safe>
      {`request ${requestId}`}
    </a>
  </>
)

const Line = ({ line, keyId }: { readonly line: HistoryLine; readonly keyId: string }): JSX.Element => (
  <div class="history-line">
    <p>
      <EventSentence sentence={line.sentence} ofKey={keyId} />
    </p>
    <ChangeList changes={line.changes} />
    <code class="under">{line.type}</code>
  </div>
)

/** Another person whose link set the password can have acted in the operator's name. */
const PasswordMaker = ({ by }: { readonly by: HistoryEntry['by'] }): JSX.Element =>
  by.kind === 'operator' && (by.session?.linkMadeBy ?? null) !== null ? (
    <span class="under">
      By <ByWhom by={by} />
    </span>
  ) : (
    ''
  )

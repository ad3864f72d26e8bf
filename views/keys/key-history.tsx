import type { HistoryRow } from '../../projections/audit-trail.ts'
import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import { ChangeList } from '../log/change-list.tsx'
import { ByWhom } from '../parts/by.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { secondText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { HistoryView, StateAt } from '../types.ts'
import { StatusPill } from './key-status.tsx'

export const KeyHistory = (props: { readonly keyId: string; readonly history: HistoryView }): JSX.Element => (
  <section id="history" aria-labelledby="history-title">
    <h2 id="history-title">
      History <small>from the event log, newest first, in UTC</small>
    </h2>
    <div class="table-room wider">
      <table class="stack history">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">When and who</th>
            <th scope="col">What changed</th>
            <th scope="col">Status afterwards</th>
            <th scope="col">In the log</th>
          </tr>
        </thead>
        <tbody>
          {props.history.rows.map((row) => (
            <HistoryLine row={row} />
          ))}
        </tbody>
      </table>
    </div>
    <PageLinks
      page={props.history.page}
      pages={props.history.pages}
      hrefOf={(page) => `${paths.key(props.keyId, page)}#history`}
      words={{ before: 'Newer events', behind: 'Older events' }}
    />
  </section>
)

const HistoryLine = (props: { readonly row: HistoryRow }): JSX.Element => {
  const { row } = props
  return (
    <tr id={`position-${row.position}`}>
      <th scope="row">
        <span class="row-name" safe>
          {eventWords[row.type]}
        </span>
        <code class="under">{row.type}</code>
      </th>
      <td data-label="When and who">
        <ExactInstant at={row.at} />
        <span class="under">
          <ByWhom by={row.by} />
        </span>
      </td>
      <td data-label="What changed">
        {row.changes.length === 0 ? <span class="quiet">–</span> : <ChangeList changes={row.changes} />}
      </td>
      <td data-label="Status afterwards">
        <StatusPill status={row.statusAfter} />
        <Name class="under" text={besidePill(row.statusAfter, row.stateAfter)} />
      </td>
      <td data-label="In the log" class="place">
        <code safe>{`${row.stream}@${row.revision}`}</code>
        <span class="under" safe>{`position ${row.position}`}</span>
        <span class="under" safe>{`request ${row.requestId}`}</span>
      </td>
    </tr>
  )
}

const eventWords: Readonly<Record<HistoryRow['type'], string>> = {
  KeyCreated: 'Created',
  KeyRelabelled: 'Label or note changed',
  KeyLimitChanged: 'Limit changed',
  KeyExpirySet: 'Expiry set',
  KeyRotated: 'Rotated',
  KeySuperseded: 'New key in use',
  KeySuspended: 'Suspended',
  KeyResumed: 'Resumed',
  KeyExpired: 'Expired',
  KeyRevoked: 'Revoked',
  ReadingsSealed: 'Readings stopped permanently',
  ReadingsFenced: 'Change in force on every node',
  ReadingsPurged: 'Old readings deleted',
}

/** The form uses GET, so that the answer has an address that an operator can send to others. */
export const StateAtInstant = (props: {
  readonly keyId: string
  readonly stateAt: StateAt | null
  readonly nowMs: number
}): JSX.Element => {
  const fault = props.stateAt?.answer.kind === 'refused' ? props.stateAt.answer.rule : null
  return (
    <section id="state-at" class="card" aria-labelledby="state-at-title">
      <h2 id="state-at-title">Was this key valid at a certain time?</h2>
      <form method="get" action={`${paths.key(props.keyId)}#state-at`} class="ask">
        <label for="field-at">Time (UTC)</label>
        <input
          id="field-at"
          name="at"
          type="text"
          required
          autocomplete="off"
          spellcheck="false"
          value={attribute(props.stateAt?.typed ?? '')}
          placeholder={secondText(props.nowMs).replace(' UTC', '')}
          aria-invalid={fault === null ? undefined : 'true'}
          aria-describedby={fault === null ? undefined : 'fault-at'}
        />
        <button type="submit" class="secondary">
          Check
        </button>
      </form>
      {fault === null ? null : (
        <p class="fault" id="fault-at">
          <Name text={fault} />
        </p>
      )}
      {props.stateAt === null ? null : <StateAnswer answer={props.stateAt.answer} />}
    </section>
  )
}

const StateAnswer = (props: { readonly answer: StateAt['answer'] }): JSX.Element => {
  const { answer } = props
  if (answer.kind === 'refused') return ''
  return (
    <p class="answer" role="status">
      <span>
        At <ExactInstant at={answer.at} />:
      </span>{' '}
      {answer.status === null ? null : <StatusPill status={answer.status} />}
      <Name
        class="answer-reason"
        text={answer.status === null ? answer.reason : besidePill(answer.status, answer.reason)}
      />
    </p>
  )
}

/** Removes the status from the start of the reason, because the status label beside the reason already shows it. */
const besidePill = (status: KeyStatus, reason: string): string =>
  reason.startsWith(status) ? reason.slice(status.length).replace(/^:? /, '') : reason

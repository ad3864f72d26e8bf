import { EventSentence } from '../log/event-sentence.tsx'
import { ReceiptLink } from '../log/receipt-link.tsx'
import { limitWords, reasonOf, say } from '../log/sentence-parts.ts'
import { ByWhom } from '../parts/by.tsx'
import { Fact } from '../parts/fact.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Ago, ExactInstant } from '../parts/time.tsx'
import { TimeForm } from '../parts/time-form.tsx'
import { isoText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { EventThen, KeyThen, StateAt } from '../types.ts'
import { StatusPill } from './key-status.tsx'

type StateProps = { readonly keyId: string; readonly stateAt: StateAt | null; readonly nowMs: number }

export const StateAtInstant = ({ keyId, stateAt, nowMs }: StateProps): JSX.Element => {
  const answer = stateAt?.answer ?? null
  const refused = stateAt?.answer.kind === 'refused' ? { typed: stateAt.typed, rule: stateAt.answer.rule } : null
  return (
    <section id="state-at" class="card" aria-labelledby="state-at-title">
      <h2 id="state-at-title">Was this key valid at a certain time?</h2>
      <TimeForm
        action={`${paths.key(keyId)}#state-at`}
        at={answer?.kind === 'known' ? answer.at : null}
        refused={refused}
        nowMs={nowMs}
      />
      {answer?.kind === 'known' ? <Answer keyId={keyId} answer={answer} nowMs={nowMs} /> : null}
    </section>
  )
}

type Known = KeyThen & { readonly at: number }
type AnswerProps = { readonly keyId: string; readonly answer: Known; readonly nowMs: number }

const Answer = ({ keyId, answer, nowMs }: AnswerProps): JSX.Element => (
  <div class="answer" role="status">
    <p class="answer-sentence">
      <Verdict answer={answer} />
    </p>
    <dl class="facts">
      {answer.key === null ? null : <FactsThen then={answer.key} nowMs={nowMs} />}
      {answer.decidedBy === null ? null : (
        <Fact term="Decided by" isWide>
          <EventSentence sentence={answer.decidedBy.sentence} ofKey={keyId} />
          <ReceiptLink class="under" event={answer.decidedBy} />
        </Fact>
      )}
      <Neighbour keyId={keyId} term="Event before" event={answer.previous} />
      <Neighbour keyId={keyId} term="Next event" event={answer.next} />
    </dl>
    <p class="quiet below-list">
      <a href={attribute(paths.keyAt(keyId, isoText(answer.at)))}>Permanent link to this answer</a>
    </p>
  </div>
)

const Verdict = ({ answer }: { readonly answer: Known }): JSX.Element => {
  const { at, key, decidedBy } = answer
  if (decidedBy === null) return <span>There is no such key.</span>
  if (key === null) {
    return (
      <>
        <strong>No</strong>, it did not exist at <ExactInstant at={at} />: created <Since event={decidedBy} />.
      </>
    )
  }
  switch (key.status) {
    case 'active':
      return (
        <>
          <strong>Yes</strong>, it was valid at <ExactInstant at={at} />: active since <Since event={decidedBy} />.
        </>
      )
    case 'expired':
      return (
        <>
          <strong>No</strong>, it had expired at <ExactInstant at={at} />
          {key.expiresAt === null ? null : (
            <>
              : its expiry was <ExactInstant at={key.expiresAt} />
            </>
          )}
          , set <Since event={decidedBy} />.
        </>
      )
    case 'suspended':
    case 'revoked':
      return (
        <>
          <strong>No</strong>, it was <span>{key.status}</span> at <ExactInstant at={at} />, since{' '}
          <Since event={decidedBy} />
          <EventSentence sentence={say`${reasonOf(decidedBy.reason)}.`} />
        </>
      )
    default:
      return unknownStatus(key.status)
  }
}

const Since = ({ event }: { readonly event: EventThen }): JSX.Element => (
  <>
    <ExactInstant at={event.at} /> by <ByWhom by={event.by} />
  </>
)

const FactsThen = ({ then, nowMs }: { readonly then: NonNullable<KeyThen['key']>; readonly nowMs: number }) => (
  <>
    <Fact term="Status then">
      <StatusPill status={then.status} />
    </Fact>
    <Fact term="Label then">
      <Name text={then.label} />
    </Fact>
    <Fact term="Limit then">
      <span safe>{then.limit === null ? 'Not known' : limitWords(then.limit)}</span>
      {then.hasOwnLimit ? null : <span class="under">the cellar’s limit</span>}
    </Fact>
    <Fact term="Expiry then">
      {then.expiresAt === null ? (
        'Never'
      ) : (
        <>
          <ExactInstant at={then.expiresAt} />
          <span class="under">
            <Ago at={then.expiresAt} nowMs={nowMs} />
          </span>
        </>
      )}
    </Fact>
    {then.note === '' ? null : (
      <Fact term="Note then" isWide>
        <Name class="note" text={then.note} />
      </Fact>
    )}
  </>
)

const Neighbour = (props: {
  readonly keyId: string
  readonly term: string
  readonly event: EventThen | null
}): JSX.Element => {
  const { event } = props
  return (
    <Fact term={props.term} isWide>
      {event === null ? (
        <span class="quiet">None</span>
      ) : (
        <>
          <a href={attribute(paths.keyAt(props.keyId, isoText(event.at)))}>
            <ExactInstant at={event.at} />
          </a>
          : <EventSentence sentence={event.sentence} ofKey={props.keyId} />
        </>
      )}
    </Fact>
  )
}

const unknownStatus = (status: never): never => {
  throw new Error(`Cannot show the status ${JSON.stringify(status)}`)
}

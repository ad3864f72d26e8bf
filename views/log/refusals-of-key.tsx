import { attribute } from '../parts/name.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { EventSentence } from './event-sentence.tsx'
import type { EventRow } from './log-types.ts'

/** By every node. Nothing if there is none. */
export const LastRefusals = (props: {
  /** `null`: of several keys, so each sentence names its own. */
  readonly keyId: string | null
  readonly rows: readonly EventRow[]
  readonly all: { readonly href: string; readonly words: string }
}): JSX.Element => {
  if (props.rows.length === 0) return ''
  return (
    <section class="card" aria-labelledby="last-refusals-title">
      <h2 id="last-refusals-title">
        Last refusals <small>of all nodes, newest first</small>
      </h2>
      <ul class="event-links timed">
        {props.rows.map(({ at, sentence, whyHref }) => (
          <li>
            <ExactInstant at={at} />{' '}
            <span>
              <EventSentence sentence={sentence} {...(props.keyId !== null && { ofKey: props.keyId })} />{' '}
              {whyHref === null ? null : <a href={attribute(whyHref)}>Why?</a>}
            </span>
          </li>
        ))}
      </ul>
      <p class="below-list">
        <a href={attribute(props.all.href)} safe>
          {props.all.words}
        </a>
      </p>
    </section>
  )
}

import type { Children } from '@kitajs/html'
import type { EventKind } from '../../src/domain/events/declare-event.ts'
import { EventSentence } from './event-sentence.tsx'
import { KindMark } from './kind-mark.tsx'
import type { Sentence } from './sentence-parts.ts'

/** The upper part of a page about one event or one refused request: its kind, one sentence, and its facts beside another card. */
export const EventFrame = (props: {
  readonly kind: EventKind
  /** The words behind the mark of the kind. */
  readonly words: Children
  readonly sentence: Sentence
  /** A list of facts. */
  readonly facts: Children
  /** The other card. */
  readonly beside: Children
}): JSX.Element => (
  <>
    <p class="event-kind">
      <KindMark kind={props.kind} /> {props.words}
    </p>
    <h1 class="event-sentence">
      <EventSentence sentence={props.sentence} />
    </h1>
    <div class="event-columns">
      <section class="card" aria-labelledby="facts-title">
        <h2 id="facts-title" class="visually-hidden">
          Facts
        </h2>
        <dl class="facts-list">{props.facts}</dl>
      </section>
      {props.beside}
    </div>
  </>
)

import type { Children } from '@kitajs/html'
import type { EventKind } from '../../src/domain/events/declare-event.ts'
import { EventSentence } from './event-sentence.tsx'
import { KindMark } from './kind-mark.tsx'
import type { Sentence } from './sentence-parts.ts'

export const EventFrame = (props: {
  readonly kind: EventKind
  /** Behind the mark of the kind. */
  readonly words: Children
  readonly sentence: Sentence
  readonly facts: Children
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

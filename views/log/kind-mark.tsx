import type { EventKind } from '../../src/domain/events/declare-event.ts'

export const kindWords: Readonly<Record<EventKind, string>> = {
  readings: 'Readings',
  refusals: 'Refusals',
  keys: 'Keys',
  cellars: 'Cellars',
  operators: 'Operators',
  attention: 'Needs attention',
  log: 'The log itself',
}

export const eventKindsShown: readonly EventKind[] = [
  'readings',
  'refusals',
  'keys',
  'cellars',
  'operators',
  'attention',
  'log',
]

/** A shape and a colour, so that a person finds the rows of a kind quickly. Screen readers read the sentence only. */
export const KindMark = (props: { readonly kind: EventKind }): JSX.Element => (
  <span class={`kind-mark ${props.kind}`} aria-hidden="true">
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
      <path d={shapes[props.kind]} />
    </svg>
  </span>
)

const shapes: Readonly<Record<EventKind, string>> = {
  readings: 'M1 6.5l1.4-1.4 2.5 2.5L9.8 2.3 11.2 3.7 4.9 10.4z',
  refusals: 'M2.4 1L6 4.6 9.6 1 11 2.4 7.4 6 11 9.6 9.6 11 6 7.4 2.4 11 1 9.6 4.6 6 1 2.4z',
  keys: 'M6 0.5L11.5 6 6 11.5 0.5 6z',
  cellars: 'M1 1.5h10v2H1zM1 5h10v2H1zM1 8.5h10v2H1z',
  operators: 'M6 1a2.4 2.4 0 1 1 0 4.8a2.4 2.4 0 1 1 0-4.8zM1.5 11c0-3 2-4.4 4.5-4.4s4.5 1.4 4.5 4.4z',
  attention: 'M6 0.8L11.6 11H0.4zM5.3 4.4h1.4v3.2H5.3zM5.3 8.4h1.4v1.4H5.3z',
  log: 'M6 1a5 5 0 1 1 0 10a5 5 0 1 1 0-10zM6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z',
}

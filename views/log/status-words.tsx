import { StatusPill } from '../keys/key-status.tsx'
import { EventSentence } from './event-sentence.tsx'
import { type StatusThen, statusCause } from './status-cause.ts'

export const StatusWords = ({ state }: { readonly state: StatusThen }): JSX.Element => (
  <span>
    {state.status === null ? null : (
      <>
        <StatusPill status={state.status} />{' '}
      </>
    )}
    <EventSentence sentence={statusCause(state)} />
  </span>
)

/** Saved state names the log that it comes from: the state of another log would show other keys and readings. */
import type { RecordedEvent } from './events.ts'
import { countOf } from './reading/columns.ts'
import { isRun, itemCount, type LogItem, lastPositionOf, type RecordedRun } from './reading/recorded-run.ts'
import { readingId } from './uuid.ts'

/** A copied log has an id of its own, because its events have other positions. So has a restored one: later events do. */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
    if (event.type === 'LogRestored') id = event.data.restoredId
  }
  return id
}

export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** Copies four fields: a reference to the item would keep its readings in memory. */
export const foldedToOf = (item: LogItem): FoldedTo => {
  const { stream } = item
  const position = lastPositionOf(item)
  const revision = item.revision + itemCount(item) - 1
  return { position, stream, revision, id: isRun(item) ? lastIdOf(item) : item.id }
}

/** @throws Error if the run has no request */
const lastIdOf = ({ run, stream }: RecordedRun): string => {
  const last = run.requests.at(-1)
  if (last === undefined) throw new Error(`Cannot name the last event of a run in "${stream}": the run is empty`)
  return readingId(last.requestId, countOf(last.readings) - 1)
}

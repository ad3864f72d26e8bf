import { createProjections } from '../../../projections/projections.ts'
import type { Projections } from '../../../projections/queries.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { BeginningUnusable, DamagedLog, type ReadBeginning } from '../../log/event-log.ts'

export type Newest = Pick<RecordedEvent, 'position' | 'recordedAt'>

export type FirstState = {
  readonly projections: Projections
  /** The log is read after this position. `null`: from the beginning. */
  readonly after: number | null
  /** The newest event that was folded. Records are not folded: their times can be wrong. */
  readonly newest: Newest | null
}

/**
 * Does not read all readings. If it meets damage, it folds nothing, and the caller reads the whole log. That reading finds
 * what is damaged. If only an index is damaged, the start goes on. @throws Outage, UndecodableEvent
 */
export const beginFromLog = async (
  read: ReadBeginning | null,
  onWholeRead: (why: string) => void,
): Promise<FirstState> => {
  try {
    const first = read === null ? null : await foldBeginning(read)
    if (first !== null) return first
  } catch (cause) {
    if (!(cause instanceof DamagedLog || cause instanceof BeginningUnusable)) throw cause
    onWholeRead(cause.message)
  }
  return { projections: createProjections(), after: null, newest: null }
}

const foldBeginning = async (read: ReadBeginning): Promise<FirstState | null> => {
  const projections = createProjections()
  let newest: Newest | null = null
  const see = ({ position, recordedAt }: Newest): void => {
    if (newest === null || position > newest.position) newest = { position, recordedAt }
  }
  const beginning = await read((event) => {
    projections.fold([event])
    see(event)
  })
  if (beginning === null) return null
  projections.reach(beginning.ends)
  for (const { last } of beginning.ends) if (last !== null) see(last)
  return { projections, after: beginning.position, newest }
}

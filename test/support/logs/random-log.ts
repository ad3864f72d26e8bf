import { createProjections } from '../../../projections/projections.ts'
import type { Projections } from '../../../projections/queries.ts'
import type { EventData, NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream, isRecordStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { snapshotOf } from '../snapshot.ts'
import { keySuspended, startMs } from './sample-events.ts'

export const appendTo = async (log: EventLog, stream: string, ...events: readonly NewEvent[]): Promise<void> => {
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  await log.append(stream, last?.revision ?? 'none', events)
}

/** Events of one stream that follow each other are appended together, so that rows have several events. */
export const appendAll = async (log: EventLog, events: readonly RecordedEvent[]): Promise<void> => {
  let run: RecordedEvent[] = []
  for (const [index, event] of events.entries()) {
    run.push(event)
    if (events[index + 1]?.stream === event.stream) continue
    await appendTo(log, event.stream, ...run.map(({ stream: _, revision: __, position: ___, ...rest }) => rest))
    run = []
  }
}

/** Deletes readings of a key as a purge does, but for the last one. */
export const purge = async (log: EventLog, keyId: string, share: number): Promise<void> => {
  const stream = readingsStream(keyId)
  const events = await log.read(stream, { limit: readPageEventsMax })
  const lastReading = events.findLastIndex(({ type }) => type === 'ReadingAccepted')
  const count = Math.floor(share * Math.max(0, lastReading))
  const purged = events.slice(0, count)
  const [first, last] = [purged[0], purged.at(-1)]
  if (first === undefined || last === undefined) return
  const data: EventData<'ReadingsPurged'> = {
    cellar: 'c',
    keyId,
    firstRevision: first.revision,
    lastRevision: last.revision,
    readings: purged.filter(({ type }) => type === 'ReadingAccepted').length,
    acceptedBefore: 0,
    lastAcceptedAt: last.recordedAt,
  }
  await appendTo(log, cellarStream('c'), { ...keySuspended(), type: 'ReadingsPurged', data })
  await log.truncate(stream, last.revision + 1)
}

export const factsOf = (projections: Projections, events: readonly RecordedEvent[]) => ({
  ...snapshotOf(projections, events, startMs),
  revisions: [...new Set(events.map(({ stream }) => stream))].map((stream) => projections.lastRevision(stream)),
})

export const wholeOf = (events: readonly RecordedEvent[]): Projections => {
  const whole = createProjections()
  whole.fold(events.filter(({ stream }) => !isRecordStream(stream)))
  return whole
}

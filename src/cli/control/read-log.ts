import { setTimeout as wait } from 'node:timers/promises'
import type { Ask } from '../../actors/search/ask-db.ts'
import { searchLog } from '../../actors/search/search-log.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import type { LogPart } from '../../domain/search/event-filter.ts'
import { cellarStream, keyStream } from '../../domain/stream-names.ts'
import { eventView } from '../../export/event-view.ts'
import { followPauseMs, logReadPageEvents } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { nextTurn } from '../../log/pages-of-log.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { done, refusedEnd } from './ends.ts'

export type LogToRead = {
  readonly log: EventLog
  /** Finds events that are no readings without reading the readings between them. Default: the log itself is read. */
  readonly ask?: Ask | null
  /** True if no other process can append to the log while this command reads it. Default: false. */
  readonly isAlone?: boolean
  /** Aborted when nobody reads the answer any more, or when the service stops. */
  readonly signal: AbortSignal
}

/** With `follow`, goes on with new events until the signal. */
export async function* readLogLines(
  { log, ask = null, isAlone = false, signal }: LogToRead,
  filter: LogPart & { readonly follow: boolean },
): AsyncGenerator<Line, End> {
  const { cellar, key, follow } = filter
  if (cellar !== null && (await isEmpty(log, cellarStream(cellar)))) return refusedEnd({ kind: 'cellar_not_found' })
  if (key !== null && (await isEmpty(log, keyStream(key)))) return refusedEnd({ kind: 'key_not_found' })
  const pause = async (): Promise<boolean> => follow && !isAlone && isPaused(signal)
  const events = followLog({ log, ask }, filter, pause)
  try {
    while (true) {
      const step = await events.next()
      if (step.done) return follow ? endOfFollowing(isAlone, step.value) : done
      yield { kind: 'event', value: eventView(step.value) }
    }
  } finally {
    await events.return(null)
  }
}

const isEmpty = async (log: EventLog, stream: string): Promise<boolean> =>
  (await log.read(stream, { limit: 1 })).length === 0

/** Returns false at once when the signal is aborted. */
const isPaused = (signal: AbortSignal): Promise<boolean> =>
  wait(followPauseMs, undefined, { signal }).then(
    () => true,
    () => false,
  )

const endOfFollowing = (isAlone: boolean, position: number | null): End =>
  isAlone
    ? { exitCode: exitCodes.done, message: 'No service runs with this data folder, so no more events can come' }
    : {
        exitCode: exitCodes.unreachable,
        message: `The service has stopped. To go on when it runs again, add: --from ${position ?? 0}`,
      }

/**
 * Reads up to the event that is the last one now. Otherwise, reading a busy log would never end. Then reads what has come
 * meanwhile, as long as `pause` returns true. Returns the position of the last event that was read, whether it matched or not.
 */
export async function* followLog(
  { log, ask = null }: Pick<LogToRead, 'log' | 'ask'>,
  filter: LogPart,
  pause: () => Promise<boolean>,
): AsyncGenerator<RecordedEvent, number | null> {
  const { to: end, ...wanted } = filter
  let { from } = filter
  do {
    const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
    if (last === undefined || (from !== null && last.position <= from)) continue
    const to = Math.min(last.position, end ?? last.position)
    const page = { direction: 'forwards', from, to, pageEvents: logReadPageEvents } as const
    for await (const { events } of searchLog({ log, ask }, wanted, page)) {
      yield* events
      // Pauses, so that a running service can answer waiting readings before the next page.
      await nextTurn()
    }
    from = last.position
  } while (await pause())
  return from
}

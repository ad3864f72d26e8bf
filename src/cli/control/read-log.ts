import { setTimeout as wait } from 'node:timers/promises'
import { answerOf } from '../../actors/ask/answer-of.ts'
import type { Core } from '../../actors/core-interface.ts'
import { patiently } from '../../actors/search/patient-reads.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import type { LogPart } from '../../domain/search/event-filter.ts'
import { cellarStream, keyStream } from '../../domain/stream-names.ts'
import { eventView } from '../../export/event-view.ts'
import type { EventList, ListedEvents } from '../../export/export-page.ts'
import { machineTime } from '../../export/running-export.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { done, refusedEnd } from './ends.ts'

/** How often `log read --follow` looks for new events. */
const followPauseMs = 250

export type LogToRead = {
  readonly questions: Core['questions']
  /** No other process can append to the log meanwhile. */
  readonly isAlone?: boolean
  readonly signal: AbortSignal
}

export async function* readLogLines(
  { questions, isAlone = false, signal }: LogToRead,
  { follow, ...filter }: LogPart & { readonly follow: boolean },
): AsyncGenerator<Line, End> {
  const { cellar, key } = filter
  if (cellar !== null && (await isEmpty(questions, cellarStream(cellar))))
    return refusedEnd({ kind: 'cellar_not_found' })
  if (key !== null && (await isEmpty(questions, keyStream(key)))) return refusedEnd({ kind: 'key_not_found' })
  const pause = async (): Promise<boolean> => follow && !isAlone && isPaused(signal)
  const events = followLog({ questions, signal }, filter, pause)
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

const isEmpty = async (questions: Core['questions'], stream: string): Promise<boolean> =>
  answerOf(await questions.ask('receipt', { stream, first: 0, last: 0 }, byCli)).kind === 'no_stream'

const byCli = { owner: 'cli', isAtOnce: true, isPatient: true }

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
 * Reads up to the event that is the last one now: otherwise, reading a busy log would never end. Then reads what has come
 * meanwhile, as long as `pause` returns true. Outlasts a short outage. Returns the position of the last event that was
 * read, whether it matched or not.
 */
export async function* followLog(
  { questions, signal }: Pick<LogToRead, 'questions' | 'signal'>,
  filter: LogPart,
  pause: () => Promise<boolean>,
): AsyncGenerator<RecordedEvent, number | null> {
  const patient = patiently({ ...machineTime, isWanted: () => !signal.aborted })
  let { from } = filter
  do {
    for (let range: Pick<LogPart, 'from' | 'to'> | null = { from, to: filter.to }; range !== null; ) {
      const list: EventList = { list: 'events', filter: { ...filter, ...range } }
      const read = async () => answerOf(await questions.ask('readEvents', { list, also: [] }, byCli))
      const page: ListedEvents = await patient(read)
      yield* page.events
      range = page.reached === null ? null : { from: page.reached, to: page.to }
      from = Math.max(from ?? -1, page.reached ?? page.to)
    }
  } while (await pause())
  return from
}

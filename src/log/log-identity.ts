import type { Clock } from '../clock.ts'
import type { By, EventData, NewEvent, RecordedEvent } from '../domain/events.ts'
import { logIdOf } from '../domain/log-reference.ts'
import { logStream } from '../domain/stream-names.ts'
import type { Entropy } from '../entropy.ts'
import { readPageEventsMax } from '../limits.ts'
import { type EventLog, LogUnusable, UndecodableEvent } from './event-log.ts'
import type { LogDigest } from './log-digest.ts'
import type { MissingEnd } from './tail/missing-end.ts'

/** Events can be missing, so no service may use the log. */
export class UnfinishedCopy extends LogUnusable {
  constructor() {
    super('The log is an unfinished copy. Run "cellarbook log copy" again: it continues where it stopped')
  }
}

/** The stream `cellarbook-log` belongs to another program, for example to one with the same `EVENTSTORE_PREFIX`. */
export class NotOurLog extends LogUnusable {}

/** The target holds other events, the source is no Cellarbook log, or somebody else writes to the log. */
export class NotACopy extends LogUnusable {}

export type Naming = { readonly clock: Clock; readonly entropy: Entropy }

/**
 * Returns the log's id, or gives it one. If two nodes do so at once, both return the id that was written first. @throws
 * UnfinishedCopy, NotOurLog
 */
export const ensureLogCreated = async (log: EventLog, clock: Clock, entropy: Entropy): Promise<string> => {
  const known = identityOf(await readLogStream(log))
  if (known !== null) return known

  const logId = entropy.uuid()
  const created = logEvent({ clock, entropy }, { type: 'LogCreated', data: { logId } })
  const result = await log.append(logStream, 'none', [created])
  if (result.outcome !== 'conflict') return logId
  const named = identityOf(await readLogStream(log))
  if (named === null) throw new Error(`Cannot name the log: "${logStream}" has a revision and no event`)
  return named
}

/** In ms. `null`: the log is no copy. @throws Outage */
export const copiedAt = async (log: Pick<EventLog, 'read'>): Promise<number | null> =>
  (await readLogStream(log)).findLast(({ type }) => type === 'LogCopyEnded')?.recordedAt ?? null

/** When the log was created, restored or copied. @throws Outage */
export const logBeganAt = async (log: Pick<EventLog, 'read'>): Promise<number | null> => {
  const began = ['LogCreated', 'LogRestored', 'LogCopyEnded']
  return (await readLogStream(log)).findLast(({ type }) => began.includes(type))?.recordedAt ?? null
}

/** False if nothing was ever written to the log. @throws UnfinishedCopy, NotOurLog */
export const hasId = async (log: EventLog): Promise<boolean> => identityOf(await readLogStream(log)) !== null

/**
 * Marks the target as unfinished, so that no service uses it (docs/decisions/010-a-copy-is-a-log-of-its-own.md). @throws
 * NotACopy, or UnfinishedCopy if the source is itself an unfinished copy
 */
export const beginCopy = async (
  from: Pick<EventLog, 'read'>,
  to: Pick<EventLog, 'read' | 'readAll' | 'append'>,
  naming: Naming,
): Promise<void> => {
  const source = await readLogStream(from)
  if (identityOf(source) === null) throw new NotACopy('The source is not a Cellarbook log: it has no id')
  const target = await readLogStream(to)
  const begun = target.at(-1)
  if (begun !== undefined) {
    const isOfSource = source.every((event, index) => event.id === target[index]?.id)
    if (isOfSource && target.length === source.length + 1 && begun.type === 'LogCopyBegun') return
    throw new NotACopy('The target holds another log, or a finished copy: choose an empty one')
  }
  const [other] = await to.readAll({ limit: 1 })
  if (other !== undefined) throw new NotACopy('The target holds other events: choose an empty one')
  const beginning = source.map(({ stream: _, revision: __, position: ___, ...event }) => event)
  const mark = logEvent(naming, { type: 'LogCopyBegun', data: { copyId: naming.entropy.uuid() } })
  await append(to, -1, [...beginning, mark])
}

/** `accepted`: changes of the source's SQL schema that a person accepted. The copy must still tell them. */
export const endCopy = async (
  to: Pick<EventLog, 'read' | 'append'>,
  { digest, events, accepted }: LogDigest & { readonly accepted: readonly string[] },
  naming: Naming,
): Promise<void> => {
  const target = await readLogStream(to)
  const ended = logEvent(naming, { type: 'LogCopyEnded', data: { digest, events } })
  await append(to, target.length - 1, accepted.length === 0 ? [ended] : [ended, schemaAccepted(accepted, naming)])
}

/** An unchanged list is not written again: otherwise every start that accepts these changes would add an event. */
export const recordAcceptedSchema = async (
  log: EventLog,
  differences: readonly string[],
  naming: Naming,
): Promise<void> => {
  const events = await readLogStream(log)
  const last = events.findLast(({ type }) => type === 'LogSchemaAccepted')
  if (last?.type === 'LogSchemaAccepted' && Bun.deepEquals(last.data.differences, [...differences])) return
  await append(log, events.length - 1, [schemaAccepted(differences, naming)])
}

/** Records that a person uses the log although its end is missing. */
export const recordAcceptedLoss = async (
  log: EventLog,
  { lastPosition, knownPosition, findings }: MissingEnd,
  naming: Naming,
): Promise<void> => {
  const events = await readLogStream(log)
  const data = { lastPosition, knownPosition, findings: [...findings] }
  await append(log, events.length - 1, [logEvent(naming, { type: 'LogLossAccepted', data }, { kind: 'cli' })])
}

/** The log gets a new id: beside the original, the same positions and receipts lead to other events from now on. */
export const recordRestored = async (
  log: EventLog,
  { lastPosition, lastRecordedAt }: Pick<EventData<'LogRestored'>, 'lastPosition' | 'lastRecordedAt'>,
  naming: Naming,
): Promise<void> => {
  const events = await readLogStream(log)
  const data = { restoredId: naming.entropy.uuid(), lastPosition, lastRecordedAt }
  await append(log, events.length - 1, [logEvent(naming, { type: 'LogRestored', data }, { kind: 'cli' })])
}

const schemaAccepted = (differences: readonly string[], naming: Naming): NewEvent =>
  logEvent(naming, { type: 'LogSchemaAccepted', data: { differences: [...differences] } }, { kind: 'cli' })

const append = async (to: Pick<EventLog, 'append'>, last: number, events: readonly NewEvent[]): Promise<void> => {
  const result = await to.append(logStream, last < 0 ? 'none' : last, events)
  if (result.outcome === 'conflict') throw new NotACopy(`Somebody else writes to "${logStream}"`)
}

const readLogStream = async (log: Pick<EventLog, 'read'>): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  try {
    while (true) {
      const page = await log.read(logStream, { from: events.length, limit: readPageEventsMax })
      events.push(...page)
      if (page.length < readPageEventsMax) return events
    }
  } catch (cause) {
    if (!(cause instanceof UndecodableEvent) || cause.revision > 0 || cause.type === 'LogCreated') throw cause
    throw notOurs(cause.type, cause)
  }
}

const notOurs = (type: string, cause?: unknown): NotOurLog =>
  new NotOurLog(
    `Cannot use this log: its stream "${logStream}" begins with ${type}, so it belongs to another program`,
    { cause },
  )

const identityOf = (events: readonly RecordedEvent[]): string | null => {
  const [first] = events
  if (first === undefined) return null
  if (first.type !== 'LogCreated') throw notOurs(first.type)
  if (events.at(-1)?.type === 'LogCopyBegun') throw new UnfinishedCopy()
  return logIdOf(events)
}

type LogEvent =
  | { readonly type: 'LogCreated'; readonly data: EventData<'LogCreated'> }
  | { readonly type: 'LogCopyBegun'; readonly data: EventData<'LogCopyBegun'> }
  | { readonly type: 'LogCopyEnded'; readonly data: EventData<'LogCopyEnded'> }
  | { readonly type: 'LogSchemaAccepted'; readonly data: EventData<'LogSchemaAccepted'> }
  | { readonly type: 'LogLossAccepted'; readonly data: EventData<'LogLossAccepted'> }
  | { readonly type: 'LogRestored'; readonly data: EventData<'LogRestored'> }

const logEvent = ({ clock, entropy }: Naming, event: LogEvent, by: By = { kind: 'system' }): NewEvent => {
  const recordedAt = clock.now()
  const requestId = entropy.requestId(recordedAt)
  const metadata = { by, requestId, correlationId: requestId, causationId: requestId }
  return { ...event, id: entropy.uuid(), recordedAt, metadata }
}

import { createProjections, restoreProjections } from '../../../projections/projections.ts'
import type { Projections } from '../../../projections/queries.ts'
import { PieceReader, PieceWriter, savedFormat } from '../../../projections/saved-pieces.ts'
import { messageOf } from '../../domain/error-message.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { type FoldedTo, foldedToOf, logIdOf } from '../../domain/log-reference.ts'
import { itemCount, type LogItem } from '../../domain/reading/recorded-run.ts'
import { logStream } from '../../domain/stream-names.ts'
import {
  checkpointAgeMsMax,
  checkpointEventsMin,
  checkpointLookMs,
  checkpointLooksMax,
  checkpointTailEventsMax,
  readPageEventsMax,
} from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { Host } from '../host.ts'
import { foldedEvent } from '../stream/folded-event.ts'
import type { KnownRevision } from './lost-changes.ts'

/** Stores one checkpoint. The last checkpoint stays readable until the next checkpoint is complete. */
export type CheckpointStore = {
  /**
   * Returns the pieces in order. Each piece is valid only until the next piece is read, because both can use the same
   * memory. `null` if there is no checkpoint.
   * @throws RangeError if the checkpoint is damaged.
   */
  read(): Generator<Uint8Array> | null
  /** Takes each piece in its own turn of the event loop, so that the node answers requests in between. */
  write(pieces: Iterable<Uint8Array>): Promise<void>
  discard(): Promise<void>
}

export type CheckpointParts = {
  readonly store: CheckpointStore
  readonly onThrownAway?: (why: string) => void
  readonly onFailed?: (cause: unknown) => void
}

/**
 * `last` is the last event folded into `projections`; `null` if there is none. `lost` is set if the checkpoint knows events
 * that the log has lost. Call its `discard` when nobody needs them any more.
 */
export type Beginning = {
  readonly projections: Projections
  readonly last: RecordedEvent | null
  readonly lost: { readonly known: KnownRevision; discard(): Promise<void> } | null
}

/**
 * Loads the checkpoint. Discards the checkpoint if its last event is not in the log. Then this is another log, or a
 * person has accepted the loss of its end. `open-log.ts` refuses an embedded log that ends before its checkpoint. Also
 * discards the checkpoint if later events are missing, so that the whole log is read, and checked.
 * @throws the error of the log if the log cannot be read.
 */
export const beginFrom = async (log: EventLog, parts: CheckpointParts | null): Promise<Beginning> => {
  const nothing = (): Beginning => ({ projections: createProjections(), last: null, lost: null })
  if (parts === null) return nothing()
  const discard = async (): Promise<void> => {
    try {
      await parts.store.discard()
    } catch (cause) {
      // The disk may be read-only. The next start then ignores the checkpoint for the same reason.
      parts.onFailed?.(cause)
    }
  }
  const throwAway = async (why: string): Promise<Beginning> => {
    parts.onThrownAway?.(why)
    await discard()
    return nothing()
  }
  let saved: Saved | null
  try {
    saved = readSaved(parts.store)
  } catch (cause) {
    return throwAway(messageOf(cause))
  }
  if (saved === null) return nothing()
  const { logId, foldedTo } = saved.header
  const isOfThisLog = (await readLogId(log)) === logId
  const last = isOfThisLog ? await foldedEvent(log, foldedTo) : null
  const lastText = `revision ${foldedTo.revision} of "${foldedTo.stream}"`
  if (last === null && isOfThisLog) {
    parts.onThrownAway?.(`the log does not have its last event: ${lastText}`)
    return { ...nothing(), lost: { known: knownRevisions(saved.pieces), discard } }
  }
  if (last === null || last === 'purged') {
    saved.pieces.return(undefined)
    if (!isOfThisLog) return throwAway('it is of another log')
    return throwAway(`its last event was purged, so the log cannot confirm it: ${lastText}`)
  }
  if ((await log.hasGapAfter?.(foldedTo.position)) === true) {
    saved.pieces.return(undefined)
    return throwAway('events after it were purged or lost, and only a read of the whole log tells which')
  }
  try {
    return { projections: restoreProjections(saved.pieces), last, lost: null }
  } catch (cause) {
    return throwAway(messageOf(cause))
  }
}

/** A damaged checkpoint knows nothing. */
const knownRevisions = (pieces: Generator<Uint8Array>): KnownRevision => {
  try {
    const known = restoreProjections(pieces)
    return (stream) => known.lastRevision(stream)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    return () => null
  }
}

/**
 * Returns which log the checkpoint is of, and its last event. `null` if there is no checkpoint, or none that can be read.
 * `beginFrom` says why, and then the log is read from its beginning.
 */
export const checkpointHeader = (store: CheckpointStore): SavedHeader | null => {
  try {
    const saved = readSaved(store)
    saved?.pieces.return(undefined)
    return saved?.header ?? null
  } catch {
    return null
  }
}

type SavedHeader = { readonly logId: string; readonly foldedTo: FoldedTo }

type Saved = { readonly header: SavedHeader; readonly pieces: Generator<Uint8Array> }

const readSaved = (store: CheckpointStore): Saved | null => {
  const pieces = store.read()
  if (pieces === null) return null
  const first = pieces.next()
  if (first.done === true) throw new RangeError('it is empty')
  return { header: readHeader(first.value), pieces }
}

const readHeader = (piece: Uint8Array): SavedHeader => {
  const from = new PieceReader(piece)
  const format = from.whole()
  if (format !== savedFormat) throw new RangeError(`it has format ${format}, and this version reads ${savedFormat}`)
  return {
    logId: from.text(),
    foldedTo: { position: from.whole(), stream: from.text(), revision: from.whole(), id: from.text() },
  }
}

const writeHeader = ({ logId, foldedTo }: SavedHeader): Uint8Array => {
  const to = new PieceWriter()
  to.whole(savedFormat)
  to.text(logId)
  to.whole(foldedTo.position)
  to.text(foldedTo.stream)
  to.whole(foldedTo.revision)
  to.text(foldedTo.id)
  return to.cut()
}

const readLogId = async (log: EventLog): Promise<string | null> =>
  logIdOf(await log.read(logStream, { limit: readPageEventsMax }))

export class Checkpoints {
  readonly #host: Host
  readonly #parts: CheckpointParts | null
  #logId: string | null = null
  #last: { readonly foldedTo: FoldedTo; readonly recordedAt: number } | null = null
  /** Time (ms) of the last event in the checkpoint. `null` without a checkpoint. */
  #savedRecordedAt: number | null
  #eventsSince = 0
  #looksSince = 0
  #writing: Promise<void> | null = null
  #isStopped = false
  #forgetLook = (): void => {}

  constructor(host: Host, parts: CheckpointParts | null, restored: RecordedEvent | null) {
    this.#host = host
    this.#parts = parts
    this.#savedRecordedAt = restored?.recordedAt ?? null
    if (parts !== null) this.#lookLater()
  }

  folded(items: readonly LogItem[]): void {
    const last = items.at(-1)
    if (last === undefined) return
    this.#last = { foldedTo: foldedToOf(last), recordedAt: last.recordedAt }
    for (const item of items) this.#eventsSince += itemCount(item)
  }

  /** Ends the writing of checkpoints. After a bug, a new checkpoint could save a wrong state. */
  stop(): void {
    this.#isStopped = true
    this.#forgetLook()
  }

  /**
   * Writes a last checkpoint if enough events are new or the checkpoint is old. Call this method when no more events
   * will be folded.
   */
  async end(): Promise<void> {
    this.#forgetLook()
    await this.#writing
    if (this.#isWorthIt) await this.#write()
    this.stop()
  }

  /**
   * One new event is enough to replace an old checkpoint, because a purge could soon delete the checkpoint's last event.
   * The log could then not confirm the checkpoint, and the checkpoint would be useless.
   */
  get #isWorthIt(): boolean {
    if (this.#eventsSince >= checkpointEventsMin) return true
    if (this.#savedRecordedAt === null || this.#eventsSince === 0) return false
    return this.#host.clock.now() - this.#savedRecordedAt >= checkpointAgeMsMax
  }

  #lookLater(): void {
    this.#forgetLook = this.#host.schedule.after(checkpointLookMs, () => {
      this.#look()
      if (!this.#isStopped) this.#lookLater()
    })
  }

  #look(): void {
    this.#looksSince += 1
    const isDue =
      this.#eventsSince >= checkpointTailEventsMax || (this.#isWorthIt && this.#looksSince >= checkpointLooksMax)
    if (!isDue || this.#writing !== null) return
    this.#writing = this.#write().finally(() => {
      this.#writing = null
    })
  }

  async #write(): Promise<void> {
    if (this.#parts === null || this.#isStopped) return
    const eventsBefore = this.#eventsSince
    const savedBefore = this.#savedRecordedAt
    try {
      this.#logId ??= await readLogId(this.#host.log)
      await this.#parts.store.write(this.#pieces(this.#logId))
    } catch (cause) {
      this.#savedRecordedAt = savedBefore
      this.#eventsSince += eventsBefore
      this.#parts.onFailed?.(cause)
    }
  }

  /**
   * The header and the first piece are made in one turn of the event loop, so no event is folded between them.
   * Otherwise the header would name a wrong last event.
   */
  *#pieces(logId: string | null): Generator<Uint8Array> {
    const last = this.#last
    if (logId === null || last === null) throw new Error('Cannot write a checkpoint: the log has no name, or no events')
    const pieces = this.#host.projections.save()
    const first = pieces.next()
    this.#savedRecordedAt = last.recordedAt
    this.#eventsSince = 0
    this.#looksSince = 0
    try {
      yield writeHeader({ logId, foldedTo: last.foldedTo })
      if (first.done !== true) yield first.value
      yield* pieces
    } finally {
      pieces.return(undefined)
    }
  }
}

import type { Projections } from '../../../projections/queries.ts'
import type { Clock } from '../../clock.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { type IdempotentAppend, idempotentAppendAt, isForgotten } from '../../domain/reading/idempotency-key.ts'
import { heartbeatMs, idempotencyMarginMs, idempotencyMs } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { RepeatsIndex } from '../../log/repeats-index.ts'
import type { Schedule } from '../../schedule.ts'

/** Entries that the follower has not committed yet: 56 MB, at 850 bytes each. With more, such requests are refused. */
export const idempotencyWaitingMax = 65_536
/** How long a start waits for the index. To check a large file, or to build it again, takes longer. */
export const idempotencyStartMsMax = 20_000

/**
 * - `folding`: the index is being built from the log.
 * - `unusable`: it cannot be used, or is too far behind.
 * - `unwritable`: the file cannot be written, so new entries wait in memory.
 */
export type IndexTrouble = { readonly kind: 'folding' | 'unusable' | 'unwritable'; readonly why: string }

/** `upTo`: the log has the entry at this position or before it. `null`: this node has not heard the event yet. */
type Waiting = { readonly append: IdempotentAppend; upTo: number | null }

type Parts = {
  readonly log: EventLog
  readonly clock: Clock
  readonly schedule: Schedule
  readonly projections: Projections
}

/**
 * What this node has written or read waits in memory until the index on disk has it
 * (docs/decisions/014-repeats-are-judged-where-readings-are-appended.md). If an entry can be in neither, the answer is
 * `unknown`: a wrong "not found" would store a reading twice.
 */
export class RepeatMemory {
  readonly #context: Parts
  /** `null`: all entries stay in memory, and the actors read their streams for them. */
  readonly #index: RepeatsIndex | null
  readonly #waiting = new Map<string, Waiting>()
  /** Memory lacks entries up to this position. So an index that ends before it does not count. */
  #neededTo = -1
  /**
   * The time (ms) that decides which entries are forgotten. It begins at the newest event's time, and runs at most at twice
   * the normal speed. Otherwise a clock that is ahead for a moment would forget entries too early.
   */
  #clockMs = 0
  #begun = (): void => {}

  constructor(context: Parts, index: RepeatsIndex | null) {
    this.#context = context
    this.#index = index
  }

  /** The index or memory has every append up to this position in the log. -1 while some are missing. */
  get foldedTo(): number {
    if (this.#isFull) return -1
    if (this.#index === null) return this.#neededTo < 0 ? 0 : -1
    const { foldedTo } = this.#index
    return foldedTo !== null && foldedTo >= this.#neededTo ? foldedTo : -1
  }

  get trouble(): IndexTrouble | null {
    const why = this.#index?.trouble ?? null
    if (this.foldedTo >= 0) return why === null || !this.#context.log.health().ok ? null : { kind: 'unwritable', why }
    if (why !== null) return { kind: 'unusable', why }
    if (this.#isFull) return { kind: 'unusable', why: 'it cannot keep up with the log' }
    return { kind: 'folding', why: 'it is read from the log' }
  }

  /**
   * `null`: no append has this idempotency key. `unknown`: the memory is incomplete, so the request must be refused,
   * because it can be a repeat.
   */
  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown' {
    if (this.foldedTo < 0) return 'unknown'
    const inFile = this.#index?.find(stream, keyHash) ?? null
    if (inFile === 'unknown') return 'unknown'
    const found = laterOf(this.#waiting.get(nameOf(stream, keyHash))?.append ?? null, inFile)
    return found === null || isForgotten(found, this.#forgettingNowMs) ? null : found
  }

  /** The event is so old that its idempotency key does not count any more. */
  isPast({ recordedAt }: Pick<RecordedEvent, 'recordedAt'>): boolean {
    return recordedAt < this.#forgettingNowMs - idempotencyMs - idempotencyMarginMs
  }

  learn(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (event.metadata.idempotency === undefined) continue
      const append = idempotentAppendAt(event)
      if (append !== null && !this.isPast(append)) this.#learnOne(append, event.position)
    }
  }

  /** The position of the append is not known yet. The bounds of the mailboxes limit the number of such entries. */
  keep(append: IdempotentAppend): void {
    this.#put(append, null)
  }

  /**
   * Resolves when the index has all that the log had at the start, or earlier if that takes long. Until then, every answer
   * is `unknown`.
   */
  async begin(newest: Pick<RecordedEvent, 'position' | 'recordedAt'> | null): Promise<void> {
    this.#clockMs = newest?.recordedAt ?? this.#context.clock.now()
    const index = this.#index
    index?.listen(() => this.#forgetWritten())
    if (index === null || newest === null) return
    this.#neededTo = newest.position
    index.hurry(newest.position)
    if (this.foldedTo >= 0) return
    await new Promise<void>((resolve) => {
      const forget = this.#context.schedule.after(idempotencyStartMsMax, resolve)
      this.#begun = () => {
        forget()
        resolve()
      }
    })
  }

  onBeat(): void {
    this.#clockMs = Math.min(this.#context.clock.now(), this.#clockMs + 2 * heartbeatMs)
    if (this.#waiting.size > 0) this.#forgetWritten()
  }

  get #isFull(): boolean {
    return this.#waiting.size >= idempotencyWaitingMax
  }

  get #forgettingNowMs(): number {
    return Math.min(this.#context.clock.now(), this.#clockMs)
  }

  #learnOne(append: IdempotentAppend, position: number): void {
    const isInFile = this.#index !== null && position <= this.foldedTo
    if (isInFile || this.#isFull) this.#neededTo = Math.max(this.#neededTo, position)
    else this.#put(append, position)
  }

  #put(append: IdempotentAppend, upTo: number | null): void {
    const name = nameOf(append.stream, append.idempotency.keyHash)
    const known = this.#waiting.get(name)?.append
    if (known !== undefined && known.revision >= append.revision) return
    this.#waiting.set(name, { append, upTo })
  }

  #forgetWritten(): void {
    const foldedTo = this.#index?.foldedTo ?? null
    if (foldedTo === null) return
    for (const [name, entry] of this.#waiting) {
      entry.upTo ??= this.#boundOf(entry.append)
      if (entry.upTo === null || entry.upTo > foldedTo) continue
      this.#waiting.delete(name)
      this.#neededTo = Math.max(this.#neededTo, entry.upTo)
    }
    if (this.foldedTo >= 0) this.#begun()
  }

  /** If the projections have folded the append, it lies at their position or before it. */
  #boundOf({ stream, revision }: IdempotentAppend): number | null {
    const { readings, position } = this.#context.projections
    return (readings.lastRevision(stream) ?? -1) >= revision ? position : null
  }
}

const laterOf = (a: IdempotentAppend | null, b: IdempotentAppend | null): IdempotentAppend | null =>
  a !== null && (b === null || a.revision > b.revision) ? a : b

const nameOf = (stream: string, keyHash: string): string => `${stream} ${keyHash}`

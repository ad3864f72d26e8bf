import { setTimeout as wait } from 'node:timers/promises'
import type { Asker, Core } from '../actors/core-interface.ts'
import { type Patience, patiently } from '../actors/search/patient-reads.ts'
import { messageOf } from '../domain/error-message.ts'
import type { EventData } from '../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../domain/refusal.ts'
import { actorText } from '../domain/search/event-filter.ts'
import { exportRetryPauseMs } from '../limits.ts'
import { type Exporting, type ExportPage, filterWords, pagesOf } from './exported-list.ts'

/** The end of an export is recorded again for this time while the store is unavailable. A stop of the service waits for it. */
export const exportEndMsMax = 5_000

export type ExportOrder = Omit<Exporting, 'core' | 'owner' | 'patient'> & {
  readonly core: Core
  readonly asker: Asker
  /** `null` on the command line. */
  readonly address: string | null
  /** Default: with the timers of the machine. */
  readonly patience?: Omit<Patience, 'isWanted'>
}

/** The words are in the log. */
export const cutOffWords = {
  clientLeft: 'the client left',
  clientTooSlow: 'the client was too slow',
  sessionEnded: 'the session ended',
  serviceStopped: 'the service stopped',
} as const

export const machineTime: Omit<Patience, 'isWanted'> = {
  pause: (ms) => wait(ms, undefined, { ref: false }),
  passedMs: () => performance.now(),
}

/** From its first record to its last (`LogExported`). Its owner must call `cutOff` when nobody wants the rest. */
export class RunningExport {
  readonly #core: Core
  readonly #asker: Asker
  readonly #begun: EventData<'LogExported'>
  readonly #begunRevision: number
  readonly #patience: Patience
  readonly #pages: AsyncGenerator<ExportPage, void>
  #rows = 0
  #ending: Promise<Outcome<number, CommandRefusal>> | null = null
  #cutOffWhy: string | null = null

  private constructor(order: ExportOrder, begun: EventData<'LogExported'>, begunRevision: number) {
    this.#core = order.core
    this.#asker = order.asker
    this.#begun = begun
    this.#begunRevision = begunRevision
    const patience = { ...machineTime, ...order.patience, isWanted: () => this.#ending === null }
    this.#patience = patience
    // A page outlasts a short outage of the store.
    this.#pages = pagesOf({ ...order, owner: actorText(order.asker.by), patient: patiently(patience) })
  }

  /** Gives nothing out before the beginning is recorded. */
  static async begin(order: ExportOrder): Promise<Outcome<RunningExport, CommandRefusal>> {
    const { core, asker, list, format, address } = order
    const begun = {
      phase: 'begun',
      begunRevision: null,
      list: list.list,
      format,
      filter: { ...filterWords(list) },
      address,
      rows: 0,
      why: null,
    } as const
    const recorded = await core.recordExport(begun, asker)
    return recorded.ok ? done(new RunningExport(order, begun, recorded.value)) : recorded
  }

  get rows(): number {
    return this.#rows
  }

  get cutOffWhy(): string | null {
    return this.#cutOffWhy
  }

  /** `null`: all rows were handed over, or the export was cut off. @throws Outage, UndecodableEvent */
  async next(): Promise<ExportPage | null> {
    if (this.#ending !== null) return null
    const step = await this.#read()
    // A cut-off can come while a page is read.
    if (this.#ending !== null) return null
    if (step.done === true) {
      await this.#end('complete', null)
      return null
    }
    this.#rows += step.value.rows
    return step.value
  }

  /** Returns a refusal if the end could not be recorded. */
  cutOff(why: string): Promise<Outcome<number, CommandRefusal>> {
    return this.#end('cut_off', why)
  }

  async #read(): Promise<IteratorResult<ExportPage, void>> {
    try {
      return await this.#pages.next()
    } catch (error) {
      await this.cutOff(messageOf(error))
      throw error
    }
  }

  #end(phase: 'complete' | 'cut_off', why: string | null): Promise<Outcome<number, CommandRefusal>> {
    if (this.#ending === null) {
      this.#cutOffWhy = why
      this.#ending = this.#recordEnd({
        ...this.#begun,
        phase,
        begunRevision: this.#begunRevision,
        rows: this.#rows,
        why,
      })
    }
    return this.#ending
  }

  /**
   * The client can leave while the store is unavailable, so the end is tried again for a while. Never rejects, because
   * nobody waits for some calls: `recordExport` reports a bug itself.
   */
  async #recordEnd(end: EventData<'LogExported'>): Promise<Outcome<number, CommandRefusal>> {
    const { passedMs, pause } = this.#patience
    const beganMs = passedMs()
    while (true) {
      const recorded = await this.#core
        .recordExport(end, this.#asker)
        .catch(() => refused({ kind: 'not_confirmed' } as const))
      if (recorded.ok || recorded.refusal.kind !== 'store_unavailable') return recorded
      if (passedMs() - beganMs >= exportEndMsMax) return recorded
      await pause(exportRetryPauseMs)
    }
  }
}

import type { Asker, Core } from '../actors/core.ts'
import { messageOf } from '../domain/error-message.ts'
import type { EventData } from '../domain/events.ts'
import { type CommandRefusal, done, type Outcome } from '../domain/refusal.ts'
import { type Exporting, type ExportPage, filterWords, pagesOf } from './exported-list.ts'

export type ExportOrder = Exporting & {
  readonly asker: Asker
  /** The address of the client; `null` on the command line. */
  readonly address: string | null
}

/** Why an export ends before its last row. The words are in the log. */
export const cutOffWords = {
  clientLeft: 'the client left',
  sessionEnded: 'the session ended',
  serviceStopped: 'the service stopped',
} as const

/**
 * One export, from its first record to its last (`LogExported`). It reads a page only when it is asked for one. Its owner must
 * call `cutOff` when nobody wants the rest.
 */
export class RunningExport {
  readonly #core: Core
  readonly #asker: Asker
  readonly #begun: EventData<'LogExported'>
  readonly #begunRevision: number
  readonly #pages: AsyncGenerator<ExportPage, void>
  #rows = 0
  #ending: Promise<Outcome<number, CommandRefusal>> | null = null
  #cutOffWhy: string | null = null

  private constructor(order: ExportOrder, begun: EventData<'LogExported'>, begunRevision: number) {
    this.#core = order.core
    this.#asker = order.asker
    this.#begun = begun
    this.#begunRevision = begunRevision
    this.#pages = pagesOf(order)
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

  /** Rows that were handed over. */
  get rows(): number {
    return this.#rows
  }

  /** `null` if the export was not cut off. */
  get cutOffWhy(): string | null {
    return this.#cutOffWhy
  }

  /** Returns `null` when all rows were handed over, or when the export was cut off. @throws Outage, UndecodableEvent */
  async next(): Promise<ExportPage | null> {
    if (this.#ending !== null) return null
    const step = await this.#read()
    // The export can be cut off while a page is read.
    if (this.#ending !== null) return null
    if (step.done === true) {
      await this.#end('complete', null)
      return null
    }
    this.#rows += step.value.rows
    return step.value
  }

  /** Records the end. Does nothing if the export has ended. Returns a refusal if the end could not be recorded. */
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
      const data = { ...this.#begun, phase, begunRevision: this.#begunRevision, rows: this.#rows, why }
      this.#ending = this.#core.recordExport(data, this.#asker)
    }
    return this.#ending
  }
}

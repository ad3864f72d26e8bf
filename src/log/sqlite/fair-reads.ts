import type { RecordedEvent } from '../../domain/events.ts'
import { storeReadEvents, storeReadEventsPerTurnMax } from '../../limits.ts'
import { nextTurn } from '../pages-of-log.ts'

/**
 * How much is read in one turn of the event loop. SQLite reads on it and at once, so whoever reads page after page would
 * hold up every request, timer and heartbeat until the last. So past a bound the next read, whosever it is, waits for
 * the next turn; one that is alone never does.
 */
export class FairReads {
  #readInTurn = 0
  #turn: Promise<void> | null = null

  /** Reads when there is something left of the turn. Rejects with what `read` throws. */
  async read(read: () => readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
    while (this.#turn !== null && this.#readInTurn >= storeReadEventsPerTurnMax) await this.#turn
    this.#turn ??= nextTurn().then(() => this.#begin())
    const events = read()
    this.#readInTurn += storeReadEvents + events.length
    return events
  }

  #begin(): void {
    this.#readInTurn = 0
    this.#turn = null
  }
}

import type { RecordedEvent } from '../../domain/events.ts'
import { storeReadEvents, storeReadEventsPerTurnMax } from '../../limits.ts'
import { nextTurn } from '../pages-of-log.ts'

/**
 * SQLite reads synchronously, so reading many pages would block requests. This class limits the events per turn of the
 * event loop. Further reads wait for the next turn (docs/decisions/004-reads-share-the-event-loop.md).
 */
export class FairReads {
  #readInTurn = 0
  #turn: Promise<void> | null = null

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

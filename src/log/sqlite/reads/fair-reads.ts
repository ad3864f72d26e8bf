import type { RecordedEvent } from '../../../domain/events.ts'
import { nextTurn } from '../../pages-of-log.ts'

/** A read that has begun may take longer. */
export const storeReadMsPerTurnMax = 2

/** docs/decisions/004-reads-share-the-event-loop.md */
export class FairReads {
  readonly #passedMs: () => number
  #readMs = 0
  #turn: Promise<void> | null = null

  constructor(passedMs: () => number = () => performance.now()) {
    this.#passedMs = passedMs
  }

  async read(read: () => readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
    while (this.#turn !== null && this.#readMs >= storeReadMsPerTurnMax) await this.#turn
    this.#turn ??= nextTurn().then(() => this.#begin())
    const beganMs = this.#passedMs()
    try {
      return read()
    } finally {
      this.#readMs += this.#passedMs() - beganMs
    }
  }

  #begin(): void {
    this.#readMs = 0
    this.#turn = null
  }
}

import { type IdempotentAppend, idempotentAppendAt } from '../../src/domain/reading/idempotency-key.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { pagesOfLog } from '../../src/log/pages-of-log.ts'
import type { RepeatsIndex } from '../../src/log/repeats-index.ts'

/** An index in memory. After the start of a node, it follows the log only when the test says so. */
export class FakeRepeatsIndex implements RepeatsIndex {
  foldedTo: number | null = null
  trouble: string | null = null
  /** Look-ups find damage. */
  isDamaged = false
  /** It does not commit at a start either. */
  isAway = false
  readonly #log: Pick<EventLog, 'readAll'>
  readonly #appends = new Map<string, IdempotentAppend>()
  #listener = (): void => {}

  constructor(log: Pick<EventLog, 'readAll'>) {
    this.#log = log
  }

  get size(): number {
    return this.#appends.size
  }

  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown' {
    return this.isDamaged ? 'unknown' : (this.#appends.get(`${stream} ${keyHash}`) ?? null)
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  hurry(): void {
    if (!this.isAway) void this.commit()
  }

  /** The file was deleted. */
  lose(): void {
    this.foldedTo = null
    this.#appends.clear()
    this.#listener()
  }

  /** Folds the whole log, or the events up to this position. */
  async commit(upTo = Number.POSITIVE_INFINITY): Promise<void> {
    for await (const page of pagesOfLog(this.#log, { after: this.foldedTo, limit: readPageEventsMax })) {
      for (const event of page) {
        if (event.position > upTo) break
        const append = idempotentAppendAt(event)
        if (append !== null) this.#appends.set(`${append.stream} ${append.idempotency.keyHash}`, append)
        this.foldedTo = event.position
      }
      if ((page.at(-1)?.position ?? 0) >= upTo) break
    }
    this.#listener()
  }
}

import type { FoldedTo } from '../../../src/domain/log-reference.ts'
import type { IdempotentAppend } from '../../../src/domain/reading/idempotency-key.ts'
import type { RepeatsChange, RepeatsIndex } from '../../../src/log/repeats-index.ts'

/** Keeps every promise of `RepeatsIndex`, but is lost when the process ends. */
export const createMemoryRepeatsIndex = (): RepeatsIndex => new MemoryRepeatsIndex()

class MemoryRepeatsIndex implements RepeatsIndex {
  foldedTo: FoldedTo | null = null
  readonly #appends = new Map<string, IdempotentAppend>()

  find(stream: string, keyHash: string): IdempotentAppend | null {
    return this.#appends.get(`${stream} ${keyHash}`) ?? null
  }

  async write({ appends, foldedTo, forgetBeforeMs }: RepeatsChange): Promise<void> {
    for (const append of appends) {
      const known = this.find(append.stream, append.idempotency.keyHash)
      if (known !== null && known.revision > append.revision) continue
      this.#appends.set(`${append.stream} ${append.idempotency.keyHash}`, append)
    }
    for (const [name, { recordedAt }] of this.#appends) if (recordedAt < forgetBeforeMs) this.#appends.delete(name)
    this.foldedTo = foldedTo ?? this.foldedTo
  }

  async check(): Promise<void> {}

  async startAnew(): Promise<void> {
    this.#appends.clear()
    this.foldedTo = null
  }

  async close(): Promise<void> {}
}

import { type IndexChange, IndexUnusable } from '../idempotency-index.ts'

/** Where the index's file is written. A change is all there, or nothing of it. */
export type IdempotencyWriter = {
  /** Changes are written in the order in which they are given. Rejects with IndexUnusable. */
  write(change: IndexChange): Promise<void>
  close(): Promise<void>
}

export type ToIdempotencyThread =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly change: IndexChange }
  | { readonly kind: 'close' }

/** `fault`: why the change was not written. */
export type FromIdempotencyThread = 'closed' | { readonly fault: string | null }

export const writeOnThread = (path: string): IdempotencyWriter => new ThreadedWriter(path)

class ThreadedWriter implements IdempotencyWriter {
  readonly #worker: Worker
  readonly #closed = Promise.withResolvers<void>()
  /** Who waits for what became of a change, in the order in which the thread says it. */
  readonly #waiting: ((fault: string | null) => void)[] = []
  #diedOf: string | null = null

  constructor(path: string) {
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url).href)
    this.#worker.onmessage = ({ data }: MessageEvent<FromIdempotencyThread>) => {
      if (data === 'closed') this.#closed.resolve()
      else this.#waiting.shift()?.(data.fault)
    }
    this.#worker.onerror = ({ message }) => this.#die(message)
    this.#tell({ kind: 'open', path })
  }

  async write(change: IndexChange): Promise<void> {
    const fault = this.#diedOf ?? (await this.#written(change))
    if (fault !== null) throw new IndexUnusable(`Cannot write the index of Idempotency-Keys: ${fault}`)
  }

  async close(): Promise<void> {
    if (this.#diedOf === null) {
      this.#tell({ kind: 'close' })
      await this.#closed.promise
    }
    this.#worker.terminate()
  }

  #written(change: IndexChange): Promise<string | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#tell({ kind: 'write', change })
    })
  }

  #tell(message: ToIdempotencyThread): void {
    this.#worker.postMessage(message)
  }

  #die(why: string): void {
    this.#diedOf = why
    for (const settle of this.#waiting.splice(0)) settle(why)
    this.#closed.resolve()
  }
}

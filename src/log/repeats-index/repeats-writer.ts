import { IndexBusy, type IndexChange, IndexUnusable } from '../repeats-index.ts'

/** Where the index's file is written. A change is all there, or nothing of it. */
export type IdempotencyWriter = {
  /** Changes are written in the order in which they are given. Rejects with IndexBusy or IndexUnusable. */
  write(change: IndexChange): Promise<void>
  close(): Promise<void>
}

export type ToIdempotencyThread =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly change: IndexChange }
  | { readonly kind: 'close' }

/** Why a change was not written, and whether it may be, later. */
export type WriteFault = { readonly why: string; readonly isPassing: boolean }

export type FromIdempotencyThread = 'closed' | { readonly fault: WriteFault | null }

export const writeOnThread = (path: string): IdempotencyWriter => new ThreadedWriter(path)

class ThreadedWriter implements IdempotencyWriter {
  readonly #worker: Worker
  readonly #closed = Promise.withResolvers<void>()
  /** Who waits for what became of a change, in the order in which the thread says it. */
  readonly #waiting: ((fault: WriteFault | null) => void)[] = []
  /** What every change is refused with from now on. */
  #ended: WriteFault | null = null

  constructor(path: string) {
    this.#worker = new Worker(new URL('./repeats-thread.ts', import.meta.url).href)
    this.#worker.onmessage = ({ data }: MessageEvent<FromIdempotencyThread>) => {
      if (data === 'closed') this.#closed.resolve()
      else this.#waiting.shift()?.(data.fault)
    }
    this.#worker.onerror = ({ message }) => this.#die(message)
    this.#tell({ kind: 'open', path })
  }

  async write(change: IndexChange): Promise<void> {
    const fault = this.#ended ?? (await this.#written(change))
    if (fault === null) return
    const message = `Cannot write the index of Idempotency-Keys: ${fault.why}`
    throw fault.isPassing ? new IndexBusy(message) : new IndexUnusable(message)
  }

  async close(): Promise<void> {
    if (this.#ended === null) {
      this.#ended = { why: 'it is closed', isPassing: false }
      this.#tell({ kind: 'close' })
      await this.#closed.promise
    }
    this.#worker.terminate()
  }

  #written(change: IndexChange): Promise<WriteFault | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#tell({ kind: 'write', change })
    })
  }

  #tell(message: ToIdempotencyThread): void {
    this.#worker.postMessage(message)
  }

  #die(why: string): void {
    this.#ended = { why, isPassing: false }
    for (const settle of this.#waiting.splice(0)) settle(this.#ended)
    this.#closed.resolve()
  }
}

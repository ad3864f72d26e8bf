import { WorkerThread } from '../../worker-thread.ts'
import { AskBusy, type AskChange, AskUnusable } from '../ask-index.ts'
import { buffersOf, type PackedPart, packedParts } from './packed-change.ts'

export type ToAskThread =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly part: PackedPart }
  | { readonly kind: 'check'; readonly path: string }
  | { readonly kind: 'close' }

/** Why the work was not done. `isPassing`: a later try can succeed. */
export type AskFault = { readonly why: string; readonly isPassing: boolean }

export type FromAskThread = { readonly kind: 'written' | 'checked'; readonly fault: AskFault | null }

type Settle = (fault: AskFault | null) => void

/** Writes and checks the file on its thread. */
export class AskWriter {
  readonly #path: string
  readonly #thread: WorkerThread<ToAskThread, FromAskThread>
  /** One callback for each unanswered message. The thread answers writes in order, and checks in order. */
  readonly #waiting: Readonly<Record<FromAskThread['kind'], Settle[]>> = { written: [], checked: [] }
  /** Why nothing can be written: the thread was closed or has failed. `null` while the thread works. */
  #ended: AskFault | null = null

  constructor(path: string) {
    this.#path = path
    this.#thread = new WorkerThread({
      module: new URL('./ask-thread.ts', import.meta.url),
      hasSmallHeap: true,
      onMessage: ({ kind, fault }) => this.#waiting[kind].shift()?.(fault),
      onFault: (why) => this.#failAll(why),
    })
    this.#thread.post({ kind: 'open', path })
  }

  /** Only one change may be written at a time. Rejects with AskBusy or AskUnusable. */
  async write(change: AskChange): Promise<void> {
    for (const part of packedParts(change)) await this.#do('written', { kind: 'write', part }, buffersOf(part))
  }

  /** Reads the whole file, while writes go on. Rejects with AskUnusable if it is damaged, or with AskBusy. */
  async check(): Promise<void> {
    await this.#do('checked', { kind: 'check', path: this.#path })
  }

  /** Waits for the part that is written now. A change that lacks parts is undone. A check ends early. */
  async close(): Promise<void> {
    if (this.#ended !== null) {
      this.#thread.end()
      return
    }
    this.#ended = { why: 'it is closed', isPassing: false }
    await this.#thread.close({ kind: 'close' })
  }

  async #do(done: FromAskThread['kind'], work: ToAskThread, moved: readonly ArrayBuffer[] = []): Promise<void> {
    const fault = this.#ended ?? (await this.#faultOf(done, work, moved))
    if (fault === null) return
    const message = `Cannot ${work.kind} ask.db: ${fault.why}`
    throw fault.isPassing ? new AskBusy(message) : new AskUnusable(message)
  }

  #faultOf(done: FromAskThread['kind'], work: ToAskThread, moved: readonly ArrayBuffer[]): Promise<AskFault | null> {
    return new Promise((resolve) => {
      this.#waiting[done].push(resolve)
      this.#thread.post(work, moved)
    })
  }

  #failAll(why: string): void {
    this.#ended = { why, isPassing: false }
    for (const waiting of Object.values(this.#waiting)) for (const settle of waiting.splice(0)) settle(this.#ended)
  }
}

import { checkDelayMs, checkEveryMs } from '../../limits.ts'
import { type Schedule, systemSchedule } from '../../schedule.ts'
import { WorkerThread } from '../../worker-thread.ts'
import type { CheckResult } from './damage-kinds.ts'

export type ToCheckThread =
  | { readonly kind: 'check'; readonly path: string; readonly acceptsSchema: boolean }
  | { readonly kind: 'close' }
export type FromCheckThread =
  | { readonly kind: 'checked'; readonly result: CheckResult }
  | { readonly kind: 'failed'; readonly why: string }

/** `at` is in ms since 1970. */
export type EndedCheck = FromCheckThread & { readonly at: number; readonly tookMs: number }

export type BackgroundCheckParts = {
  readonly logPath: string
  /** A person has accepted a changed schema. Default: false. */
  readonly acceptsSchema?: boolean
  readonly later?: Schedule['after'] | undefined
  readonly now: () => number
  readonly onEnd: (ended: EndedCheck) => void
  /** A test gives a module that fails. */
  readonly thread?: URL
}

/** The thread ends after each check, so that its memory is free. */
export class BackgroundCheck {
  readonly #parts: BackgroundCheckParts
  readonly #later: Schedule['after']
  #thread: WorkerThread<ToCheckThread, FromCheckThread> | null = null
  #cancel: () => void
  #last: EndedCheck | null = null
  #isStopped = false

  constructor(parts: BackgroundCheckParts) {
    this.#parts = parts
    this.#later = parts.later ?? systemSchedule.after
    this.#cancel = this.#later(checkDelayMs, () => this.#start())
  }

  get last(): EndedCheck | null {
    return this.#last
  }

  /** Waits for the step under way, which takes milliseconds. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#thread?.close({ kind: 'close' })
    this.#thread = null
  }

  #start(): void {
    const { logPath, acceptsSchema = false, now, thread = new URL('./check-thread.ts', import.meta.url) } = this.#parts
    const beganAt = now()
    this.#thread = new WorkerThread<ToCheckThread, FromCheckThread>({
      module: thread,
      hasSmallHeap: true,
      onMessage: (message) => this.#end(message, beganAt),
      onFault: (why) => this.#end({ kind: 'failed', why }, beganAt),
    })
    this.#thread.post({ kind: 'check', path: logPath, acceptsSchema })
  }

  #end(message: FromCheckThread, beganAt: number): void {
    if (this.#isStopped) return
    const thread = this.#thread
    this.#thread = null
    const at = this.#parts.now()
    this.#last = { ...message, at, tookMs: at - beganAt }
    this.#cancel = this.#later(checkEveryMs, () => this.#start())
    this.#parts.onEnd(this.#last)
    void thread?.close({ kind: 'close' })
  }
}

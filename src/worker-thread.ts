export type ThreadParts<FromThread> = {
  readonly module: URL
  /** The thread collects its garbage sooner. Default: false. */
  readonly hasSmallHeap?: boolean
  readonly onMessage: (message: FromThread) => void
  /** An error that nothing caught has ended the thread. Messages that it has not answered get no answer. */
  readonly onFault: (why: string) => void
  /** Runs when the thread has ended, for whatever reason. */
  readonly onEnd?: () => void
}

/** A thread with a module of its own. A thread that is closed posts `closed` as its last message. */
export class WorkerThread<ToThread, FromThread> {
  readonly #worker: Worker
  readonly #closed = Promise.withResolvers<void>()
  #hasFailed = false

  constructor({ module, hasSmallHeap = false, onMessage, onFault, onEnd }: ThreadParts<FromThread>) {
    this.#worker = new Worker(module.href, { smol: hasSmallHeap })
    this.#worker.onmessage = ({ data }: MessageEvent<FromThread | 'closed'>) => {
      if (data === 'closed') this.#closed.resolve()
      else onMessage(data)
    }
    this.#worker.onerror = ({ message }) => {
      this.#hasFailed = true
      onFault(message)
      this.#closed.resolve()
    }
    if (onEnd !== undefined) this.#worker.addEventListener('close', onEnd)
  }

  post(message: ToThread): void {
    this.#worker.postMessage(message)
  }

  /** Posts the last message, waits until the thread says `closed` or fails, and ends it. */
  async close(last: ToThread): Promise<void> {
    if (!this.#hasFailed) {
      this.post(last)
      await this.#closed.promise
    }
    this.end()
  }

  /** Ends the thread at once, whatever it is doing. */
  end(): void {
    this.#worker.terminate()
  }
}

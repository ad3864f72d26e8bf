export type ThreadParts<FromThread> = {
  readonly module: URL
  /** True makes the thread collect its garbage sooner, to save memory. Default: false. */
  readonly hasSmallHeap?: boolean
  readonly onMessage: (message: FromThread) => void
  /** Called when an uncaught error has ended the thread. Messages that wait for an answer never get one. */
  readonly onFault: (why: string) => void
  /** Called when the thread has ended for any reason. */
  readonly onEnd?: () => void
}

/**
 * Runs a module on its own thread. When told to close, the module must post `closed` as its last message, because
 * `close` waits for this message.
 */
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
      onFault(withoutSource(message))
      this.#closed.resolve()
    }
    if (onEnd !== undefined) this.#worker.addEventListener('close', onEnd)
  }

  /** `moved` are buffers of the message that only the thread can use from now on. They are not copied. */
  post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...moved])
  }

  /**
   * Posts `last`, which tells the module to finish. Waits until the module posts `closed` or fails, and then ends the
   * thread.
   */
  async close(last: ToThread): Promise<void> {
    if (!this.#hasFailed) {
      this.post(last)
      await this.#closed.promise
    }
    this.end()
  }

  /** Ends the thread immediately, even in the middle of its work. */
  end(): void {
    this.#worker.terminate()
  }
}

/** Bun reports an error with lines of source code before its message, and with a stack. Operators see only the message. */
const withoutSource = (report: string): string =>
  report
    .split('\n')
    .find((line) => !/^\s*(\d+ \||\^|$)/.test(line))
    ?.replace(/^error: /, '') ?? 'it does not say why'

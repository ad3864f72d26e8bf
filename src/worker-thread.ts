import { closeSync, openSync } from 'node:fs'

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
  /** `null` if the thread could not start. */
  readonly #worker: Worker | null
  readonly #closed = Promise.withResolvers<void>()
  #hasFailed = false

  constructor({ module, hasSmallHeap = false, onMessage, onFault, onEnd }: ThreadParts<FromThread>) {
    const fail = (why: string): void => {
      this.#hasFailed = true
      onFault(why)
      this.#closed.resolve()
    }
    if (!canStart()) {
      this.#worker = null
      queueMicrotask(() => {
        fail('the thread cannot start, because the process has almost no file descriptors left')
        onEnd?.()
      })
      return
    }
    this.#worker = new Worker(module.href, { smol: hasSmallHeap })
    this.#worker.onmessage = ({ data }: MessageEvent<FromThread | 'closed'>) => {
      if (data === 'closed') this.#closed.resolve()
      else onMessage(data)
    }
    this.#worker.onerror = ({ message }) => fail(withoutSource(message))
    if (onEnd !== undefined) this.#worker.addEventListener('close', onEnd)
  }

  /** `moved` are buffers of the message that only the thread can use from now on. They are not copied. */
  post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, [...moved])
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
    this.#worker?.terminate()
  }
}

/** More than a thread was seen to open at its start. */
const descriptorsOfThread = 8

/** Bun ends the whole process if a thread finds no free file descriptor at its start. */
const canStart = (): boolean => {
  const opened: number[] = []
  try {
    while (opened.length < descriptorsOfThread) opened.push(openSync('/dev/null', 'r'))
    return true
  } catch {
    return false
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** Bun reports an error with lines of source code before its message, and with a stack. Operators see only the message. */
const withoutSource = (report: string): string =>
  report
    .split('\n')
    .find((line) => !/^\s*(\d+ \||\^|$)/.test(line))
    ?.replace(/^error: /, '') ?? 'it does not say why'

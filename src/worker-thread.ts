import { closeSync, openSync } from 'node:fs'

export type ThreadParts<FromThread> = {
  readonly module: URL
  /** Collects garbage sooner, to save memory. */
  readonly hasSmallHeap?: boolean
  readonly onMessage: (message: FromThread) => void
  /** An uncaught error has ended the thread. Messages that wait for an answer never get one. */
  readonly onFault: (why: string) => void
  /** The thread has ended, for any reason. */
  readonly onEnd?: () => void
}

/** When told to close, the module must post `closed` as its last message, because `close` waits for it. */
export class WorkerThread<ToThread, FromThread> {
  /** `null`: the thread could not start. */
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

  /** `moved` are buffers that only the thread can use from now on. */
  post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, [...moved])
  }

  /** `last` tells the module to finish. */
  async close(last: ToThread): Promise<void> {
    if (!this.#hasFailed) {
      this.post(last)
      await this.#closed.promise
    }
    this.end()
  }

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

/** Bun's report has source code before its message, and a stack. Operators see only the message. */
const withoutSource = (report: string): string =>
  report
    .split('\n')
    .find((line) => !/^\s*(\d+ \||\^|$)/.test(line))
    ?.replace(/^error: /, '') ?? 'it does not say why'

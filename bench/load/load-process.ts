/**
 * Runs a load in its own process, so that its work does not delay the event loop of the bench. The options contain API
 * keys, so they are sent by stdin, which other processes cannot see. Each result is one line of JSON.
 */
import { join } from 'node:path'

/** Times of `Date.now`, which is the same in all processes of a machine. So several loads can start together. */
export type Times = { readonly startMs: number; readonly endMs: number }

export type StartedLoad<Order, Result> = {
  ask(order: Order): Promise<Result>
  /** Sends the order like `ask`, and stops the process of the load after the answer. */
  askOnce(order: Order): Promise<Result>
  stop(): Promise<void>
}

/** Resolves when the load is prepared (for instance, signed in) and waits for its first order. */
export const startLoad = async <Options, Order, Result>(
  file: string,
  options: Options,
): Promise<StartedLoad<Order, Result>> => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, file)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = linesOf(child.stdout)
  const tell = async (what: unknown): Promise<string> => {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    await child.stdin.flush()
    const { value } = await lines.next()
    if (value === undefined) throw new Error(`Cannot measure: ${file} ended with ${await child.exited}`)
    return value
  }
  const ask = async (order: Order): Promise<Result> => {
    const result: Result = JSON.parse(await tell(order))
    return result
  }
  const stop = async (): Promise<void> => {
    await child.stdin.end()
    await child.exited
  }
  await tell(options)
  return {
    ask,
    askOnce: async (order) => {
      const result = await ask(order)
      await stop()
      return result
    },
    stop,
  }
}

/** Runs in the load's own process: it answers orders from stdin until stdin ends. */
export const serveLoad = async <Options, Order, Result>(
  prepare: (options: Options) => Promise<(order: Order) => Promise<Result>>,
): Promise<never> => {
  const lines = linesOf(Bun.stdin.stream())
  const options: Options = JSON.parse((await lines.next()).value ?? '')
  const run = await prepare(options)
  await Bun.write(Bun.stdout, 'ready\n')
  for await (const line of lines) {
    const order: Order = JSON.parse(line)
    await Bun.write(Bun.stdout, `${JSON.stringify(await run(order))}\n`)
  }
  process.exit(0)
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  return undefined
}

export const untilInstant = (ms: number): Promise<void> => Bun.sleep(Math.max(0, ms - Date.now()))

/** Counts answers by status. `closed` counts connections that ended without an answer. */
export type Answers = Readonly<Record<string, number>>

export class AnswerReader {
  readonly #onAnswer: (status: string) => void
  #head = ''
  #status = ''
  #bodyBytesLeft = 0

  constructor(onAnswer: (status: string) => void) {
    this.#onAnswer = onAnswer
  }

  take(bytes: Buffer): void {
    if (this.#status === '') {
      const before = this.#head.length
      this.#head += bytes.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      this.#status = this.#head.slice(9, 12)
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end + 2))?.[1]
      this.#bodyBytesLeft = Number(length ?? 0) - (before + bytes.length - (end + 4))
    } else this.#bodyBytesLeft -= bytes.length
    if (this.#bodyBytesLeft > 0) return
    const status = this.#status
    this.#head = ''
    this.#status = ''
    this.#onAnswer(status)
  }
}

/** The body as chunks of one byte each (RFC 9112, section 7.1). */
export const inChunks = (bytes: Uint8Array): Buffer =>
  Buffer.from(`${Array.from(bytes, (byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('')}0\r\n\r\n`, 'latin1')

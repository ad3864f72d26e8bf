import { SQLiteError } from 'bun:sqlite'
import { messageOf } from '../../domain/error-message.ts'
import { isPassing } from '../../log/sqlite/sqlite-faults.ts'
import { type ModelFolder, ModelNotReady, ModelReaders } from './model-readers.ts'
import type { AsOf, QuestionKind, QuestionKinds } from './question.ts'

/** `failed`: the question has a bug. `fault`: the model's file cannot be read. */
export type Ended<Answer = unknown> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly asOf: AsOf }
  | { readonly kind: 'not_ready' | 'not_now' }
  | { readonly kind: 'failed' | 'fault'; readonly why: string }

type Open = {
  readonly kind: QuestionKind<unknown, unknown>
  readonly parameters: unknown
  readonly onEnd: (ended: Ended) => void
  /** `null` until the question has its first turn. */
  begun: { readonly steps: Generator<void, unknown>; readonly asOf: AsOf } | null
}

/** Answers all open questions in turn, one step of each. So a question that takes a minute holds no other one up. */
export class QuestionTurns {
  readonly #kinds: QuestionKinds
  readonly #readers: ModelReaders
  /** The next question in turn is first. */
  readonly #open = new Map<number, Open>()
  #isWorking = false

  constructor(kinds: QuestionKinds, folder: ModelFolder) {
    this.#kinds = kinds
    this.#readers = new ModelReaders(folder)
  }

  begin(id: number, asked: { readonly name: string; readonly parameters: unknown }, onEnd: Open['onEnd']): void {
    const kind = this.#kinds[asked.name]
    if (kind === undefined) throw new Error(`Cannot ask "${asked.name}": there is no such question`)
    this.#open.set(id, { kind, parameters: asked.parameters, onEnd, begun: null })
    if (!this.#isWorking) void this.#work()
  }

  /** Ends a question without an answer. */
  end(id: number): void {
    this.#open.get(id)?.begun?.steps.return(null)
    this.#open.delete(id)
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.end(id)
    this.#readers.close()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      // Between two steps, the thread receives new questions, and the ends of questions.
      await new Promise((resolve) => setImmediate(resolve))
      const [next] = this.#open
      if (next === undefined) break
      const [id, open] = next
      this.#open.delete(id)
      const ended = this.#step(open)
      if (ended === null) this.#open.set(id, open)
      else open.onEnd(ended)
    }
    this.#isWorking = false
  }

  #step(open: Open): Ended | null {
    try {
      open.begun ??= this.#first(open)
      const { steps, asOf } = open.begun
      const step = steps.next()
      return step.done === true ? { kind: 'answered', answer: step.value, asOf } : null
    } catch (thrown) {
      if (thrown instanceof ModelNotReady) return { kind: 'not_ready' }
      const why = messageOf(thrown)
      // Code `SQLITE_ERROR`: the statement is wrong.
      if (!(thrown instanceof SQLiteError) || thrown.code === 'SQLITE_ERROR') return { kind: 'failed', why }
      return isPassing(thrown) ? { kind: 'not_now' } : { kind: 'fault', why }
    }
  }

  #first({ kind, parameters }: Open): NonNullable<Open['begun']> {
    const { database, asOf } = this.#readers.open(kind.model)
    return { steps: kind.answer(database, parameters), asOf }
  }
}

import { questionRestartMsMin, questionsOpenMax } from '../../limits.ts'
import { WorkerThread } from '../../worker-thread.ts'
import type { ModelFolder } from './model-readers.ts'
import type { Answered, AnswerOf, AskOptions, ParametersOf, QuestionKinds, Questions } from './question.ts'
import type { Ended } from './question-turns.ts'
import {
  type FromQuestionThread,
  type QuestionThread,
  serveQuestions,
  type ToQuestionThread,
} from './serve-questions.ts'

export type QuestionParts = {
  readonly folder: ModelFolder
  /** A clock in ms that is never set back. */
  readonly passedMs: () => number
  /** Called when a model's file cannot be read, or when the thread has ended by a fault. */
  readonly onFault: (why: string) => void
}

type Answerer = { post(message: ToQuestionThread): void; close(last: ToQuestionThread): Promise<void> }
type Told = { readonly onMessage: (message: FromQuestionThread) => void; readonly onFault: (why: string) => void }

/** The module must call `serveQuestions` with the same kinds. The thread starts with the first question, and again after a fault. */
export const questionsOnThread = <Kinds extends QuestionKinds>(parts: QuestionParts, module: URL): Questions<Kinds> =>
  new AskedQuestions<Kinds>(parts, (told) => new WorkerThread({ module, hasSmallHeap: true, ...told }))

/** Answers on the thread of the caller, for tests and commands. */
export const questionsHere = <Kinds extends QuestionKinds>(parts: QuestionParts, kinds: Kinds): Questions<Kinds> =>
  new AskedQuestions<Kinds>(parts, (told) => answererHere(kinds, told))

/** A method, because TypeScript then accepts that each question waits for an answer of its own type. */
type Waiting = { settle(ended: Ended): void }

class AskedQuestions<Kinds extends QuestionKinds> implements Questions<Kinds> {
  readonly #parts: QuestionParts
  readonly #start: (told: Told) => Answerer
  /** The open questions by their numbers. */
  readonly #open = new Map<number, Waiting>()
  #lastId = 0
  #answerer: Answerer | null = null
  #startedMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(parts: QuestionParts, start: (told: Told) => Answerer) {
    this.#parts = parts
    this.#start = start
  }

  async ask<Name extends keyof Kinds & string>(
    name: Name,
    parameters: ParametersOf<Kinds[Name]>,
    { signal }: AskOptions = {},
  ): Promise<Answered<AnswerOf<Kinds[Name]>>> {
    const answerer = this.#ready()
    if (answerer === null || signal?.aborted === true || this.#open.size >= questionsOpenMax) return { kind: 'not_now' }
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Ended<AnswerOf<Kinds[Name]>>>()
    const leave = (): void => {
      answerer.post({ kind: 'end', id })
      this.#settle({ id, ended: { kind: 'not_now' } })
    }
    signal?.addEventListener('abort', leave)
    this.#open.set(id, { settle: (ended: Ended<AnswerOf<Kinds[Name]>>) => resolve(ended) })
    answerer.post({ kind: 'ask', id, name, parameters })
    const ended = await promise
    signal?.removeEventListener('abort', leave)
    return this.#answered(ended)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const answerer = this.#answerer
    this.#answerer = null
    this.#endAll()
    await answerer?.close({ kind: 'close' })
  }

  /** A thread that fails at once must not be started for each question. So a new one is started `questionRestartMsMin` later. */
  #ready(): Answerer | null {
    if (this.#answerer !== null || this.#isClosed) return this.#answerer
    const nowMs = this.#parts.passedMs()
    if (nowMs - this.#startedMs < questionRestartMsMin) return null
    this.#startedMs = nowMs
    const started = this.#start({
      onMessage: (message) => this.#settle(message),
      onFault: (why) => this.#fail(started, why),
    })
    this.#answerer = started
    started.post({ kind: 'open', folder: this.#parts.folder })
    return started
  }

  #settle({ id, ended }: FromQuestionThread): void {
    this.#open.get(id)?.settle(ended)
    this.#open.delete(id)
  }

  #fail(failed: Answerer, why: string): void {
    if (failed !== this.#answerer) return
    this.#answerer = null
    this.#parts.onFault(`The thread that answers questions has ended: ${why}`)
    this.#endAll()
  }

  #endAll(): void {
    for (const id of [...this.#open.keys()]) this.#settle({ id, ended: { kind: 'not_now' } })
  }

  #answered<Answer>(ended: Ended<Answer>): Answered<Answer> {
    switch (ended.kind) {
      case 'failed':
        throw new Error(ended.why)
      case 'fault':
        this.#parts.onFault(ended.why)
        return { kind: 'not_now' }
      default:
        return ended
    }
  }
}

const answererHere = (kinds: QuestionKinds, { onMessage }: Told): Answerer => {
  const thread: QuestionThread = {
    onmessage: null,
    postMessage: (message) => {
      if (message !== 'closed') onMessage(message)
    },
  }
  serveQuestions(thread, kinds)
  const post = (data: ToQuestionThread): void => thread.onmessage?.(new MessageEvent('message', { data }))
  return {
    post,
    close: async (last) => post(last),
  }
}

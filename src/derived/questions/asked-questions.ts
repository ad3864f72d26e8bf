import { questionRestartMsMin, questionsOpenMax } from '../../limits.ts'
import { WorkerThread } from '../../worker-thread.ts'
import type { DerivedStore } from '../derived-store.ts'
import type { ModelFolder } from './model-readers.ts'
import type { Answered, AnswerOf, AskOptions, ParametersOf, QuestionKinds, Questions } from './question.ts'
import type { Ended } from './question-turns.ts'
import {
  type FromQuestionThread,
  type QuestionThread,
  serveQuestions,
  type ToQuestionThread,
} from './serve-questions.ts'

export type QuestionParts<Kinds extends QuestionKinds> = {
  readonly kinds: Kinds
  readonly folder: ModelFolder
  readonly store: Pick<DerivedStore, 'upTo' | 'progress' | 'opening' | 'rebuild'>
  /** A clock in ms that is never set back. */
  readonly passedMs: () => number
  /** Called when the thread has ended by a fault. */
  readonly onFault: (why: string) => void
}

type Answerer = { post(message: ToQuestionThread): void; close(last: ToQuestionThread): Promise<void> }
type Told = { readonly onMessage: (message: FromQuestionThread) => void; readonly onFault: (why: string) => void }

/** The module must call `serveQuestions` with the same kinds. The thread starts with the first question, and again after a fault. */
export const questionsOnThread = <Kinds extends QuestionKinds>(
  parts: QuestionParts<Kinds>,
  module: URL,
): Questions<Kinds> => new AskedQuestions(parts, (told) => new WorkerThread({ module, hasSmallHeap: true, ...told }))

/** Answers on the thread of the caller, for tests. */
export const questionsHere = <Kinds extends QuestionKinds>(parts: QuestionParts<Kinds>): Questions<Kinds> =>
  new AskedQuestions(parts, (told) => answererHere(parts.kinds, told))

type Asked = { readonly name: string; readonly parameters: unknown }

/** A method, because TypeScript then accepts that each question waits for an answer of its own type. */
type Waiting = { settle(ended: Ended): void }

class AskedQuestions<Kinds extends QuestionKinds> implements Questions<Kinds> {
  readonly #parts: QuestionParts<Kinds>
  readonly #start: (told: Told) => Answerer
  /** The open questions by their numbers. */
  readonly #open = new Map<number, Waiting>()
  #lastId = 0
  #answerer: Answerer | null = null
  #startedMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(parts: QuestionParts<Kinds>, start: (told: Told) => Answerer) {
    this.#parts = parts
    this.#start = start
  }

  async ask<Name extends keyof Kinds & string>(
    name: Name,
    parameters: ParametersOf<Kinds[Name]>,
    { signal }: AskOptions = {},
  ): Promise<Answered<AnswerOf<Kinds[Name]>>> {
    const { kinds, store } = this.#parts
    const model = kinds[name]?.model.name ?? name
    await store.upTo(model)
    const opening = store.opening(model)
    const ended = await this.#end<AnswerOf<Kinds[Name]>>({ name, parameters }, signal)
    switch (ended.kind) {
      case 'failed':
        throw new Error(`Cannot answer "${name}": ${ended.why}`)
      case 'fault':
        if (opening !== null) store.rebuild(model, opening, ended.why)
        return { kind: 'not_ready' }
      case 'answered': {
        const { isBehind, trouble } = store.progress(model)
        return { ...ended, isBehind: isBehind || trouble !== null }
      }
      default:
        return ended
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const answerer = this.#answerer
    this.#answerer = null
    this.#endAll()
    await answerer?.close({ kind: 'close' })
  }

  async #end<Answer>(asked: Asked, signal: AbortSignal | undefined): Promise<Ended<Answer>> {
    const answerer = this.#ready()
    if (answerer === null || signal?.aborted === true || this.#open.size >= questionsOpenMax) return { kind: 'not_now' }
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Ended<Answer>>()
    const leave = (): void => {
      answerer.post({ kind: 'end', id })
      this.#settle({ id, ended: { kind: 'not_now' } })
    }
    signal?.addEventListener('abort', leave)
    this.#open.set(id, { settle: (ended: Ended<Answer>) => resolve(ended) })
    answerer.post({ kind: 'ask', id, ...asked })
    const ended = await promise
    signal?.removeEventListener('abort', leave)
    return ended
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

import type { Reached } from '../../log/event-log.ts'
import { WorkerThread } from '../../worker-thread.ts'
import { type DerivedStore, followerPatientMsMax } from '../derived-store.ts'
import type { Answered, AnswerOf, AskOptions, ParametersOf, QuestionKinds, Questions } from './question.ts'
import type { AskedQuestion, Ended } from './question-turns.ts'
import {
  type FromQuestionThread,
  type QuestionSource,
  type QuestionThread,
  type SearchSources,
  serveQuestions,
  type ToQuestionThread,
} from './serve-questions.ts'
import { faultFrom } from './thrown-fault.ts'

/** Open questions of a node. Each holds its parameters and one statement: a few KB. */
export const questionsOpenMax = 256
/** If the thread for questions fails at once, it is started again this rarely. */
export const questionRestartMsMin = 1_000

export type QuestionParts<Kinds extends QuestionKinds> = {
  readonly kinds: Kinds
  readonly source: QuestionSource
  readonly store: Pick<DerivedStore, 'upTo' | 'progress' | 'opening' | 'rebuild'>
  readonly reached: () => Reached | null
  readonly passedMs: () => number
  readonly onLogFault?: (fault: Error) => void
  readonly onFault: (why: string) => void
}

type Answerer = { post(message: ToQuestionThread): void; close(last: ToQuestionThread): Promise<void> }
type Told = { readonly onMessage: (message: FromQuestionThread) => void; readonly onFault: (why: string) => void }

/** The module must call `serveQuestions` with the same kinds. The thread starts with the first question, and again after a fault. */
export const questionsOnThread = <Kinds extends QuestionKinds>(
  parts: QuestionParts<Kinds>,
  module: URL,
): Questions<Kinds> => new AskedQuestions(parts, (told) => new WorkerThread({ module, hasSmallHeap: true, ...told }))

export const questionsHere = <Kinds extends QuestionKinds>(
  parts: QuestionParts<Kinds>,
  openSources: SearchSources,
): Questions<Kinds> => new AskedQuestions(parts, (told) => answererHere(parts, told, openSources))

type Asked = Omit<AskedQuestion, 'id'>

type Waiting = {
  /** A method, so that each question can wait for an answer of its own type. */
  settle(ended: Ended): void
  readonly onDamage: (why: string) => void
  readonly onTook: ((ms: number) => void) | undefined
}

type Asking = Omit<Waiting, 'settle'> & { readonly signal: AbortSignal | undefined }

class AskedQuestions<Kinds extends QuestionKinds> implements Questions<Kinds> {
  readonly #parts: QuestionParts<Kinds>
  readonly #start: (told: Told) => Answerer
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
    { signal, owner, isAtOnce = false, isPatient = false, onTook }: AskOptions,
  ): Promise<Answered<AnswerOf<Kinds[Name]>>> {
    const { kinds, store, reached, onLogFault } = this.#parts
    const model = kinds[name]?.model.name ?? name
    const isWhole = isAtOnce || (await store.upTo(model, isPatient ? followerPatientMsMax : undefined))
    const opening = store.opening(model)
    const onDamage = (why: string): void => {
      if (opening !== null) store.rebuild(model, opening, why)
    }
    const known = store.progress(model)
    const progress = { ...known, isBehind: known.isBehind || !isWhole }
    const asked = { name, parameters, owner, isPatient, progress, reached: reached() }
    const ended = await this.#end<AnswerOf<Kinds[Name]>>(asked, { signal, onDamage, onTook })
    switch (ended.kind) {
      case 'failed':
        throw new Error(`Cannot answer "${name}": ${ended.why}`)
      case 'thrown': {
        const fault = faultFrom(ended.fault)
        onLogFault?.(fault)
        throw fault
      }
      case 'fault':
        onDamage(ended.why)
        return { kind: 'not_ready' }
      case 'answered': {
        // The model can have lost its file meanwhile. If it has caught up meanwhile, the answer was read before.
        const isBehind = [progress, store.progress(model)].some((one) => one.isBehind || one.trouble !== null)
        return { ...ended, isBehind }
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

  async #end<Answer>(asked: Asked, { signal, ...heard }: Asking): Promise<Ended<Answer>> {
    const answerer = this.#ready()
    if (answerer === null || signal?.aborted === true || this.#open.size >= questionsOpenMax) return { kind: 'not_now' }
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Ended<Answer>>()
    const leave = (): void => {
      answerer.post({ kind: 'end', id })
      this.#settle(id, { kind: 'not_now' })
    }
    signal?.addEventListener('abort', leave)
    this.#open.set(id, { settle: (ended: Ended<Answer>) => resolve(ended), ...heard })
    answerer.post({ kind: 'ask', id, ...asked })
    const ended = await promise
    signal?.removeEventListener('abort', leave)
    return ended
  }

  /** A thread that fails at once must not be started for each question. */
  #ready(): Answerer | null {
    if (this.#answerer !== null || this.#isClosed) return this.#answerer
    const nowMs = this.#parts.passedMs()
    if (nowMs - this.#startedMs < questionRestartMsMin) return null
    this.#startedMs = nowMs
    const started = this.#start({
      onMessage: (message) => this.#hear(message),
      onFault: (why) => this.#fail(started, why),
    })
    this.#answerer = started
    started.post({ kind: 'open', source: this.#parts.source })
    return started
  }

  #hear(message: FromQuestionThread): void {
    const waiting = this.#open.get(message.id)
    if (message.kind === 'damaged') waiting?.onDamage(message.why)
    else {
      waiting?.onTook?.(message.tookMs)
      this.#settle(message.id, message.ended)
    }
  }

  #settle(id: number, ended: Ended): void {
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
    for (const id of [...this.#open.keys()]) this.#settle(id, { kind: 'not_now' })
  }
}

const answererHere = (
  { kinds, passedMs }: Pick<QuestionParts<QuestionKinds>, 'kinds' | 'passedMs'>,
  { onMessage }: Told,
  openSources: SearchSources,
): Answerer => {
  const thread: QuestionThread = {
    onmessage: null,
    postMessage: (message) => {
      if (message !== 'closed') onMessage(message)
    },
  }
  serveQuestions(thread, kinds, openSources, passedMs)
  const post = (data: ToQuestionThread): void => thread.onmessage?.(new MessageEvent('message', { data }))
  return {
    post,
    close: async (last) => post(last),
  }
}

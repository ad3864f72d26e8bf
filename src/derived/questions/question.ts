import type { Database } from 'bun:sqlite'
import type { FoldedTo } from '../../domain/log-reference.ts'
import type { ModelKind } from '../model.ts'

/** A question to one model. `answer` must yield every few ms, because all open questions take turns on one thread. */
export type QuestionKind<Parameters, Answer> = {
  readonly model: Pick<ModelKind, 'name' | 'format'>
  answer(database: Database, parameters: Parameters): Generator<void, Answer>
}

/** The kinds of questions, by name. */
export type QuestionKinds = Readonly<Record<string, QuestionKind<unknown, unknown>>>

export type ParametersOf<Kind> = Kind extends QuestionKind<infer Parameters, infer _> ? Parameters : never
export type AnswerOf<Kind> = Kind extends QuestionKind<infer _, infer Answer> ? Answer : never

/** The last event that the model had folded when its answer began. `null`: it had folded none. */
export type AsOf = Pick<FoldedTo, 'position' | 'stream' | 'revision'> | null

export type Answered<Answer> =
  | {
      readonly kind: 'answered'
      readonly answer: Answer
      readonly asOf: AsOf
      /** True while the model lacks events that this node has received some time ago. */
      readonly isBehind: boolean
    }
  /** The model has no file yet, or is built again. */
  | { readonly kind: 'not_ready' }
  /** Too many questions are open, the thread or the disk has failed, or the asker has gone. A later try can succeed. */
  | { readonly kind: 'not_now' }

export type AskOptions = {
  /** Aborted when nobody waits for the answer any more. The question then ends. */
  readonly signal?: AbortSignal | undefined
}

/** Asks the models on the disk. The answers come from a thread, so that no question delays a reading. */
export type Questions<Kinds extends QuestionKinds> = {
  /** The answer has all that this node had received before. Rejects if the question has a bug. */
  ask<Name extends keyof Kinds & string>(
    name: Name,
    parameters: ParametersOf<Kinds[Name]>,
    options?: AskOptions,
  ): Promise<Answered<AnswerOf<Kinds[Name]>>>
  /** Answers all open questions with `not_now`. */
  close(): Promise<void>
}

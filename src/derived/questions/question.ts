import type { Database } from 'bun:sqlite'
import type { Ask, AskProgress } from '../../actors/search/ask-db.ts'
import type { LogReads } from '../../actors/search/patient-reads.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import type { ModelKind } from '../model.ts'

type NamedModel = Pick<ModelKind, 'name' | 'format'>

/** A question to one model. `answer` must yield every few ms, because all open questions take turns on one thread. */
export type ModelQuestion<Parameters, Answer> = {
  readonly model: NamedModel
  answer(database: Database, parameters: Parameters): Generator<void, Answer>
}

/** What a search reads. `ask` makes it shorter. Each read waits for its turn. */
export type SearchReads = {
  readonly log: LogReads
  /** `null` in a process without a derived store: then only the log itself is searched. */
  readonly ask: Ask | null
  /** Returns `null` if there is no such key. */
  readonly cellarOfKey: (keyId: string) => Promise<string | null>
  /** True if the asker waits as long as the search takes. */
  readonly isPatient: boolean
  /** Time in ms, without the time in which the search waited for its turns. */
  readonly passedMs: () => number
}

/** A search in the log. `model` is what `ask` asks. */
export type SearchQuestion<Parameters, Answer> = {
  readonly model: NamedModel
  search(reads: SearchReads, parameters: Parameters): Promise<Answer>
}

export type QuestionKind<Parameters, Answer> = ModelQuestion<Parameters, Answer> | SearchQuestion<Parameters, Answer>

/** The kinds of questions, by name. */
export type QuestionKinds = Readonly<Record<string, QuestionKind<unknown, unknown>>>

export type ParametersOf<Kind> =
  Kind extends ModelQuestion<infer Parameters, infer _>
    ? Parameters
    : Kind extends SearchQuestion<infer Parameters, infer _>
      ? Parameters
      : never
export type AnswerOf<Kind> =
  Kind extends ModelQuestion<infer _, infer Answer>
    ? Answer
    : Kind extends SearchQuestion<infer _, infer Answer>
      ? Answer
      : never

/** The last event that the model had folded when its answer began. `null`: it had folded none, or the answer is of the log. */
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
  /** The e-mail of an operator, or `cli`. Owners take turns, so that an owner with many questions delays no other one. */
  readonly owner: string
  /** True does not wait until the model has what this node has received. Default: false. */
  readonly isAtOnce?: boolean | undefined
  /**
   * True for callers that wait: an export, or a command. Default: a search ends after `logSearchMs`, and a read that finds nothing
   * in `logReadMs` throws StillSearching.
   */
  readonly isPatient?: boolean | undefined
}

/** Asks the models on the disk, and the log. The answers come from a thread, so that no question delays a reading. */
export type Questions<Kinds extends QuestionKinds> = {
  /**
   * The answer has all that this node had received before. Rejects if the question has a bug. A search also rejects with the
   * errors of a read of the log.
   */
  ask<Name extends keyof Kinds & string>(
    name: Name,
    parameters: ParametersOf<Kinds[Name]>,
    options: AskOptions,
  ): Promise<Answered<AnswerOf<Kinds[Name]>>>
  /** Answers all open questions with `not_now`. */
  close(): Promise<void>
}

/** What the main thread knows of a model when it asks. */
export type KnownProgress = Pick<AskProgress, 'isBehind' | 'trouble'>

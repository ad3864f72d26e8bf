import type { Database } from 'bun:sqlite'
import type { Ask } from '../../actors/search/ask-db.ts'
import type { LogReads } from '../../actors/search/patient-reads.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import type { ModelProgress } from '../follower-messages.ts'
import type { ModelKind } from '../model.ts'

type NamedModel = Pick<ModelKind, 'name' | 'format'>

/** `answer` must yield every few ms, because all open questions take turns on one thread. */
export type ModelQuestion<Parameters, Answer> = {
  readonly model: NamedModel
  answer(database: Database, parameters: Parameters): Generator<void, Answer>
}

/** The model answers, and then the log adds what only it has. */
export type DraftQuestion<Parameters, Draft, Answer> = {
  readonly model: NamedModel
  draft(database: Database, parameters: Parameters): Generator<void, Draft>
  complete(reads: SearchReads, draft: Draft, parameters: Parameters): Promise<Answer>
}

/** Each read waits for its turn. */
export type SearchReads = {
  readonly log: LogReads
  /** `null` in a process without a derived store. */
  readonly ask: Ask | null
  /** `null`: no such key. */
  readonly cellarOfKey: (keyId: string) => Promise<string | null>
  /** True if the asker waits as long as the search takes. */
  readonly isPatient: boolean
  /** Without the time in which the search waited for its turns. */
  readonly passedMs: () => number
}

/** `model` is the model that the search reads through `ask`. */
export type SearchQuestion<Parameters, Answer> = {
  readonly model: NamedModel
  search(reads: SearchReads, parameters: Parameters): Promise<Answer>
}

type QuestionKind<Parameters, Answer> =
  | ModelQuestion<Parameters, Answer>
  | DraftQuestion<Parameters, unknown, Answer>
  | SearchQuestion<Parameters, Answer>

export type QuestionKinds = Readonly<Record<string, QuestionKind<unknown, unknown>>>

export type ParametersOf<Kind> = Kind extends QuestionKind<infer Parameters, infer _> ? Parameters : never
export type AnswerOf<Kind> = Kind extends QuestionKind<infer _, infer Answer> ? Answer : never

/** The last event that the model had folded when its answer began. `null`: none, or the answer is of the log. */
export type AsOf = Pick<FoldedTo, 'position' | 'stream' | 'revision'> | null

export type Answered<Answer> =
  | {
      readonly kind: 'answered'
      readonly answer: Answer
      readonly asOf: AsOf
      readonly isBehind: boolean
    }
  /** The model has no file yet, or is built again. */
  | { readonly kind: 'not_ready' }
  /** A later try can succeed. */
  | { readonly kind: 'not_now' }

export type AskOptions = {
  readonly signal?: AbortSignal | undefined
  /** The e-mail of an operator, or `cli`. */
  readonly owner: string
  /** Does not wait until the model has what this node has received. */
  readonly isAtOnce?: boolean | undefined
  /**
   * For callers that wait: an export, a command, or a look without a person. They wait `followerPatientMsMax` for the model.
   * Default: a search ends after `logSearchMs`, and a read that finds
   * nothing in `logReadMs` throws StillSearching.
   */
  readonly isPatient?: boolean | undefined
  /** Hears how long the thread worked for the answer, without waits for turns. */
  readonly onTook?: ((ms: number) => void) | undefined
}

/** The answers come from a thread, so that no question delays a reading. */
export type Questions<Kinds extends QuestionKinds> = {
  /**
   * The answer has all that this node had received before. Rejects if the question has a bug, and with the errors of a read
   * of the log.
   */
  ask<Name extends keyof Kinds & string>(
    name: Name,
    parameters: ParametersOf<Kinds[Name]>,
    options: AskOptions,
  ): Promise<Answered<AnswerOf<Kinds[Name]>>>
  close(): Promise<void>
}

export type KnownProgress = Pick<ModelProgress, 'isBehind' | 'trouble'>

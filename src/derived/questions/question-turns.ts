import { SQLiteError } from 'bun:sqlite'
import type { LogReads } from '../../actors/search/patient-reads.ts'
import { messageOf } from '../../domain/error-message.ts'
import { AskBusy, AskUnusable } from '../../log/ask-index.ts'
import type { Reached } from '../../log/event-log.ts'
import { isPassing } from '../../log/sqlite/sqlite-faults.ts'
import type { ModelProgress } from '../follower-messages.ts'
import { ModelUnusable } from '../model-file.ts'
import { FairTurns } from './fair-turns.ts'
import { ModelNotReady, type ModelReaders } from './model-readers.ts'
import type {
  AsOf,
  DraftQuestion,
  KnownProgress,
  ModelQuestion,
  QuestionKinds,
  SearchQuestion,
  SearchReads,
} from './question.ts'
import { faultData, type ThrownFault } from './thrown-fault.ts'

/** `failed`: the question has a bug. `fault`: the model's file cannot be read. `thrown`: the log cannot be read. */
export type Ended<Answer = unknown> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly asOf: AsOf }
  | { readonly kind: 'not_ready' | 'not_now' }
  | { readonly kind: 'failed' | 'fault'; readonly why: string }
  | { readonly kind: 'thrown'; readonly fault: ThrownFault }

export type AskedQuestion = {
  readonly id: number
  readonly name: string
  readonly parameters: unknown
  readonly owner: string
  readonly isPatient: boolean
  readonly progress: ModelProgress
  readonly reached: Reached | null
}

export type SearchParts = Pick<AskedQuestion, 'isPatient' | 'reached'> & {
  readonly progress: KnownProgress
  /** Rejects with `QuestionOver`. */
  readonly turn: () => Promise<void>
  readonly passedMs: () => number
  readonly onDamage: (why: string) => void
}

export type OpenSearch = (parts: SearchParts) => SearchReads

export class QuestionOver extends Error {
  override readonly name = 'QuestionOver'
}

export type TurnsParts = {
  readonly kinds: QuestionKinds
  readonly readers: ModelReaders
  readonly openSearch: OpenSearch
  /** `tookMs` is without the waits for turns, and for a log over the network. */
  readonly onEnd: (id: number, ended: Ended, tookMs: number) => void
  readonly onDamage: (id: number, why: string) => void
  readonly passedMs: () => number
}

/** One step of each open question in turn, so a question that takes a minute holds no other one up. */
export class QuestionTurns {
  readonly #parts: TurnsParts
  readonly #turns = new FairTurns()
  readonly #open = new Set<number>()

  constructor(parts: TurnsParts) {
    this.#parts = parts
  }

  begin(asked: AskedQuestion): void {
    const kind = this.#parts.kinds[asked.name]
    if (kind === undefined) throw new Error(`Cannot ask "${asked.name}": there is no such question`)
    this.#open.add(asked.id)
    let waitedMs = 0
    const passedMs = (): number => this.#parts.passedMs() - waitedMs
    const turn = async (): Promise<void> => {
      const beganMs = this.#parts.passedMs()
      await this.#turns.next(asked.owner)
      waitedMs += this.#parts.passedMs() - beganMs
      if (!this.#open.has(asked.id)) throw new QuestionOver('Nobody waits for the answer')
    }
    let logMs = 0
    const onLogMs = (ms: number): void => {
      logMs += ms
    }
    const parts = { turn, passedMs, onLogMs }
    const beganMs = passedMs()
    const answer =
      'answer' in kind
        ? this.#ofModel(kind, asked, turn)
        : 'draft' in kind
          ? this.#ofBoth(kind, asked, parts)
          : this.#ofLog(kind, asked, parts)
    void answer.catch(endOf).then((ended) => {
      if (this.#open.delete(asked.id) && ended !== null)
        this.#parts.onEnd(asked.id, ended, Math.max(0, passedMs() - beganMs - logMs))
    })
  }

  end(id: number): void {
    this.#open.delete(id)
  }

  close(): void {
    this.#open.clear()
  }

  async #ofModel(
    { model, answer }: ModelQuestion<unknown, unknown>,
    { parameters, progress }: AskedQuestion,
    turn: () => Promise<void>,
  ): Promise<Ended & { readonly kind: 'answered' }> {
    await turn()
    const { database, asOf } = this.#parts.readers.open(model)
    // The follower has begun a new file, and its message about that can come later than this answer.
    if ((asOf?.position ?? -1) < (progress.position ?? -1)) throw new ModelNotReady('The file is being built again')
    const steps = answer(database, parameters)
    try {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return { kind: 'answered', answer: step.value, asOf }
        await turn()
      }
    } finally {
      steps.return(null)
    }
  }

  async #ofBoth(
    { model, draft, complete }: DraftQuestion<unknown, unknown, unknown>,
    asked: AskedQuestion,
    parts: TurnParts,
  ): Promise<Ended> {
    const drafted = await this.#ofModel({ model, answer: draft }, asked, parts.turn)
    const answer = await complete(this.#reads(asked, parts), drafted.answer, asked.parameters)
    return { ...drafted, answer }
  }

  async #ofLog({ search }: SearchQuestion<unknown, unknown>, asked: AskedQuestion, parts: TurnParts): Promise<Ended> {
    await parts.turn()
    return { kind: 'answered', answer: await search(this.#reads(asked, parts), asked.parameters), asOf: null }
  }

  #reads({ id, isPatient, progress, reached }: AskedQuestion, parts: TurnParts): SearchReads {
    const onDamage = (why: string): void => this.#parts.onDamage(id, why)
    const reads = this.#parts.openSearch({ isPatient, progress, reached, ...parts, onDamage })
    return reads.log.lags === true ? { ...reads, log: timedLog(reads.log, parts) } : reads
  }
}

type TurnParts = Pick<SearchParts, 'turn' | 'passedMs'> & { readonly onLogMs: (ms: number) => void }

const timedLog = (log: LogReads, { passedMs, onLogMs }: TurnParts): LogReads => {
  const timed = async <T>(read: () => Promise<T>): Promise<T> => {
    const beganMs = passedMs()
    try {
      return await read()
    } finally {
      onLogMs(passedMs() - beganMs)
    }
  }
  return {
    ...log,
    read: (stream, options) => timed(() => log.read(stream, options)),
    readAll: (options) => timed(() => log.readAll(options)),
  }
}

/** `null`: nobody waits for the end. */
const endOf = (thrown: unknown): Ended | null => {
  if (thrown instanceof QuestionOver) return null
  if (thrown instanceof ModelNotReady) return { kind: 'not_ready' }
  if (thrown instanceof AskBusy || (thrown instanceof SQLiteError && isPassing(thrown))) return { kind: 'not_now' }
  const fault = faultData(thrown)
  if (fault !== null) return { kind: 'thrown', fault }
  const why = messageOf(thrown)
  // Code `SQLITE_ERROR`: the statement is wrong.
  const isOfFile = thrown instanceof AskUnusable || thrown instanceof ModelUnusable
  const isFault = isOfFile || (thrown instanceof SQLiteError && thrown.code !== 'SQLITE_ERROR')
  return { kind: isFault ? 'fault' : 'failed', why }
}

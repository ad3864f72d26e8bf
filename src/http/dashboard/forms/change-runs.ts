import type { Asker, Core } from '../../../actors/core-interface.ts'
import {
  type ChangedKey,
  changeKeys,
  isRefused,
  type KeysChange,
  type RefusedKey,
} from '../../../actors/key/change-keys.ts'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import { hourMs } from '../../../domain/calendar.ts'
import { thrownError } from '../../../domain/error-message.ts'
import { type Schedule, systemSchedule } from '../../../schedule.ts'
import type { RequestLines } from '../../request-lines.ts'

/** Also a bound on memory: each key of a change takes about 300 bytes until the change is forgotten. */
export const keysChangedMax = 10_000
export const changesKeptMax = 16
/** New keys are secrets, so they do not wait longer for their operator. */
export const newKeysKeptMs = hourMs

export type ChangeRun = {
  /** The id of the request, so the log has all events of the change under it. */
  readonly id: string
  readonly email: string
  /** The query of the confirmation. */
  readonly query: string
  /** Of the form that began it, with its values. */
  readonly formId: string
  readonly change: KeysChange
  readonly keyIds: readonly string[]
  /** The filter found them only after the operator had confirmed. They stay as they are. */
  readonly came: readonly string[]
  /** Confirmed keys that the change was not for any more. */
  readonly gone: number
  readonly tried: Set<string>
  readonly refused: RefusedKey[]
  same: number
  /** Of a rotation, until they are handed out or dropped. Nothing else has them. */
  newKeys: ChangedKey[]
  newKeysEnd: { readonly at: number; readonly isTaken: boolean } | null
  ended: { readonly at: number; readonly why: 'all_tried' | 'session_ended' | 'log_away' | 'bug' } | null
}

export type ChangeWanted = Pick<ChangeRun, 'email' | 'query' | 'formId' | 'change' | 'keyIds' | 'came' | 'gone'> & {
  readonly asker: Asker
  readonly mayGoOn: () => boolean
}

type Ends = {
  /** An end without an event must reach live pages, too. */
  readonly onEnd: () => void
  readonly later?: Schedule['after']
}

type Begun = { readonly run: ChangeRun; readonly whole: Promise<void> }

/** Changes of several keys that operators began on this node: the running ones and the last ended ones, in memory. */
export class ChangeRuns {
  readonly #core: Core
  readonly #lines: RequestLines
  /** By id. Of each operator, one change goes on, and the new keys of one rotation wait: this bounds those that must stay. */
  readonly #begun = new BoundedMap<string, Begun>(
    changesKeptMax,
    ({ run: { ended, newKeys } }) => ended === null || newKeys.length > 0,
  )
  readonly #ends: Required<Ends>

  constructor(core: Core, lines: RequestLines, { onEnd, later = systemSchedule.after }: Ends) {
    this.#core = core
    this.#lines = lines
    this.#ends = { onEnd, later }
  }

  /** `null` to other operators, and for a change that is not known any more. */
  get(id: string, email: string): ChangeRun | null {
    const run = this.#begun.get(id)?.run
    return run?.email === email ? run : null
  }

  /** The operator who began it on this node. `null`: it is not known any more, or never was. */
  operatorOf(id: string): string | null {
    return this.#begun.get(id)?.run.email ?? null
  }

  /** That this form began. */
  ofForm(formId: string, email: string): ChangeRun | null {
    return this.#find((run) => run.formId === formId && run.email === email)?.run ?? null
  }

  /** The answer is an earlier change if it goes on, or if a rotation is wanted and that one's new keys still wait. */
  begin(wanted: ChangeWanted): Begun & { readonly isNew: boolean } {
    const { email, asker, mayGoOn, ...what } = wanted
    const isRotation = wanted.change.do === 'rotate'
    const isEarlier = ({ ended, newKeys }: ChangeRun) => ended === null || (isRotation && newKeys.length > 0)
    const earlier = this.#find((run) => run.email === email && isEarlier(run))
    if (earlier !== undefined) return { ...earlier, isNew: false }
    const run: ChangeRun = {
      ...what,
      id: asker.requestId,
      email,
      tried: new Set(),
      refused: [],
      same: 0,
      newKeys: [],
      newKeysEnd: null,
      ended: null,
    }
    const begun = { run, whole: this.#perform(run, { asker, mayGoOn }) }
    this.#begun.set(run.id, begun)
    return { ...begun, isNew: true }
  }

  #find(isWanted: (run: ChangeRun) => boolean): Begun | undefined {
    return this.#begun.values().find(({ run }) => isWanted(run))
  }

  async #perform(run: ChangeRun, asked: Pick<ChangeWanted, 'asker' | 'mayGoOn'>): Promise<void> {
    const why = await this.#answers(run, asked)
    run.ended = { at: this.#core.clock.now(), why }
    if (run.newKeys.length > 0) this.#ends.later(newKeysKeptMs, () => this.#drop(run))
    this.#ends.onEnd()
  }

  #drop(run: ChangeRun): void {
    if (run.newKeys.length === 0) return
    run.newKeys = []
    run.newKeysEnd = { at: this.#core.clock.now(), isTaken: false }
    this.#ends.onEnd()
  }

  async #answers(
    run: ChangeRun,
    asked: Pick<ChangeWanted, 'asker' | 'mayGoOn'>,
  ): Promise<NonNullable<ChangeRun['ended']>['why']> {
    try {
      for await (const answer of changeKeys(this.#core, run, asked)) {
        run.tried.add(answer.keyId)
        if (isRefused(answer)) run.refused.push(answer)
        else if (answer.rotated !== null) run.newKeys.push(answer)
        else if (!answer.isChanged) run.same += 1
      }
    } catch (error) {
      this.#lines.error('change of keys failed', { requestId: run.id, error: thrownError(error) })
      return 'bug'
    }
    if (run.tried.size === run.keyIds.length) return 'all_tried'
    return asked.mayGoOn() ? 'log_away' : 'session_ended'
  }
}

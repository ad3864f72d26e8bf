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
  readonly tried: Set<string>
  readonly refused: RefusedKey[]
  same: number
  /** Of a rotation, until they are handed out or dropped. Nothing else has them. */
  newKeys: ChangedKey[]
  handedOutAt: number | null
  droppedAt: number | null
  ended: { readonly at: number; readonly why: 'all_tried' | 'session_ended' | 'log_away' | 'bug' } | null
}

export type ChangeWanted = Pick<ChangeRun, 'email' | 'query' | 'formId' | 'change' | 'keyIds'> & {
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
  readonly #runs = new BoundedMap<string, ChangeRun>(
    changesKeptMax,
    ({ ended, newKeys }) => ended === null || newKeys.length > 0,
  )
  /** The id of the change that a form began. */
  readonly #ofForm = new BoundedMap<string, string>(changesKeptMax)
  /** By e-mail. */
  readonly #running = new Map<string, Begun>()
  /** By e-mail: the last one. New keys of one rotation can wait for each operator, which bounds them. */
  readonly #rotations = new Map<string, Begun>()
  readonly #ends: Required<Ends>

  constructor(core: Core, lines: RequestLines, { onEnd, later = systemSchedule.after }: Ends) {
    this.#core = core
    this.#lines = lines
    this.#ends = { onEnd, later }
  }

  /** `null` to other operators, and for a change that is not known any more. */
  get(id: string, email: string): ChangeRun | null {
    const run = this.#runs.get(id)
    return run?.email === email ? run : null
  }

  /** The operator who began it on this node. `null`: it is not known any more, or never was. */
  operatorOf(id: string): string | null {
    return this.#runs.get(id)?.email ?? null
  }

  /** That this form began. */
  ofForm(formId: string, email: string): ChangeRun | null {
    return this.get(this.#ofForm.get(formId) ?? '', email)
  }

  /** The answer is an earlier change if it goes on, or if a rotation is wanted and that one's new keys still wait. */
  begin(wanted: ChangeWanted): Begun & { readonly isNew: boolean } {
    const { email, asker, mayGoOn, ...what } = wanted
    const isRotation = wanted.change.do === 'rotate'
    const last = isRotation ? this.#rotations.get(email) : undefined
    const earlier = this.#running.get(email) ?? (last !== undefined && last.run.newKeys.length > 0 ? last : undefined)
    if (earlier !== undefined) return { ...earlier, isNew: false }
    const run: ChangeRun = {
      ...what,
      id: asker.requestId,
      email,
      tried: new Set(),
      refused: [],
      same: 0,
      newKeys: [],
      handedOutAt: null,
      droppedAt: null,
      ended: null,
    }
    this.#runs.set(run.id, run)
    this.#ofForm.set(wanted.formId, run.id)
    const whole = this.#perform(run, { asker, mayGoOn })
    this.#running.set(email, { run, whole })
    if (isRotation) this.#rotations.set(email, { run, whole })
    return { run, whole, isNew: true }
  }

  async #perform(run: ChangeRun, asked: Pick<ChangeWanted, 'asker' | 'mayGoOn'>): Promise<void> {
    const why = await this.#answers(run, asked)
    run.ended = { at: this.#core.clock.now(), why }
    this.#running.delete(run.email)
    if (run.newKeys.length > 0) this.#ends.later(newKeysKeptMs, () => this.#drop(run))
    this.#ends.onEnd()
  }

  #drop(run: ChangeRun): void {
    if (run.newKeys.length === 0) return
    run.newKeys = []
    run.droppedAt = this.#core.clock.now()
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

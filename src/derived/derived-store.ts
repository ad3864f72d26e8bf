import type { FoldedTo } from '../domain/log-reference.ts'
import { assertNever } from '../domain/refusal.ts'
import { modelRetryPauseMs } from '../limits.ts'
import type { Schedule } from '../schedule.ts'
import type { FollowerEvents, FollowerHandle, FromFollower, InLog, ModelProgress } from './follower-messages.ts'

/** The main thread tells the follower at most so often that the log has published events. */
export const followerToldEveryMs = 50
/** A page waits this long for a model to include what its form has changed. */
export const followerUpToMsMax = 1_000
/** Under load, a flush of many kegs takes longer than a person would wait. */
export const followerPatientMsMax = 15_000
/** At its end, the node waits this long for the last flushes. What is missing is read at the next start. */
export const followerStopMsMax = 2_000
/** After a crash of the follower's thread, the pauses before it starts again double up to this one. They begin anew after this time without a crash. */
export const followerRestartMsMax = 600_000

export type DerivedParts = {
  /** On a thread of its own, or in this one for tests. */
  readonly start: (events: FollowerEvents) => FollowerHandle
  /** `null`: the log cannot say it now. */
  readonly isInLog: (head: FoldedTo) => Promise<InLog>
  readonly schedule: Schedule
  readonly onTold: (told: DerivedTold) => void
}

/** `why` of a trouble is `null` when the trouble is over. */
export type DerivedTold =
  | { readonly kind: 'trouble'; readonly model: string; readonly why: string | null }
  | { readonly kind: 'replaced'; readonly model: string; readonly why: string }
  | { readonly kind: 'bug'; readonly why: string }
  | { readonly kind: 'crashed'; readonly why: string }

const unknown: ModelProgress = { position: null, isBehind: true, trouble: null }

export class DerivedStore {
  readonly #parts: DerivedParts
  readonly #progress = new Map<string, ModelProgress>()
  /**
   * By model: a number that changes each time its file is opened or built anew. A reader that remembers an older number
   * must open the file again.
   */
  readonly #openings = new Map<string, number>()
  #openingsCount = 0
  readonly #listeners = new Map<string, () => void>()
  readonly #waiting = new Map<number, () => void>()
  #ids = 0
  #follower: FollowerHandle | null = null
  #published = -1
  #told = -1
  #forgetTelling: (() => void) | null = null
  #restartMs = modelRetryPauseMs
  #forgetSteady = (): void => {}
  #isStopped = false

  constructor(parts: DerivedParts) {
    this.#parts = parts
  }

  start(): void {
    if (this.#isStopped) return
    this.#follower = this.#parts.start({
      onMessage: (message) => this.#hear(message),
      onFault: (why) => this.#restart(why),
    })
    this.#forgetSteady = this.#parts.schedule.after(followerRestartMsMax, () => {
      this.#restartMs = modelRetryPauseMs
    })
    this.#told = -1
    this.#tell()
  }

  /** How many positions of the log the model has not folded. `null`: this node does not know yet. */
  lag(model: string): number | null {
    const { position } = this.progress(model)
    return position === null ? null : Math.max(0, this.#published - position)
  }

  published(position: number): void {
    this.#published = Math.max(this.#published, position)
    if (this.#forgetTelling === null) this.#tell()
  }

  /**
   * Resolves when the file includes all that this node has received, so that a page can show what its form has changed.
   * Returns false if it gives up. Does not wait for a model that is behind.
   */
  async upTo(model: string, msMax = followerUpToMsMax): Promise<boolean> {
    const { isBehind, trouble, position } = this.progress(model)
    if (isBehind || trouble !== null || (position ?? -1) >= this.#published || this.#follower === null) return true
    this.#ids += 1
    const id = this.#ids
    const follower = this.#follower
    return new Promise((resolve) => {
      const forget = this.#parts.schedule.after(msMax, () => {
        this.#waiting.delete(id)
        resolve(false)
      })
      this.#waiting.set(id, () => {
        forget()
        resolve(true)
      })
      follower.post({ kind: 'upTo', id, model, position: this.#published })
    })
  }

  /** Flushes as soon as the model has folded this position, however far behind it is. */
  hurry(model: string, position: number): void {
    this.#ids += 1
    this.#follower?.post({ kind: 'upTo', id: this.#ids, model, position })
  }

  /** A model has one listener. */
  listen(model: string, listener: () => void): void {
    this.#listeners.set(model, listener)
  }

  progress(model: string): ModelProgress {
    return this.#progress.get(model) ?? unknown
  }

  /** Changes each time the file is opened or built anew. `null`: the file cannot be read now. */
  opening(model: string): number | null {
    return this.#openings.get(model) ?? null
  }

  rebuild(model: string, opening: number, why: string): void {
    if (this.opening(model) !== opening) return
    this.#openings.delete(model)
    this.#follower?.post({ kind: 'rebuild', model, why })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#tell()
    this.#forgetTelling?.()
    this.#forgetSteady()
    const follower = this.#follower
    this.#follower = null
    for (const id of [...this.#waiting.keys()]) this.#settle(id)
    if (follower === null) return
    await new Promise<void>((resolve, reject) => {
      const forget = this.#parts.schedule.after(followerStopMsMax, resolve)
      follower.close().then(resolve, reject).finally(forget)
    })
  }

  #tell(): void {
    this.#forgetTelling = null
    if (this.#published <= this.#told || this.#follower === null) return
    this.#told = this.#published
    this.#follower.post({ kind: 'published', position: this.#published })
    this.#forgetTelling = this.#parts.schedule.after(followerToldEveryMs, () => this.#tell())
  }

  #hear(message: FromFollower): void {
    const { onTold } = this.#parts
    switch (message.kind) {
      case 'progress':
        this.#progressed(message.model, message.progress)
        return
      case 'opened':
        this.#openingsCount += 1
        this.#openings.set(message.model, this.#openingsCount)
        this.#progressed(message.model, { ...this.progress(message.model), position: message.position })
        return
      case 'replaced':
        this.#openings.delete(message.model)
        onTold(message)
        return
      case 'reached':
        this.#settle(message.id)
        return
      case 'isInLog':
        void this.#judge(message.model, message.head)
        return
      case 'bug':
        onTold(message)
        return
      default:
        assertNever(message)
    }
  }

  #progressed(model: string, progress: ModelProgress): void {
    const { trouble } = this.progress(model)
    this.#progress.set(model, progress)
    const isOver = progress.trouble === null
    if (isOver !== (trouble === null)) this.#parts.onTold({ kind: 'trouble', model, why: progress.trouble })
    this.#listeners.get(model)?.()
  }

  async #judge(model: string, head: FoldedTo): Promise<void> {
    const is = await this.#parts.isInLog(head)
    this.#follower?.post({ kind: 'inLog', model, is })
  }

  #settle(id: number): void {
    const settle = this.#waiting.get(id)
    this.#waiting.delete(id)
    settle?.()
  }

  /** Starts the follower again after a pause. Readings go on meanwhile. */
  #restart(why: string): void {
    this.#follower = null
    this.#forgetSteady()
    for (const id of [...this.#waiting.keys()]) this.#settle(id)
    for (const model of this.#progress.keys()) this.#progress.set(model, { ...this.progress(model), isBehind: true })
    if (this.#isStopped) return
    this.#parts.onTold({ kind: 'crashed', why })
    this.#parts.schedule.after(this.#restartMs, () => this.start())
    this.#restartMs = Math.min(2 * this.#restartMs, followerRestartMsMax)
  }
}

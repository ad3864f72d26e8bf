/**
 * Models at the same position share each page. A model that is behind gets one page for each page of the others, so they
 * never wait for it. Of several that are behind, the first kind catches up first. While all are behind, an urgent model
 * goes on alone. The others wait for a flush only for a short time. Then its model falls behind.
 */
import { Outage, UndecodableEvent } from '../log/event-log.ts'
import { nextTurn } from '../log/pages-of-log.ts'
import type { Source, SourcePage } from '../log/source.ts'
import { FollowedModel } from './followed-model.ts'
import type { FromFollower, ToFollower } from './follower-messages.ts'
import type { ModelKind } from './model.ts'

/**
 * The models wait this long for the flush of one of them, which is longer than usual flushes. Then they go on without it: idempotency keys
 * must not wait in memory for the flush of a large purge.
 */
export const followerFlushMsMax = 500
/** The follower asks the log again after this time if it has not got events that were published. Then the pauses double. */
const followerPollMsMin = 10
/** The follower asks the log after this time even if nothing was published, and looks whether a flush is due. */
const followerIdleMs = 1_000

export type FollowerParts = {
  readonly dataDir: string
  /** Positions of another log mean other events. */
  readonly logId: string
  /** The copied events of a day can be in any order. `null`: it is no copy. */
  readonly copiedMs: number | null
  readonly kinds: readonly ModelKind[]
  readonly source: Source
  readonly now: () => number
  readonly passedMs: () => number
  readonly tell: (message: FromFollower) => void
}

type Asked = { readonly id: number; readonly model: FollowedModel; readonly position: number }

export class Follower {
  readonly #source: Source
  readonly #tell: FollowerParts['tell']
  readonly #models: readonly FollowedModel[]
  readonly #copiedMs: number | null
  readonly #passedMs: () => number
  #asked: readonly Asked[] = []
  #published = -1
  #pollMs = followerPollMsMin
  #isClosing = false
  #wake = (): void => {}
  #isWoken = false

  constructor({ source, tell, kinds, copiedMs, ...parts }: FollowerParts) {
    this.#source = source
    this.#copiedMs = copiedMs
    this.#tell = tell
    this.#passedMs = parts.passedMs
    this.#models = kinds.map((kind) => new FollowedModel({ ...parts, kind, tell }))
  }

  receive(message: Exclude<ToFollower, { readonly kind: 'close' }>): void {
    if (message.kind === 'published') this.#published = Math.max(this.#published, message.position)
    else {
      const model = this.#models.find(({ name }) => name === message.model)
      if (model === undefined) throw new Error(`Cannot follow: no model is named "${message.model}"`)
      if (message.kind === 'inLog') model.hear(message.is)
      else if (message.kind === 'rebuild') model.rebuild(message.why)
      else this.#ask({ id: message.id, model, position: message.position })
    }
    this.#isWoken = true
    this.#wake()
  }

  /** Rejects if the program has a bug. */
  async run(): Promise<void> {
    while (!this.#isClosing) await this.#round()
    // The last events of the node. A model that is behind goes on at the next start.
    const { leaders } = this.#places()
    if (leaders.some(({ isBehind }) => !isBehind)) while (!(await this.#lead(leaders, Number.POSITIVE_INFINITY)));
    for (const model of this.#models) model.end()
    await this.#source.close()
  }

  close(): void {
    this.#isClosing = true
    this.#wake()
  }

  #places() {
    const ready = this.#models.filter(({ isReady }) => isReady)
    const flushing = ready.filter(({ isFlushing }) => isFlushing)
    const folding = ready.filter(({ isFlushing }) => !isFlushing)
    const first = Math.max(-1, ...folding.map(placeOf))
    const leaders = folding.filter((model) => placeOf(model) === first)
    const urgent = leaders.every(({ isBehind }) => isBehind) ? folding.filter(({ isUrgent }) => isUrgent) : []
    if (urgent.length > 0) return { first, leaders: urgent, flushing, behind: null }
    return { first, leaders, flushing, behind: folding.find((model) => !leaders.includes(model)) ?? null }
  }

  #ask(asked: Asked): void {
    asked.model.want(asked.position)
    this.#published = Math.max(this.#published, asked.position)
    this.#asked = [...this.#asked, asked]
  }

  async #round(): Promise<void> {
    for (const model of this.#models) {
      model.openIfDue()
      await this.#begin(model)
    }
    const { first, leaders, flushing, behind } = this.#places()
    const isAtEnd = leaders.length === 0 || (await this.#lead(leaders))
    for (const model of flushing) model.flushStep()
    if (behind !== null) await this.#catchUp(behind, Math.max(...leaders.map(placeOf)))
    this.#answer()
    const isBusy = this.#models.some(({ isChecking, isFlushing }) => isChecking || isFlushing)
    if (isAtEnd && behind === null && !isBusy) await this.#rest(first)
    else await nextTurn()
  }

  /** Returns true at the end of the log. */
  async #lead(models: readonly FollowedModel[], flushMsMax = followerFlushMsMax): Promise<boolean> {
    const page = await this.#read(models)
    if (page === null) return true
    // A subscription can be silent, although this node has heard of newer events.
    const atEnd = page.atEnd && (page.scannedTo ?? -1) >= this.#published
    for (const model of models) {
      model.fold({ ...page, atEnd })
      await this.#flush(model, flushMsMax)
    }
    return page.atEnd
  }

  async #flush(model: FollowedModel, msMax: number): Promise<void> {
    const untilMs = this.#passedMs() + msMax
    while (model.mustFlush && this.#passedMs() < untilMs) {
      model.flushStep()
      await nextTurn()
    }
  }

  /** Stops at the leaders' position, so that the model shares their pages from there on. */
  async #catchUp(model: FollowedModel, leadersAt: number): Promise<void> {
    if (model.mustFlush) return model.flushStep()
    const page = await this.#read([model])
    if (page === null) return
    const items = page.items.filter(({ position }) => position <= leadersAt)
    const scannedTo = Math.min(page.scannedTo ?? -1, leadersAt)
    model.fold({ items, scannedTo, atEnd: page.atEnd || scannedTo === leadersAt })
  }

  async #begin(model: FollowedModel): Promise<void> {
    const wanted = model.wantedBeginning
    if (wanted === null) return
    const isCopyOfThen = this.#copiedMs !== null && wanted.nowMs - this.#copiedMs <= wanted.keptMs
    if (isCopyOfThen) return model.beginAfter(null)
    const found = await this.#ofSource([model], async () => ({ after: await this.#source.beginningOf(wanted) }))
    if (found !== null) model.beginAfter(found.after)
  }

  #read(models: readonly FollowedModel[]): Promise<SourcePage | null> {
    return this.#ofSource(models, () => this.#source.after(models[0]?.position ?? null))
  }

  async #ofSource<T>(models: readonly FollowedModel[], read: () => Promise<T>): Promise<T | null> {
    try {
      return await read()
    } catch (fault) {
      // An event that cannot be decoded is reported by the service itself.
      if (!(fault instanceof Outage || fault instanceof UndecodableEvent)) throw fault
      for (const model of models) model.waitForLog(fault.message)
      return null
    }
  }

  #answer(): void {
    if (this.#asked.length === 0) return
    // A page does not wait for a model that is away. It shows that.
    const isDone = ({ model, position }: Asked): boolean => !model.isReady || model.hasFlushed(position)
    for (const asked of this.#asked) if (isDone(asked)) this.#tell({ kind: 'reached', id: asked.id })
    this.#asked = this.#asked.filter((asked) => !isDone(asked))
  }

  /**
   * If events were published that the log does not return yet, asks again after ever longer pauses. A store can deliver
   * events later than it has published them.
   */
  async #rest(position: number): Promise<void> {
    if (!this.#isWoken && !this.#isClosing) {
      const isWaiting = this.#published > position
      this.#pollMs = isWaiting ? Math.min(2 * this.#pollMs, followerIdleMs) : followerPollMsMin
      await this.#woken(isWaiting ? this.#pollMs : followerIdleMs)
    }
    this.#isWoken = false
  }

  #woken(msMax: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, msMax)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const placeOf = ({ position }: FollowedModel): number => position ?? -1

import type { RecordedEvent } from '../../../src/domain/events.ts'
import {
  type AppendResult,
  type EventLog,
  type ExpectedRevision,
  type LogHealth,
  Outage,
  type ReadAllOptions,
  type ReadOptions,
  type SubscribeOptions,
  type Subscriber,
  type Subscription,
  type ToAppend,
} from '../../../src/log/event-log.ts'

/**
 * `unknown_not_written` fails before the append and `unknown_written` after it. Both throw the same outage, so the
 * caller cannot know whether the events are stored.
 */
export type AppendFault = 'not_written' | 'unknown_not_written' | 'unknown_written'

export type FaultPlan = {
  readonly fault: AppendFault
  /** Which append fails, counted from the next one, which is 1. Default: 1. */
  readonly nth?: number
  readonly reason?: Outage['reason']
  /** If true, the log is away after this fault: nothing works until `comeBack`, as if its process had died. */
  readonly thenAway?: boolean
}

export type Held = {
  readonly waiting: number
  /** Lets the waiting calls go on in their order. Later calls are not held. */
  release(): void
}

/** A log that fails exactly when a test says so. It has no timers and no random numbers, so each run is the same. */
export type FaultyLog = EventLog & {
  readonly appends: number
  failAppend(plan: FaultPlan): void
  /** `before` holds appends before they are stored; `after` holds only their answers. */
  hold(where: 'before' | 'after'): Held
  /** The log is away until `comeBack`: calls throw, `health` is not ok, and subscriptions end. */
  goAway(): void
  comeBack(): void
}

export const faultyLog = (inner: EventLog): FaultyLog => new FaultInjectingLog(inner)

type Hold = Held & { readonly where: 'before' | 'after'; pass(): Promise<void> }

class FaultInjectingLog implements FaultyLog {
  readonly #inner: EventLog
  readonly #plans = new Map<number, FaultPlan>()
  readonly #drops = new Set<(cause: unknown) => void>()
  #holds: readonly Hold[] = []
  #appends = 0
  #isAway = false

  constructor(inner: EventLog) {
    this.#inner = inner
  }

  get appends(): number {
    return this.#appends
  }

  get lags(): boolean {
    return this.#inner.lags === true
  }

  failAppend(plan: FaultPlan): void {
    this.#plans.set(this.#appends + (plan.nth ?? 1), plan)
  }

  hold(where: 'before' | 'after'): Held {
    const resumes: (() => void)[] = []
    const hold: Hold = {
      where,
      get waiting() {
        return resumes.length
      },
      pass: () => new Promise((resolve) => resumes.push(resolve)),
      release: () => {
        this.#holds = this.#holds.filter((other) => other !== hold)
        for (const resume of resumes.splice(0)) resume()
      },
    }
    this.#holds = [...this.#holds, hold]
    return hold
  }

  goAway(): void {
    this.#isAway = true
    const cause = new Outage('The log went away', 'not_written', 'unavailable')
    for (const drop of this.#drops) drop(cause)
  }

  comeBack(): void {
    this.#isAway = false
  }

  async append(stream: string, expected: ExpectedRevision, events: ToAppend): Promise<AppendResult> {
    this.#appends += 1
    const plan = this.#plans.get(this.#appends)
    this.#assertThere()
    // If nothing is held, the inner log must get the append in this turn of the event loop, as without this wrapper.
    if (this.#holds.length > 0) {
      await this.#pass('before')
      this.#assertThere()
    }
    if (plan === undefined) {
      const result = await this.#inner.append(stream, expected, events)
      await this.#pass('after')
      return result
    }

    if (plan.fault === 'unknown_written') await this.#inner.append(stream, expected, events)
    if (plan.thenAway === true) this.goAway()
    const outcome = plan.fault === 'not_written' ? 'not_written' : 'unknown'
    throw new Outage(`Cannot append to "${stream}": a planned fault`, outcome, plan.reason ?? 'unavailable')
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    this.#assertThere()
    return this.#inner.read(stream, options)
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    this.#assertThere()
    return this.#inner.readAll(options)
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertThere()
    const subscription = this.#inner.subscribe(options, subscriber)
    const drop = (cause: unknown): void => {
      end()
      subscriber.onDropped?.(cause)
    }
    const end = (): void => {
      this.#drops.delete(drop)
      subscription.unsubscribe()
    }
    this.#drops.add(drop)
    return { unsubscribe: end }
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.#assertThere()
    await this.#inner.truncate(stream, before)
  }

  health(): LogHealth {
    return this.#isAway ? { ok: false, why: 'the log went away' } : this.#inner.health()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #pass(where: 'before' | 'after'): Promise<void> {
    for (const hold of this.#holds) if (hold.where === where) await hold.pass()
  }

  #assertThere(): void {
    if (this.#isAway) throw new Outage('The log is away', 'not_written', 'unavailable')
  }
}

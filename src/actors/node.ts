import type { questionKinds } from '../asked/question-kinds.ts'
import type { MachineClock } from '../clock.ts'
import type { KnownRevisions } from '../derived/ask/known-revisions.ts'
import type { DerivedStore } from '../derived/derived-store.ts'
import type { Questions } from '../derived/questions/question.ts'
import { isRun, type LogItem, lastPositionOf } from '../domain/reading/recorded-run.ts'
import {
  attentionRestsStream,
  categories,
  categoryOf,
  deliveriesStream,
  exportsStream,
  foldedCategories,
  isRecordStream,
  keyIdOf,
  lifecycleCategories,
} from '../domain/stream-names.ts'
import type { Entropy } from '../entropy.ts'
import { drainMsMax, heartbeatMs } from '../limits.ts'
import type { EventLog, ReadBeginning, Subscription } from '../log/event-log.ts'
import type { RepeatsIndex } from '../log/repeats-index.ts'
import { type Schedule, systemSchedule } from '../schedule.ts'
import { ActorContext } from './actor-context.ts'
import { AttentionRecords } from './attention/attention-records.ts'
import { type AttentionParts, AttentionWatch } from './attention/attention-watch.ts'
import { CellarActor } from './cellar/cellar-actor.ts'
import { Retention } from './cellar/reading-retention.ts'
import type { CoreFigures, FoldListener } from './core-interface.ts'
import { KeyActor } from './key/key-actor.ts'
import { Sweeps } from './key/key-sweeps.ts'
import { SupersedeOnFirstUse } from './key/supersede-on-first-use.ts'
import { type OperatorActor, operatorActor, type SetupActor, setupActor } from './operator/operator-actor.ts'
import { type PasswordHasher, type PasswordJudge, Passwords } from './operator/passwords.ts'
import { SignInRecords } from './operator/sign-in-records.ts'
import { RefusalRecords } from './refusals/refusal-records.ts'
import { type Actor, Registry } from './registry.ts'
import type { FirstState, Newest } from './start/begin-from-log.ts'
import type { LostChanges } from './start/lost-changes.ts'
import { follow } from './stream/follow.ts'
import { RecordStream } from './stream/record-stream.ts'
import { ClockWatch, type TimesTold } from './time/clock-watch.ts'
import { WebhookDeliveries } from './webhooks/webhook-deliveries.ts'
import type { WebhookParts } from './webhooks/webhook-parts.ts'

export const requestWaitMsMax = 5_000
export const expirySweepMs = 60_000
const drainLookMs = 10
/** To record how requests to webhooks have ended. */
const abortedMsMax = 1_000

export type Derived = {
  readonly store: DerivedStore
  readonly questions: Questions<typeof questionKinds>
  readonly repeats: RepeatsIndex
  /** What `ask.db` knows before the store starts. */
  readonly known: () => KnownRevisions | null
}

export type CoreParts = {
  readonly log: EventLog
  readonly clock: MachineClock
  readonly entropy: Entropy
  /**
   * Default: the index of the derived store. Without an index, all idempotency keys stay in memory, and actors read their
   * streams for them.
   */
  readonly idempotency?: RepeatsIndex
  readonly derived?: Derived
  /** Default: the questions of the derived store. Without one, no question is answered. */
  readonly questions?: Derived['questions']
  readonly schedule?: Schedule
  /** Must not throw. Default: writes to stderr. */
  readonly onBug?: (bug: unknown) => void
  /** Called when folding an event has thrown. The actors are stopped by then. Default: ends the process. */
  readonly onBroken?: (bug: unknown) => void
  readonly onTimes?: (told: TimesTold) => void
  /** The log has lost changes of keys, cellars or operators. The keys are suspended by then. */
  readonly onLostChanges?: (lost: LostChanges) => void
  readonly sessionIdleMs?: number
  /** Default: this node does not look for what needs attention. */
  readonly attention?: AttentionParts
  /** Default: this node can neither make webhooks nor send to them. */
  readonly webhooks?: WebhookParts
  readonly passwordHasher?: PasswordHasher
  /** The default has no dictionary: it refuses only passwords made of the e-mail or of names. */
  readonly passwordJudge?: PasswordJudge
  /** Default: the method of the log. Without it, the start reads the whole log. */
  readonly readBeginning?: ReadBeginning
  readonly onWholeRead?: (why: string) => void
}

/** Two numbers instead of the item, because a run holds many readings in memory. */
const newestOf = (last: LogItem): Newest => ({ recordedAt: last.recordedAt, position: lastPositionOf(last) })

export class Node {
  readonly context: ActorContext
  readonly keys: Registry<KeyActor>
  readonly cellars: Registry<CellarActor>
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
  readonly signInRecords: SignInRecords
  readonly refusalRecords: RefusalRecords
  readonly exportRecords: RecordStream
  readonly restRecords: RecordStream
  readonly attention: AttentionRecords
  readonly webhooks: WebhookDeliveries
  readonly sweeps: Sweeps
  readonly retention: Retention
  readonly rotations: SupersedeOnFirstUse
  readonly derived: Derived | null
  readonly #attentionWatch: AttentionWatch | null
  readonly #registries: readonly Registry<Actor>[]
  readonly #clockWatch: ClockWatch
  readonly #onBroken: (bug: unknown) => void
  readonly #foldListeners = new Set<FoldListener>()
  readonly #subscriptions: Subscription[] = []
  #newest: Newest | null
  readonly #after: number | null
  #isCaughtUp = false
  #forgetBeat = (): void => {}
  #draining: Promise<void> | null = null

  constructor(parts: CoreParts, { projections, after, newest }: FirstState) {
    const { log, clock, entropy, schedule = systemSchedule, onBug = console.error, onTimes = () => {} } = parts
    const repeatsIndex = parts.idempotency ?? parts.derived?.repeats ?? null
    const context = new ActorContext({ log, clock, entropy, schedule, projections, onBug, repeatsIndex })
    this.context = context
    this.#newest = newest
    this.#after = after
    this.derived = parts.derived ?? null
    this.keys = new Registry(context, (keyId) => new KeyActor(keyId, context))
    this.cellars = new Registry(context, (stream) => new CellarActor(stream, context))
    this.operators = new Registry(context, (stream) => operatorActor(stream, context))
    this.setup = new Registry(context, () => setupActor(context))
    this.#registries = [this.keys, this.cellars, this.operators, this.setup]
    this.passwords = new Passwords(context, parts.passwordHasher, parts.passwordJudge)
    this.signInRecords = new SignInRecords(context)
    this.refusalRecords = new RefusalRecords(context)
    this.exportRecords = new RecordStream(context, exportsStream)
    this.restRecords = new RecordStream(context, attentionRestsStream)
    this.attention = new AttentionRecords(context, (event) => this.webhooks.written(event))
    this.webhooks = new WebhookDeliveries(context, {
      parts: parts.webhooks ?? null,
      records: this.attention,
      passedMs: () => clock.passedMs(),
    })
    const questions = parts.questions ?? parts.derived?.questions
    this.#attentionWatch =
      parts.attention === undefined || questions === undefined
        ? null
        : new AttentionWatch(context, { ...parts.attention, records: this.attention, questions })
    this.sweeps = new Sweeps(context, this.keys)
    this.rotations = new SupersedeOnFirstUse(context, this.keys)
    // The newest event that the start has folded: a search for the newest event of a large EventStoreDB would take long.
    const newestMs = (): number => this.#newest?.recordedAt ?? context.clock.now()
    const deliveryStreams = (): readonly string[] => this.webhooks.settings.everyId.map(deliveriesStream)
    this.retention = new Retention(context, this.cellars, { newestMs, onTimes, deliveryStreams })
    this.#clockWatch = new ClockWatch(context, onTimes)
    this.#onBroken = parts.onBroken ?? throwUncaught
    this.sweeps.recall()
    this.rotations.recall()
  }

  /** Resolves when the whole log is folded. @throws the error of the log if it cannot be read. */
  async follow(): Promise<void> {
    if (this.#after !== null) this.#received(this.#after)
    if (this.#newest !== null) this.#clockWatch.hear([this.#newest])
    await this.#subscribe({ after: this.#after, categories: this.#categories, onEvents: this.#receive })
    this.#isCaughtUp = true
    this.#clockWatch.caughtUp()
    if (this.context.log.lags !== true) return
    // Many readings can delay the first subscription. A second one without them delivers changes of keys early. The
    // projections fold each event only once.
    const { position } = this.context.projections
    await this.#subscribe({ after: position, categories: lifecycleCategories, onEvents: this.#fold })
  }

  /** Must come after the start of the derived store. */
  beginRepeats(): Promise<void> {
    return this.context.repeats.begin(this.#newest)
  }

  async watchAttention(): Promise<void> {
    await this.#attentionWatch?.begin(this.#newest?.recordedAt ?? this.context.clock.now())
  }

  startHeartbeat(): void {
    this.#forgetBeat = this.context.schedule.after(heartbeatMs, () => {
      this.startHeartbeat()
      this.#onBeat()
    })
  }

  async finishBegunWork(): Promise<void> {
    await this.sweeps.finishRevocations()
    await this.rotations.run()
    // The start does not wait for these: expired keys are refused anyway, and purged readings are already hidden.
    void this.sweeps.recordExpiries()
    void this.retention.run()
  }

  async sweep(): Promise<void> {
    await this.sweeps.run()
    await this.rotations.run()
    await this.retention.run()
    await this.#attentionWatch?.look()
  }

  figures(): CoreFigures {
    return {
      storedReadings: this.context.storedReadings,
      actors: { key: this.keys.size, cellar: this.cellars.size, operator: this.operators.size + this.setup.size },
      passwordsWaiting: this.passwords.waiting,
      webhooks: this.webhooks.figures(),
    }
  }

  onFolded(listener: FoldListener): () => void {
    this.#foldListeners.add(listener)
    return () => this.#foldListeners.delete(listener)
  }

  /** For a failed start. The log is closed next, so no timer may use it any more. */
  async abandonStart(): Promise<void> {
    this.#stopActors()
    this.#unfollow()
    await this.derived?.store.stop()
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain()
    return this.#draining
  }

  async #drain(): Promise<void> {
    this.context.isStopping = true
    void this.signInRecords.writeRefused()
    this.refusalRecords.writeAll()
    await this.#untilIdle(drainMsMax - abortedMsMax)
    this.webhooks.abort()
    await this.#untilIdle(abortedMsMax)
    this.#stopActors()
    this.#unfollow()
    await this.derived?.store.stop()
  }

  async #untilIdle(msMax: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < msMax && !this.#isIdle; waitedMs += drainLookMs) {
      await this.context.pause(drainLookMs)
    }
  }

  #unfollow(): void {
    this.#forgetBeat()
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
  }

  get #isIdle(): boolean {
    const { passwords, signInRecords, exportRecords, restRecords, refusalRecords, webhooks } = this
    const others = [passwords, signInRecords, exportRecords, restRecords, refusalRecords, webhooks, ...this.#registries]
    return others.every(({ isIdle }) => isIdle) && this.#attentionWatch?.isIdle !== false
  }

  async #subscribe(following: Omit<Parameters<typeof follow>[1], 'onBroken'>): Promise<void> {
    const onBroken = (bug: unknown): void => {
      this.#stopActors()
      this.#onBroken(bug)
    }
    this.#subscriptions.push(await follow(this.context, { ...following, onBroken }))
  }

  /** Only the derived store, the live pages and webhooks need records. */
  get #categories(): readonly string[] {
    return this.derived === null && this.webhooks.parts?.sendsWaiting !== true ? foldedCategories : categories
  }

  readonly #receive = (items: readonly LogItem[]): void => {
    const hasRecords = items.some(isRecord)
    const folded = hasRecords ? items.filter((item) => !isRecord(item)) : items
    if (folded.length > 0) this.#receiveFolded(folded)
    const last = items.at(-1)
    if (last !== undefined) this.#received(lastPositionOf(last))
    if (hasRecords) this.#receiveRecords(items.filter(isRecord))
  }

  #received(position: number): void {
    this.context.heardTo = position
    this.derived?.store.published(position)
  }

  #receiveRecords(items: readonly LogItem[]): void {
    this.attention.hear(items)
    this.webhooks.hear(items)
    this.#tell(items)
  }

  #receiveFolded(items: readonly LogItem[]): void {
    const last = items.at(-1)
    if (!this.#isCaughtUp && last !== undefined) this.#newest = newestOf(last)
    this.#clockWatch.hear(items)
    this.#fold(items)
  }

  readonly #fold = (items: readonly LogItem[]): void => {
    this.context.projections.fold(items)
    for (const item of items) this.#hear(item)
    this.#tell(items)
  }

  #tell(items: readonly LogItem[]): void {
    for (const listener of this.#foldListeners) {
      try {
        listener(items)
      } catch (bug) {
        this.context.onBug(bug)
      }
    }
  }

  #hear(item: LogItem): void {
    if (isRun(item) || item.type === 'ReadingAccepted') {
      this.rotations.hearReading(item.stream)
      return
    }
    this.sweeps.hear(item)
    this.rotations.hear(item)
    this.retention.hear(item)
    const category = categoryOf(item.stream)
    if (category === 'key' || category === 'readings') {
      this.keys.alive(keyIdOf(item.stream))?.hear(item)
    }
    if (category === 'cellar' && item.type !== 'ReadingsPurged') this.context.limitsEpoch += 1
  }

  #onBeat(): void {
    this.context.beat += 1
    const overdue = this.context.beat - requestWaitMsMax / heartbeatMs
    for (const registry of this.#registries) registry.onBeat({ overdue })
    this.passwords.answerOverdue(overdue)
    this.signInRecords.onBeat(overdue)
    this.refusalRecords.onBeat()
    this.#attentionWatch?.onBeat()
    this.exportRecords.answerOverdue(overdue)
    this.restRecords.answerOverdue(overdue)
    this.webhooks.onBeat(overdue)
    this.sweeps.onBeat()
    this.rotations.onBeat()
    this.context.repeats.onBeat()
    this.#clockWatch.onBeat()
    if (this.context.beat % (expirySweepMs / heartbeatMs) !== 0) return
    void this.sweeps.run()
    void this.retention.run()
  }

  /** Appends under way are not retried, so it can stay unknown whether their events are stored. */
  #stopActors(): void {
    this.context.isStopping = true
    this.context.gaveUp = true
    for (const registry of this.#registries) registry.stop()
    this.passwords.stop()
    this.signInRecords.stop()
    this.exportRecords.stop()
    this.restRecords.stop()
    this.webhooks.stop()
  }
}

/** Almost all items are readings, which their type tells fast. */
const isRecord = (item: LogItem): boolean =>
  !isRun(item) && item.type !== 'ReadingAccepted' && isRecordStream(item.stream)

const throwUncaught = (bug: unknown): void => {
  // In a later turn, so that the error ends the process. In this turn the log would catch it.
  setImmediate(() => {
    throw bug
  })
}

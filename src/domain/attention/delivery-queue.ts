/** What waits for one webhook, as its stream of deliveries says (docs/protocol.md, "Webhooks"). Times are in beats of this node. */
import { heartbeatMs } from '../../limits.ts'
import { dayMs, minuteMs } from '../calendar.ts'
import type { EventData, RecordedEvent } from '../events.ts'
import type { AttentionKind } from './attention-lines.ts'
import { isWanted, type Webhook } from './webhook.ts'

export const waitingMessagesMax = 1_000
export const messageKeptMs = dayMs
/** A node that did not write the record leaves it to the others for this time. */
export const othersFirstMs = 10_000
/** By failures in a row. */
export const pausesMs = [5_000, 15_000, 30_000, minuteMs, 2 * minuteMs, 5 * minuteMs] as const
/** A receiver that sometimes fails could fill the log: each attempt has two records. */
export const attemptsPerDayMax = 1_000
const dayBeats = dayMs / heartbeatMs
/** After that many attempts at once, so long passes for each attempt. */
const attemptBeats = Math.ceil(dayBeats / attemptsPerDayMax)
/** Ends of messages whose records this node has not heard of yet. */
const endedKeptMax = 1_000

export type Message = {
  readonly id: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly kinds: ReadonlySet<AttentionKind>
  /** This node has written the record. */
  readonly isOwn: boolean
}

/** What this node knows when it hears of a record. */
export type Heard = {
  readonly beat: number
  readonly passedMs: number
  readonly nowMs: number
  readonly chance: number
}

export type Claim = EventData<'DeliveryBegun'> & { readonly revision: number; readonly beganMs: number }
type Ended = EventData<'DeliveryEnded'> & { readonly atMs: number }

type Waiting = Message & { readonly heardBeat: number; readonly heardPassedMs: number }

export class DeliveryQueue {
  /** Of the newest record. -1 before the first. */
  revision = -1
  /** The attempt under way. `unreadable`: a newer version can have begun one. */
  open: Claim | 'unreadable' | null = null
  openSinceBeat = 0
  failingSinceMs: number | null = null
  last: { readonly claim: Claim; readonly ended: Ended } | null = null
  #webhook: Webhook
  readonly #node: string
  readonly #waiting = new Map<string, Waiting>()
  readonly #attempts = new Map<string, number>()
  readonly #ended = new Set<string>()
  #isSettled = false
  /** Of records up to this position, those up to this time (ms) are given up. */
  #givenUp = { position: -1, toMs: -1 }
  #dropped: { readonly messageId: string; readonly toMs: number; readonly count: number } | null = null
  #failures = 0
  #pausedToBeat = 0
  /** Each attempt moves it on by `attemptBeats`. At most, it is a day from now. */
  #spentToBeat = Number.NEGATIVE_INFINITY
  #freeSinceBeat = 0
  /** This node has made the last attempt. */
  #isOurs = false

  constructor(webhook: Webhook, node: string) {
    this.#webhook = webhook
    this.#node = node
  }

  get webhook(): Webhook {
    return this.#webhook
  }

  get waiting(): number {
    return this.#waiting.size
  }

  change(webhook: Webhook): void {
    if (webhook.url !== this.#webhook.url) this.#endPause()
    this.#webhook = webhook
    for (const { id, position, kinds } of this.#waiting.values()) {
      if (!isWanted(webhook, position, kinds)) this.drop(id)
    }
  }

  /** After the past day was read. Until then, each end is needed. */
  settle(): void {
    this.#isSettled = true
    this.#trimEnded()
    for (const id of this.#attempts.keys()) if (!this.#waiting.has(id)) this.#attempts.delete(id)
  }

  offer(message: Message, { beat, passedMs }: Pick<Heard, 'beat' | 'passedMs'>): void {
    const { id, position, kinds } = message
    if (this.#ended.has(id) || this.#isGivenUp(message) || !isWanted(this.#webhook, position, kinds)) return
    const known = this.#waiting.get(id)
    this.#waiting.set(id, {
      ...message,
      heardBeat: known?.heardBeat ?? beat,
      heardPassedMs: known?.heardPassedMs ?? passedMs,
      isOwn: message.isOwn || known?.isOwn === true,
    })
    if (this.#waiting.size > waitingMessagesMax) this.#giveUp([...this.#waiting.values()].reduce(older))
  }

  /** It has nothing to say. */
  drop(id: string): void {
    this.#waiting.delete(id)
    this.#attempts.delete(id)
  }

  /** The attempt under way, if it began with this record. */
  claimAt(revision: number): Claim | null {
    return this.open === null || this.open === 'unreadable' || this.open.revision !== revision ? null : this.open
  }

  fold(event: RecordedEvent, heard: Heard): void {
    this.revision = event.revision
    switch (event.type) {
      case 'DeliveryBegun':
        this.open = { ...event.data, revision: event.revision, beganMs: event.recordedAt }
        this.openSinceBeat = heard.beat
        this.#isOurs = event.data.node === this.#node
        if (event.data.of !== null) this.#attempts.set(event.data.messageId, event.data.attempt)
        this.#spend(event.recordedAt, heard)
        return
      case 'DeliveryEnded':
        this.#endMessage(event.data)
        if (event.data.outcome === 'given_up') this.#foldGivenUp(event)
        else this.#foldEnd({ ...event.data, atMs: event.recordedAt }, heard)
        return
      case 'RecordUnreadable':
        this.open = 'unreadable'
        this.openSinceBeat = heard.beat
        return
      default:
    }
  }

  /** The claim of a node that has stopped is over. Its messages are now left to this node. */
  takeOver(beat: number): void {
    this.open = null
    this.#freeSinceBeat = beat
    this.#isOurs = true
  }

  /** 0: not paused. */
  pauseMs(beat: number): number {
    return this.#waiting.size === 0 ? 0 : Math.max(0, this.#waitsToBeat - beat) * heartbeatMs
  }

  /** Fewest attempts first, then the oldest. So a message that always fails does not hold up the others. */
  next({ beat, passedMs }: Heard): Message | null {
    if (beat < this.#waitsToBeat) return null
    // A clock that is set ahead must discard nothing.
    for (const message of this.#waiting.values()) {
      if (passedMs - message.heardPassedMs > messageKeptMs) this.#giveUp(message)
    }
    let next: Waiting | null = null
    for (const message of this.#waiting.values()) {
      if (this.#isTurn(message, beat) && (next === null || this.#isBefore(message, next))) next = message
    }
    return next
  }

  attemptOf(messageId: string): number {
    return (this.#attempts.get(messageId) ?? 0) + 1
  }

  /** What was given up since the last record of that. */
  givenUp(): EventData<'DeliveryEnded'> | null {
    if (this.#dropped === null) return null
    const { messageId, toMs, count } = this.#dropped
    const many = count === 1 ? 'The message was' : `${count} messages were`
    const why = `${many} not delivered within a day, or too many waited.`
    const { webhookId } = this.#webhook
    const attempt = this.attemptOf(messageId)
    // A given-up record can have a time in the future. What waits is not given up with it.
    const keptMs = Math.min(...[...this.#waiting.values()].map(({ recordedAt }) => recordedAt))
    return {
      webhookId,
      messageId,
      attempt,
      outcome: 'given_up',
      status: null,
      answer: null,
      why,
      tookMs: 0,
      givenUpTo: Math.max(0, Math.min(toMs, keptMs - 1)),
    }
  }

  #foldEnd(ended: Ended, { beat, nowMs, chance }: Heard): void {
    const claim = this.open
    if (claim === null || (claim !== 'unreadable' && !isEndOf(ended, claim))) return
    this.open = null
    this.#freeSinceBeat = beat
    if (claim === 'unreadable') return
    this.last = { claim, ended }
    if (ended.outcome === 'delivered') {
      this.failingSinceMs = null
      this.#endPause()
    }
    // A test is not tried again, so it changes no pause.
    if (ended.outcome !== 'failed' || claim.of === null) return
    this.failingSinceMs ??= ended.atMs
    const pauseMs = (pausesMs[Math.min(this.#failures, pausesMs.length - 1)] ?? 0) * (0.9 + chance / 5)
    this.#failures += 1
    const leftMs = Math.min(pauseMs, Math.max(0, ended.atMs + pauseMs - nowMs))
    this.#pausedToBeat = beat + Math.ceil(leftMs / heartbeatMs)
  }

  #endPause(): void {
    this.#failures = 0
    this.#pausedToBeat = 0
  }

  get #waitsToBeat(): number {
    return Math.max(this.#pausedToBeat, this.#spentToBeat + attemptBeats - dayBeats)
  }

  #spend(atMs: number, { beat, nowMs }: Heard): void {
    const agoMs = Math.min(dayMs, Math.max(0, nowMs - atMs))
    this.#spentToBeat = Math.max(this.#spentToBeat, beat - Math.floor(agoMs / heartbeatMs)) + attemptBeats
  }

  #endMessage({ messageId, outcome }: EventData<'DeliveryEnded'>): void {
    if (outcome !== 'delivered' && outcome !== 'given_up') return
    this.drop(messageId)
    this.#ended.add(messageId)
    if (this.#isSettled) this.#trimEnded()
  }

  #foldGivenUp({ position, data: { messageId, givenUpTo = -1 } }: RecordedEvent<'DeliveryEnded'>): void {
    if (givenUpTo >= 0) this.#givenUp = { position, toMs: Math.max(this.#givenUp.toMs, givenUpTo) }
    for (const message of this.#waiting.values()) if (this.#isGivenUp(message)) this.drop(message.id)
    const dropped = this.#dropped
    if (dropped !== null && (dropped.messageId === messageId || dropped.toMs <= givenUpTo)) this.#dropped = null
  }

  #isGivenUp({ position, recordedAt }: Message): boolean {
    return position < this.#givenUp.position && recordedAt <= this.#givenUp.toMs
  }

  #giveUp({ id: messageId, recordedAt }: Message): void {
    this.drop(messageId)
    const { toMs = -1, count = 0 } = this.#dropped ?? {}
    this.#dropped = { messageId, toMs: Math.max(toMs, recordedAt), count: count + 1 }
  }

  /** The nodes take turns, so that they seldom claim one message together. */
  #isTurn({ id, isOwn, heardBeat }: Waiting, beat: number): boolean {
    const isTried = this.#attempts.has(id)
    if (isTried ? this.#isOurs : isOwn) return true
    const since = this.#isOurs ? heardBeat : Math.max(heardBeat, this.#freeSinceBeat, this.#waitsToBeat)
    return (beat - since) * heartbeatMs >= othersFirstMs
  }

  #isBefore(a: Waiting, b: Waiting): boolean {
    return (
      this.attemptOf(a.id) - this.attemptOf(b.id) < 0 ||
      (this.attemptOf(a.id) === this.attemptOf(b.id) && a.position < b.position)
    )
  }

  #trimEnded(): void {
    for (const id of this.#ended) {
      if (this.#ended.size <= endedKeptMax) return
      this.#ended.delete(id)
    }
  }
}

const isEndOf = (ended: Ended, claim: Claim): boolean =>
  ended.messageId === claim.messageId && ended.attempt === claim.attempt

const older = (a: Waiting, b: Waiting): Waiting => (b.position < a.position ? b : a)

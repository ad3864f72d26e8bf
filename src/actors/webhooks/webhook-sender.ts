/**
 * Sends the messages of one webhook. A claim in its stream of deliveries comes before each request, with the exact revision of the
 * stream. So of several nodes only one sends (docs/decisions/037-webhooks.md).
 */
import { type Claim, DeliveryQueue, type Heard, type Message } from '../../domain/attention/delivery-queue.ts'
import type { Delivery, Webhook } from '../../domain/attention/webhook.ts'
import { testBody } from '../../domain/attention/webhook-message.ts'
import type { Decided, EventData, NewEvent, RecordedEvent } from '../../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { deliveriesStream } from '../../domain/stream-names.ts'
import { heartbeatMs } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy, systemAsker } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import { commandRefusalOf } from '../outage-refusals.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'
import { readBack, readFrom } from '../stream/read-stream.ts'
import { deliveryOf } from './delivery-history.ts'
import type { Sent } from './webhook-parts.ts'

/** An attempt ends after 15 s. This is for a bug. */
export const attemptMsMax = 17_000
/** An append that took longer is too near to `takeoverMs` to send after it. */
export const claimMsMax = 15_000
/** Counted by the node that takes over, from when it has known the claim. The other node has begun the claim before, and has ended. */
export const takeoverMs = claimMsMax + attemptMsMax + 3_000
/** A test waits for an attempt under way. */
const testWaitMsMax = 20_000
/** After an outage of the log. */
const outagePauseMs = 5_000

export type SenderParts = {
  readonly node: string
  readonly passedMs: () => number
  readonly send: (sending: {
    readonly webhook: Webhook
    readonly messageId: string
    readonly body: string
    readonly signal: AbortSignal
  }) => Promise<Sent>
  /** @throws Outage */
  readonly bodyOf: (message: Message, webhook: Webhook) => Promise<Body>
}

/** `null`: nothing is left to say. */
export type Body = string | null | { readonly why: string }

type Answer = Outcome<Delivery, CommandRefusal>
type Test = {
  readonly asker: Asker
  readonly sinceBeat: number
  readonly answered: Promise<Answer>
  readonly answer: (answer: Answer) => void
}
type Begun = EventData<'DeliveryBegun'>

export class WebhookSender {
  readonly queue: DeliveryQueue
  readonly #context: ActorContext
  readonly #parts: SenderParts
  readonly #stream: string
  #test: Test | null = null
  #working: Promise<void> | null = null
  #sending: AbortController | null = null
  #outageToBeat = 0
  #isRemoved = false

  constructor(context: ActorContext, webhook: Webhook, parts: SenderParts) {
    this.#context = context
    this.#parts = parts
    this.queue = new DeliveryQueue(webhook, parts.node)
    this.#stream = deliveriesStream(webhook.webhookId)
  }

  get isIdle(): boolean {
    return this.#working === null
  }

  /** Reads the records since that time (ms). @throws Outage */
  async load(sinceMs: number): Promise<void> {
    const newestFirst: RecordedEvent[] = []
    await readBack(this.#context.log, this.#stream, (page) => {
      newestFirst.push(...page)
      return page.every((event) => event.recordedAt < sinceMs)
    })
    for (const event of newestFirst.reverse()) this.#fold(event)
  }

  hear(event: RecordedEvent): void {
    // After a gap, the next claim is a conflict. Then the records in between are read.
    if (event.stream === this.#stream && event.revision === this.queue.revision + 1) this.#fold(event)
  }

  onBeat({ sendsWaiting }: { readonly sendsWaiting: boolean }): void {
    this.#answerOverdueTest()
    if (this.#test === null && !sendsWaiting) return
    this.#working ??= this.#work(sendsWaiting).finally(() => {
      this.#working = null
    })
  }

  /** A second click joins the test under way. */
  test(asker: Asker): Promise<Answer> {
    if (this.#test !== null) return this.#test.answered
    if (this.#context.isStopping) return Promise.resolve(refused({ kind: 'busy' }))
    const { promise: answered, resolve: answer } = Promise.withResolvers<Answer>()
    this.#test = { asker, sinceBeat: this.#context.beat, answered, answer }
    this.onBeat({ sendsWaiting: false })
    return answered
  }

  abort(): void {
    this.#sending?.abort()
    this.#endTest(refused({ kind: 'busy' }))
  }

  remove(): void {
    this.#isRemoved = true
    this.abort()
  }

  /** Why no request may begin any more. */
  get #whyStopped(): string | null {
    if (this.#isRemoved) return 'The webhook was removed.'
    return this.#context.isStopping ? 'The node stopped.' : null
  }

  async #work(sendsWaiting: boolean): Promise<void> {
    try {
      while (await this.#sendNext(sendsWaiting));
    } catch (error) {
      this.#outageToBeat = this.#context.beat + outagePauseMs / heartbeatMs
      if (!(error instanceof Outage)) this.#context.onBug(error)
      this.#endTest(refused(error instanceof Outage ? commandRefusalOf(error) : { kind: 'not_confirmed' }))
    }
  }

  /** False: there is nothing more to do now. */
  async #sendNext(sendsWaiting: boolean): Promise<boolean> {
    const { queue } = this
    if (this.#whyStopped !== null || (this.#test === null && this.#context.beat < this.#outageToBeat)) return false
    if (queue.open !== null) return this.#takeOver()
    if (this.#test !== null) return this.#sendTest(this.#test)
    if (!sendsWaiting) return false
    const message = queue.next(this.#heard())
    if (message === null) return this.#recordGivenUp()
    const body = await this.#bodyOf(message)
    if (body === null) {
      queue.drop(message.id)
      return true
    }
    if (typeof body !== 'string') return this.#giveUp(message, body)
    const { stream, revision } = message
    const begun = this.#begun(message.id, { stream, revision })
    return (await this.#attempt(begun, { body, asker: systemAsker(this.#context) })) !== null
  }

  async #sendTest(test: Test): Promise<boolean> {
    const { entropy, clock } = this.#context
    const begun = this.#begun(`msg_${entropy.uuid()}`, null)
    const delivery = await this.#attempt(begun, { body: testBody(clock.now()), asker: test.asker })
    if (delivery === null) return false
    if (this.#test === test) this.#endTest(done(delivery))
    return true
  }

  async #giveUp({ id: messageId }: Message, { why }: { readonly why: string }): Promise<boolean> {
    const attempt = this.queue.attemptOf(messageId)
    const data = { ...this.#ended({ messageId, attempt }), outcome: 'given_up' as const, why }
    return (await this.#append([{ type: 'DeliveryEnded', data }], systemAsker(this.#context))) !== null
  }

  /** A message that cannot be said must not stop the others. */
  async #bodyOf(message: Message): Promise<Body> {
    try {
      return await this.#parts.bodyOf(message, this.queue.webhook)
    } catch (error) {
      if (error instanceof Outage) throw error
      this.#context.onBug(error)
      return { why: 'Its text cannot be made. The log of the service says why.' }
    }
  }

  /** Of an attempt whose node has stopped. */
  async #takeOver(): Promise<boolean> {
    const { queue } = this
    const { beat, log } = this.#context
    // Without the log, the other node could not record the end.
    if (!log.health().ok) queue.openSinceBeat = beat
    if ((beat - queue.openSinceBeat) * heartbeatMs < takeoverMs) return false
    const { open } = queue
    if (open !== null && open !== 'unreadable') {
      const { messageId, attempt, node } = open
      const why = `Node ${node} stopped before it recorded the end.`
      const end = { ...this.#ended({ messageId, attempt }), outcome: 'unknown' as const, why }
      const record = { type: 'DeliveryEnded' as const, data: end }
      if ((await this.#append([record], systemAsker(this.#context))) === null) return false
    }
    queue.takeOver(beat)
    return true
  }

  /** Its records can wait for the event log for long. A request under way ends soon. */
  #answerOverdueTest(): void {
    const waitedMs = (this.#context.beat - (this.#test?.sinceBeat ?? this.#context.beat)) * heartbeatMs
    if (waitedMs >= testWaitMsMax && this.#sending === null) this.#endTest(refused({ kind: 'busy' }))
  }

  /** `null`: another node has written first. */
  async #attempt(
    begun: Begun,
    { body, asker }: { readonly body: string; readonly asker: Asker },
  ): Promise<Delivery | null> {
    const { passedMs } = this.#parts
    const beganMs = passedMs()
    const givenUp = this.queue.givenUp()
    const revision = await this.#append(
      [
        ...(givenUp === null ? [] : [{ type: 'DeliveryEnded' as const, data: givenUp }]),
        { type: 'DeliveryBegun' as const, data: begun },
      ],
      asker,
    )
    const claim = revision === null ? null : this.queue.claimAt(revision)
    if (claim === null) return null
    const isLate = passedMs() - beganMs > claimMsMax
    const sent = this.#whyStopped !== null || isLate ? lateClaim : await this.#send(claim, body)
    return this.#end(claim, sent, asker)
  }

  async #send({ messageId }: Claim, body: string): Promise<Sent> {
    const { promise, resolve } = Promise.withResolvers<Sent>()
    const sending = new AbortController()
    this.#sending = sending
    const forget = this.#context.schedule.after(attemptMsMax, () => {
      sending.abort()
      resolve(noAnswer)
    })
    const { webhook } = this.queue
    try {
      return await Promise.race([this.#parts.send({ webhook, messageId, body, signal: sending.signal }), promise])
    } finally {
      forget()
      this.#sending = null
    }
  }

  /** Only while the claim is open: a node that has taken it over can be sending. `null`: it is not. */
  async #end(claim: Claim, { status, answer, tookMs, why }: Sent, asker: Asker): Promise<Delivery | null> {
    const isDelivered = status !== null && status >= 200 && status < 300
    // Whether the message has arrived is not known.
    const whyStopped = status === null ? this.#whyStopped : null
    const data = {
      ...this.#ended(claim),
      outcome: isDelivered ? ('delivered' as const) : whyStopped === null ? ('failed' as const) : ('unknown' as const),
      status,
      answer,
      why: isDelivered ? null : (whyStopped ?? why ?? `The answer was ${status}.`),
      tookMs: Math.max(0, Math.round(tookMs)),
    }
    while (this.queue.claimAt(claim.revision) !== null) {
      const revision = await this.#append([{ type: 'DeliveryEnded', data }], asker, { mustFinish: true })
      if (revision !== null) return deliveryOf(claim, { ...data, atMs: this.#context.clock.now() })
    }
    return null
  }

  async #recordGivenUp(): Promise<false> {
    const data = this.queue.pauseMs(this.#context.beat) > 0 ? null : this.queue.givenUp()
    if (data !== null) await this.#append([{ type: 'DeliveryEnded', data }], systemAsker(this.#context))
    return false
  }

  /** The revision of the last record. `null`: another node has written first. @throws Outage */
  async #append(
    records: readonly Decided<'DeliveryBegun' | 'DeliveryEnded'>[],
    asker: Asker,
    { mustFinish } = { mustFinish: false },
  ): Promise<number | null> {
    const { clock, entropy } = this.#context
    const { revision } = this.queue
    const common = { recordedAt: clock.now(), metadata: askedBy(asker) }
    const events = records.map((record): NewEvent => ({ ...record, ...common, id: entropy.uuid() }))
    const append = { stream: this.#stream, expected: revision < 0 ? ('none' as const) : revision, events }
    const result = await appendUntilKnown(this.#context, append, { mustFinish })
    if (result.outcome === 'conflict') {
      await this.#catchUp()
      return null
    }
    for (const event of result.events) this.#fold(event)
    return revision + events.length
  }

  async #catchUp(): Promise<void> {
    await readFrom(this.#context.log, { stream: this.#stream, revision: this.queue.revision + 1 }, (events) => {
      for (const event of events) this.#fold(event)
    })
  }

  #fold(event: RecordedEvent): void {
    if (event.revision > this.queue.revision) this.queue.fold(event, this.#heard())
  }

  #heard(): Heard {
    const { beat, clock } = this.#context
    return { beat, passedMs: this.#parts.passedMs(), nowMs: clock.now(), chance: this.#context.chance() }
  }

  #begun(messageId: string, of: Begun['of']): Begun {
    const { webhookId } = this.queue.webhook
    return { webhookId, messageId, of, attempt: this.queue.attemptOf(messageId), node: this.#parts.node }
  }

  #ended({ messageId, attempt }: Pick<Begun, 'messageId' | 'attempt'>) {
    const { webhookId } = this.queue.webhook
    return { webhookId, messageId, attempt, status: null, answer: null, tookMs: 0 }
  }

  #endTest(answer: Answer): void {
    this.#test?.answer(answer)
    this.#test = null
  }
}

const noAnswer: Sent = { status: null, answer: null, why: 'There was no answer in time.', tookMs: attemptMsMax }
const lateClaim: Sent = { ...noAnswer, why: 'The event log was too slow, so nothing was sent.', tookMs: 0 }

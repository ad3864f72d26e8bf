import { type Message, messageKeptMs } from '../../domain/attention/delivery-queue.ts'
import type { Delivery, Webhook, WebhookStatus } from '../../domain/attention/webhook.ts'
import { messageBody } from '../../domain/attention/webhook-message.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { isRun, type LogItem } from '../../domain/reading/recorded-run.ts'
import { type CommandRefusal, type Outcome, refused } from '../../domain/refusal.ts'
import { attentionStream, nodesAttentionStream } from '../../domain/stream-names.ts'
import { heartbeatMs } from '../../limits.ts'
import { DamagedLog, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import type { AttentionRecords } from '../attention/attention-records.ts'
import type { Asker, CoreFigures, Webhooks } from '../core-interface.ts'
import { emptyIfDamaged, readBack } from '../stream/read-stream.ts'
import { deliveryOf } from './delivery-history.ts'
import type { OpenedMaster, WebhookParts } from './webhook-parts.ts'
import { type Body, type SenderParts, WebhookSender } from './webhook-sender.ts'
import { WebhookSettings } from './webhook-settings.ts'

/** After an outage of the log. */
const loadEveryMs = 5_000
const masterEveryBeats = 10_000 / heartbeatMs

type Parts = {
  /** `null`: this process has no webhooks. */
  readonly parts: WebhookParts | null
  readonly records: AttentionRecords
  readonly passedMs: () => number
}

export class WebhookDeliveries {
  readonly settings: WebhookSettings
  readonly parts: WebhookParts | null
  readonly #context: ActorContext
  readonly #records: AttentionRecords
  readonly #passedMs: () => number
  readonly #senders = new Map<string, WebhookSender>()
  /** Ids of webhooks whose deliveries cannot be read. The others go on. */
  readonly #damaged = new Set<string>()
  #master: { readonly opened: OpenedMaster; readonly beat: number } | null = null
  #loading: Promise<void> | null = null
  #isLoaded = false

  constructor(context: ActorContext, { parts, records, passedMs }: Parts) {
    this.#context = context
    this.parts = parts
    this.#records = records
    this.#passedMs = passedMs
    this.settings = new WebhookSettings(context, (webhookId) => this.#onChange(webhookId))
  }

  get isIdle(): boolean {
    return this.settings.isIdle && [...this.#senders.values()].every((sender) => sender.isIdle)
  }

  /** @throws Outage */
  async load(): Promise<void> {
    if (this.#isLoaded) return
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null
    })
    await this.#loading
  }

  status(webhookId: string): WebhookStatus {
    const sender = this.#senders.get(webhookId)
    if (sender === undefined) return noStatus
    const { queue } = sender
    const { waiting, failingSinceMs, open, last, webhook } = queue
    const { beat, clock } = this.#context
    const pauseMs = queue.pauseMs(beat)
    const lastEnded = last === null ? null : deliveryOf(last.claim, last.ended)
    const why = this.#whyNot(webhook)
    const delivery = open === null || open === 'unreadable' ? lastEnded : deliveryOf(open, null)
    return {
      state: stateOf({ why, failingSinceMs, last: delivery }),
      waiting,
      failingSinceMs,
      nextTryMs: pauseMs === 0 ? null : clock.now() + pauseMs,
      last: delivery,
      why,
    }
  }

  figures(): CoreFigures['webhooks'] {
    const queues = [...this.#senders.values()].map(({ queue }) => queue)
    const failing = queues.filter((queue) => queue.failingSinceMs !== null || !this.#sendsTo(queue.webhook)).length
    return { waiting: queues.reduce((sum, { waiting }) => sum + waiting, 0), failing }
  }

  /** For a new webhook. Without the master of the others, a new one would leave their messages unsent without a word. */
  masterToMake(): OpenedMaster {
    return this.#open({ mayMake: this.settings.list().length === 0 })
  }

  /** Asked in each heartbeat. So a file that is missing, or another one, is read again only now and then. */
  secretOf({ webhookId, masterId }: Webhook): ReturnType<Webhooks['secretOf']> {
    const known = this.#master
    const isRight = known !== null && 'id' in known.opened && known.opened.id === masterId
    const isNew = known !== null && this.#context.beat - known.beat < masterEveryBeats
    const opened = isRight || isNew ? known.opened : this.#open({ mayMake: false })
    if ('why' in opened) return opened
    return opened.id === masterId ? { secret: opened.secretOf(webhookId) } : { why: otherMaster }
  }

  #open(how: { readonly mayMake: boolean }): OpenedMaster {
    const opened = this.parts?.master(how) ?? noParts
    this.#master = { opened, beat: this.#context.beat }
    return opened
  }

  test(webhookId: string, asker: Asker): Promise<Outcome<Delivery, CommandRefusal>> {
    const sender = this.#senders.get(webhookId)
    if (sender === undefined) return Promise.resolve(refused({ kind: 'webhook_not_found' }))
    const why = this.#whyNot(sender.queue.webhook)
    return why === null ? sender.test(asker) : Promise.resolve(refused({ kind: 'no_webhook_secret', why }))
  }

  /** Why this node sends nothing to it, as a sentence. `null`: it does. */
  #whyNot(webhook: Webhook): string | null {
    if (this.#damaged.has(webhook.webhookId)) return damagedDeliveries
    const secret = this.secretOf(webhook)
    return 'why' in secret ? secret.why : null
  }

  #sendsTo(webhook: Webhook): boolean {
    return this.#isLoaded && this.parts?.sendsWaiting === true && this.#whyNot(webhook) === null
  }

  hear(items: readonly LogItem[]): void {
    for (const item of items) {
      if (isRun(item)) continue
      this.settings.hear(item)
      if (item.type === 'AttentionChanged') this.#offer(item, { isOwn: false })
      else for (const sender of this.#senders.values()) sender.hear(item)
    }
  }

  /** This node has written it. */
  written(event: RecordedEvent<'AttentionChanged'>): void {
    this.#offer(event, { isOwn: true })
  }

  onBeat(overdue: number): void {
    this.settings.answerOverdue(overdue)
    const { beat } = this.#context
    // A command that needs webhooks loads them by itself.
    if (!this.#isLoaded && this.parts?.sendsWaiting === true && beat % (loadEveryMs / heartbeatMs) === 1)
      void this.load().catch((error) => this.#report(error))
    for (const sender of this.#senders.values()) sender.onBeat({ sendsWaiting: this.#sendsTo(sender.queue.webhook) })
  }

  abort(): void {
    for (const sender of this.#senders.values()) sender.abort()
  }

  stop(): void {
    this.abort()
    this.settings.stop()
  }

  async #load(): Promise<void> {
    await this.settings.load()
    await this.#records.loadRests()
    const sinceMs = this.#context.clock.now() - messageKeptMs
    for (const [webhookId, sender] of this.#senders) {
      await sender.load(sinceMs).catch((error) => {
        if (!(error instanceof DamagedLog)) throw error
        this.#damaged.add(webhookId)
      })
    }
    if (this.#senders.size > 0) for (const stream of this.#attentionStreams()) await this.#readDay(stream, sinceMs)
    for (const sender of this.#senders.values()) sender.queue.settle()
    this.#isLoaded = true
  }

  #attentionStreams(): readonly string[] {
    const cellars = this.#context.projections.cellars.list()
    return [nodesAttentionStream, ...cellars.map(({ cellar }) => attentionStream(cellar))]
  }

  async #readDay(stream: string, sinceMs: number): Promise<void> {
    await readBack(this.#context.log, stream, (page) => {
      for (const event of page) if (event.type === 'AttentionChanged') this.#offer(event, { isOwn: false })
      return page.every(({ recordedAt }) => recordedAt < sinceMs)
    }).catch(emptyIfDamaged)
  }

  #offer(event: RecordedEvent<'AttentionChanged'>, { isOwn }: { readonly isOwn: boolean }): void {
    const nowMs = this.#context.clock.now()
    const { id, stream, revision, position, recordedAt, data } = event
    // A start can read the whole log again.
    if (this.#senders.size === 0 || recordedAt < nowMs - messageKeptMs) return
    const kinds = new Set([...data.began, ...data.ended].map(({ kind }) => kind))
    const message = { id: `msg_${id}`, stream, revision, position, recordedAt, kinds, isOwn }
    const heard = { beat: this.#context.beat, passedMs: this.#passedMs() }
    for (const { queue } of this.#senders.values()) queue.offer(message, heard)
  }

  #onChange(webhookId: string): void {
    const webhook = this.settings.get(webhookId)
    const sender = this.#senders.get(webhookId)
    if (webhook === null) {
      sender?.remove()
      this.#senders.delete(webhookId)
    } else if (sender !== undefined) sender.queue.change(webhook)
    else {
      const made = new WebhookSender(this.#context, webhook, this.#senderParts)
      // A new webhook has no past to read.
      if (this.#isLoaded) made.queue.settle()
      this.#senders.set(webhookId, made)
    }
  }

  get #senderParts(): SenderParts {
    return {
      node: this.parts?.node ?? '',
      passedMs: this.#passedMs,
      send: async ({ webhook, ...sending }) => {
        const secret = this.secretOf(webhook)
        if ('why' in secret || this.parts === null) throw new Error('Cannot send to a webhook without its secret')
        const { url } = webhook
        return this.parts.send({ ...sending, ...secret, url, atMs: this.#context.clock.now() })
      },
      bodyOf: (message, webhook) => this.#bodyOf(message, webhook),
    }
  }

  async #bodyOf({ stream, revision }: Message, { kinds }: Webhook): Promise<Body> {
    const page = await this.#context.log.read(stream, { from: revision, limit: 1 }).catch(emptyIfDamaged)
    const [event] = page
    if (event?.type !== 'AttentionChanged' || event.revision !== revision || this.parts === null)
      return { why: 'Its record was deleted, or cannot be read.' }
    const { data, recordedAt } = event
    const { wordsOf } = this.parts
    const { cellars, keys } = this.#context.projections
    return messageBody({
      recordedAt,
      data,
      kinds,
      isAtRest: (line) => this.#records.isAtRest(data.cellar, line, recordedAt),
      wordsOf: (line) => wordsOf(line, keys.get(line.keyId ?? '')?.label ?? null),
      cellarTitle: cellars.get(data.cellar ?? '')?.title ?? data.cellar ?? '',
    })
  }

  #report(error: unknown): void {
    if (!(error instanceof Outage)) this.#context.onBug(error)
  }
}

const stateOf = (known: Pick<WebhookStatus, 'why' | 'failingSinceMs' | 'last'>): WebhookStatus['state'] => {
  if (known.why !== null) return 'not sending'
  if (known.failingSinceMs !== null) return 'failing'
  if (known.last === null) return 'not used yet'
  switch (known.last.ended?.outcome) {
    case 'failed':
      return 'test failed'
    case 'unknown':
      return 'not known'
    default:
      return 'works'
  }
}

const noStatus: WebhookStatus = {
  state: 'not used yet',
  waiting: 0,
  failingSinceMs: null,
  nextTryMs: null,
  last: null,
  why: null,
}

const noParts = { why: 'Only the running service has the secrets of webhooks.' }

const otherMaster =
  'This node has another webhook-master file than the node that made this webhook. Restore that file, or make a new webhook.'

const damagedDeliveries =
  'The deliveries of this webhook cannot be read, because the event log is damaged. Make a new webhook in its place.'

/** Nodes that send messages to webhooks, with a receiver and timers that the test drives. */
import { askedBy } from '../../../src/actors/asked-by.ts'
import type { Sending, Sent, WebhookParts } from '../../../src/actors/webhooks/webhook-parts.ts'
import type { AttentionLine, LineScope } from '../../../src/domain/attention/attention-lines.ts'
import type { Webhook } from '../../../src/domain/attention/webhook.ts'
import type { NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import { eventsOfItems, type LogItem } from '../../../src/domain/reading/recorded-run.ts'
import { attentionRestsStream, attentionStream, deliveriesStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from '../logs/passing-log.ts'
import { asker, Cluster, cellar, type TestNode } from '../two-nodes.ts'

export const ok: Sent = { status: 200, answer: 'thanks', why: null, tookMs: 12 }
export const broken: Sent = { status: 500, answer: 'oh', why: null, tookMs: 12 }

export type Request = Sending & { readonly node: string; readonly atMs: number }

export type WebhookNode = TestNode & { readonly name: string }

/** `answer` decides what the receiver answers. A promise that stays pending is a receiver that never answers. */
export class WebhookCluster {
  readonly cluster = new Cluster()
  readonly requests: Request[] = []
  readonly nodes: WebhookNode[] = []
  /** False for a node that hears late of the records of others. */
  deliversTo: (node: WebhookNode) => boolean = () => true
  /** True for a log like EventStoreDB. SQLite publishes records before it answers the append. */
  answersFirst = false
  answer: (request: Request) => Promise<Sent> = async () => ok
  /** The most requests at one time, without those of killed nodes. */
  mostAtOnce = 0
  readonly #underWay = new Set<Request>()
  #lines = 0

  async open(name: string, parts: Partial<WebhookParts> = {}, log = this.cluster.log): Promise<WebhookNode> {
    const webhooks: WebhookParts = {
      node: name,
      sendsWaiting: true,
      master: () => ({ id: 'master01', secretOf: (webhookId) => `whsec_${webhookId}` }),
      send: (sending) => this.#send({ ...sending, node: name, atMs: this.cluster.clock.now() }),
      wordsOf: ({ kind, rack }) => `${kind} ${rack ?? ''}`.trim(),
      ...parts,
    }
    let node: WebhookNode | null = null
    const ordered: EventLog = {
      ...passingLog(log),
      append: async (...args) => {
        const result = await log.append(...args)
        if (node !== null && !this.answersFirst && this.deliversTo(node)) node.late.deliver()
        return result
      },
    }
    node = { ...(await this.cluster.open({ webhooks }, ordered)), name }
    this.nodes.push(node)
    return node
  }

  /** As if its process was killed: it neither sends nor hears any more. */
  kill(node: WebhookNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1)
    node.faults.goAway()
    for (const request of this.#underWay) if (request.node === node.name) this.#underWay.delete(request)
  }

  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += heartbeatMs) {
      this.cluster.clock.advance(heartbeatMs)
      for (const node of this.nodes) {
        if (this.deliversTo(node)) node.late.deliver()
        await node.schedule.advance(heartbeatMs)
      }
    }
  }

  async set(node: WebhookNode, input: Partial<Pick<Webhook, 'kinds' | 'url'>> = {}): Promise<Webhook> {
    if (node.core.projections.cellars.get(cellar) === null) {
      await node.schedule.until(node.core.cellars.create({ cellar, title: '' }, asker))
    }
    const count = node.core.webhooks.list().length
    const url = `https://example.org/hook${count === 0 ? '' : count + 1}`
    const wanted = { webhookId: null, url, kinds: [], ...input }
    const made = await node.schedule.until(node.core.webhooks.set(wanted, asker))
    if (!made.ok) throw new Error(`Cannot make a webhook for a test: ${made.refusal.kind}`)
    return made.value
  }

  /** Appends a record as a node that watches would. */
  async record(began: readonly Partial<AttentionLine>[] = [{}], ended: readonly Partial<AttentionLine>[] = []) {
    const { log, clock } = this.cluster
    const stream = attentionStream(cellar)
    const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
    const lineOf = (line: Partial<AttentionLine>): AttentionLine => {
      this.#lines += 1
      const rack = (line.kind ?? 'silent') === 'silent' ? { rack: `rack-${this.#lines}` } : {}
      return { kind: 'silent', sinceMs: clock.now(), ...rack, ...line }
    }
    const event: NewEvent<'AttentionChanged'> = {
      id: this.cluster.newId(),
      type: 'AttentionChanged',
      recordedAt: clock.now(),
      data: { cellar, began: began.map(lineOf), ended: ended.map(lineOf), now: [], more: 0 },
      metadata: askedBy({ by: { kind: 'system' }, requestId: 'test' }),
    }
    await log.append(stream, last?.revision ?? 'none', [event])
    return `msg_${event.id}`
  }

  async restLine(line: LineScope, untilMs: number): Promise<void> {
    const data = { cellar, ...line, untilMs }
    const rest: NewEvent<'AttentionRested'> = {
      id: this.cluster.newId(),
      type: 'AttentionRested',
      recordedAt: this.cluster.clock.now(),
      data,
      metadata: askedBy(asker),
    }
    await this.cluster.log.append(attentionRestsStream, 'none', [rest])
    await this.pass(heartbeatMs)
  }

  async deliveries({ webhookId }: Webhook): Promise<readonly RecordedEvent[]> {
    return this.cluster.log.read(deliveriesStream(webhookId), { limit: 1_000 })
  }

  /** Like `rack-1 by first`, or the id of the message of a test. */
  get sent(): readonly string[] {
    return this.requests.map(({ messageId }) => messageId)
  }

  async #send(request: Request): Promise<Sent> {
    this.requests.push(request)
    this.#underWay.add(request)
    request.signal.addEventListener('abort', () => this.#underWay.delete(request))
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay.size)
    try {
      return await this.answer(request)
    } finally {
      this.#underWay.delete(request)
    }
  }
}

/** `null` leaves an event out. */
export const changedBy = (log: EventLog, change: (event: RecordedEvent) => RecordedEvent | null): EventLog => {
  const changed = (events: readonly RecordedEvent[]) => events.flatMap((event) => change(event) ?? [])
  return {
    ...passingLog(log),
    read: async (name, options) => changed(await log.read(name, options)),
    subscribe: (options, subscriber) => {
      const onEvents = (items: readonly LogItem[]) => subscriber.onEvents(changed(eventsOfItems(items)))
      return log.subscribe(options, { ...subscriber, onEvents })
    },
  }
}

/** Its subscription has no records up to that position, as after a start from a checkpoint. */
export const fromCheckpoint = (log: EventLog, position: number): EventLog => ({
  ...changedBy(log, (event) => (event.stream.startsWith('attention') && event.position <= position ? null : event)),
  read: (...args) => log.read(...args),
})

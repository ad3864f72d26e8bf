import { type Webhook, webhookAfter } from '../../domain/attention/webhook.ts'
import type { Decided, NewEvent, RecordedEvent } from '../../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { webhooksStream } from '../../domain/stream-names.ts'
import { conflictRetriesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'
import { readFrom } from '../stream/read-stream.ts'
import { SerialCommands } from '../stream/serial-commands.ts'

type Decide = () => Outcome<Decided<'WebhookSet' | 'WebhookRemoved'>, CommandRefusal>

/** A record that this version cannot read is passed over. So the others still work. */
export class WebhookSettings extends SerialCommands {
  /** In order of their first record. `null`: it was removed. */
  readonly #webhooks = new Map<string, Webhook | null>()
  #revision = -1
  /** Reads must not mix: a later page would come before an earlier one. */
  #loading: Promise<void> | null = null
  readonly #onChange: (webhookId: string) => void

  constructor(context: ActorContext, onChange: (webhookId: string) => void) {
    super(context)
    this.#onChange = onChange
  }

  list(): readonly Webhook[] {
    return [...this.#webhooks.values()].filter((webhook) => webhook !== null)
  }

  get(webhookId: string): Webhook | null {
    return this.#webhooks.get(webhookId) ?? null
  }

  /** Also of removed webhooks. */
  get everyId(): readonly string[] {
    return [...this.#webhooks.keys()]
  }

  /** Reads what is new. @throws Outage */
  load(): Promise<void> {
    this.#loading ??= readFrom(this.context.log, { stream: webhooksStream, revision: this.#revision + 1 }, (events) => {
      for (const event of events) this.hear(event)
    })
      .then(() => {})
      .finally(() => {
        this.#loading = null
      })
    return this.#loading
  }

  hear(event: RecordedEvent): void {
    // After a gap, `load` must read the records in between.
    if (event.stream !== webhooksStream || event.revision !== this.#revision + 1) return
    this.#revision = event.revision
    if (event.type !== 'WebhookSet' && event.type !== 'WebhookRemoved') return
    const { webhookId } = event.data
    this.#webhooks.set(webhookId, event.type === 'WebhookSet' ? webhookAfter(this.get(webhookId), event) : null)
    this.#onChange(webhookId)
  }

  /** After a conflict with another node, decides again with the newer settings. */
  change(decide: Decide, asker: Asker): Promise<Outcome<null, CommandRefusal>> {
    return this.ask(async () => {
      for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
        await this.load()
        const decided = decide()
        if (!decided.ok) return decided
        if (await this.#append(decided.value, asker)) return done(null)
      }
      return refused({ kind: 'busy' })
    })
  }

  async #append(decided: Decided<'WebhookSet' | 'WebhookRemoved'>, asker: Asker): Promise<boolean> {
    const { clock, entropy } = this.context
    const event: NewEvent = { ...decided, id: entropy.uuid(), recordedAt: clock.now(), metadata: askedBy(asker) }
    const expected = this.#revision < 0 ? ('none' as const) : this.#revision
    const append = { stream: webhooksStream, expected, events: [event] }
    const result = await appendUntilKnown(this.context, append, { mustFinish: false })
    if (result.outcome === 'conflict') return false
    for (const recorded of result.events) this.hear(recorded)
    return true
  }
}

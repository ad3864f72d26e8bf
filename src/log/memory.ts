import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { readPageEventsMax } from '../limits.ts'
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
} from './event-log.ts'
import { assertPage, assertStorable, recordRun } from './storable.ts'
import { type Scan, Subscriptions } from './subscriptions.ts'

/** A log that lives as long as the process. For tests: it keeps the port's every promise but durability. */
export const createMemoryLog = (): EventLog => new MemoryLog()

class MemoryLog implements EventLog {
  /** The event at position p lies at index p - 1. */
  readonly #all: RecordedEvent[] = []
  /** The event at revision r lies at index r. */
  readonly #streams = new Map<string, RecordedEvent[]>()
  readonly #subscriptions = new Subscriptions((after, wants) => this.#scan(after, wants))
  #isClosed = false

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    this.#assertOpen(`append to "${stream}"`)
    assertStorable(stream, events)
    // In a turn of its own, so that an append made inside a subscriber is not delivered before what it answers.
    await Promise.resolve()

    const before = this.#streams.get(stream) ?? []
    const revision = expected === 'none' ? 0 : expected + 1
    if (revision !== before.length) {
      const there = before.slice(revision, revision + events.length)
      const isSame = there.length === events.length && events.every((event, index) => event.id === there[index]?.id)
      if (isSame) return { outcome: 'already_written', events: there }
      return { outcome: 'conflict', currentRevision: before.length === 0 ? null : before.length - 1 }
    }

    const recorded = recordRun(stream, events, { revision, position: this.#all.length + 1 })
    before.push(...recorded)
    this.#streams.set(stream, before)
    this.#all.push(...recorded)
    this.#subscriptions.publish(recorded)
    return { outcome: 'written', events: recorded }
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen(`read "${stream}"`)
    assertPage(options.limit)
    const events = this.#streams.get(stream) ?? []
    if (options.direction !== 'backwards') return slice(events, options.from ?? 0, options.limit)
    return sliceBackwards(events, options.from ?? events.length - 1, options.limit)
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen('read')
    assertPage(options.limit)
    if (options.direction !== 'backwards') return slice(this.#all, options.from ?? 0, options.limit)
    return sliceBackwards(this.#all, (options.from ?? this.#all.length + 1) - 2, options.limit)
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertOpen('subscribe')
    return this.#subscriptions.subscribe(options, subscriber)
  }

  health(): LogHealth {
    return this.#isClosed ? { ok: false, why: 'the log is closed' } : { ok: true }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // Those appended before this line run first: they took their turn earlier.
    await Promise.resolve()
    this.#subscriptions.dropAll(new Outage('The log was closed', 'not_written', 'closed'))
  }

  #scan(after: number | null, wants: (stream: string) => boolean): Scan {
    const events = slice(this.#all, after ?? 0, readPageEventsMax)
    const scannedTo = events.at(-1)?.position ?? after
    return {
      events: events.filter((event) => wants(event.stream)),
      scannedTo,
      atEnd: (scannedTo ?? 0) >= this.#all.length,
    }
  }

  #assertOpen(action: string): void {
    if (this.#isClosed) throw new Outage(`Cannot ${action}: the log is closed`, 'not_written', 'closed')
  }
}

const slice = (events: readonly RecordedEvent[], from: number, limit: number): readonly RecordedEvent[] =>
  events.slice(from, from + limit)

const sliceBackwards = (events: readonly RecordedEvent[], from: number, limit: number): readonly RecordedEvent[] => {
  const to = Math.min(from + 1, events.length)
  return to < 1 ? [] : events.slice(Math.max(0, to - limit), to).reverse()
}

import type { RecordedEvent } from '../../../src/domain/events.ts'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { categoryOf, isRecordStream } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
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
import {
  assertPage,
  assertStorable,
  assertTruncatable,
  eventsToAppend,
  recordedAs,
  recordedEvents,
} from '../../../src/log/storable.ts'
import { type Scan, Subscriptions, type Wants } from '../../../src/log/subscriptions.ts'

/** Keeps every promise of `EventLog`, but is lost when the process ends. */
export const createMemoryLog = (): EventLog => new MemoryLog()

type Stream = {
  /** The event at revision r is at index r - `keptFrom`, because truncated events are removed from the front. */
  events: RecordedEvent[]
  keptFrom: number
}

class MemoryLog implements EventLog {
  /** The events in order of their positions. */
  #all: RecordedEvent[] = []
  readonly #streams = new Map<string, Stream>()
  readonly #subscriptions = new Subscriptions((after, wants) => this.#scan(after, wants))
  #isClosed = false

  async append(stream: string, expected: ExpectedRevision, toAppend: ToAppend): Promise<AppendResult> {
    this.#assertOpen(`append to "${stream}"`)
    assertStorable(stream, toAppend)
    const events = eventsToAppend(toAppend)
    // A subscriber may append while it gets events. The new events must come after the current ones, so this append
    // waits.
    await Promise.resolve()

    const before = this.#stream(stream)
    const nextRevision = before.keptFrom + before.events.length
    const revision = expected === 'none' ? 0 : expected + 1
    if (revision !== nextRevision) {
      const there = revision < before.keptFrom ? [] : slice(before.events, revision - before.keptFrom, events.length)
      const isSame = there.length === events.length && events.every((event, index) => event.id === there[index]?.id)
      if (isSame) return { outcome: 'already_written', events: there }
      return { outcome: 'conflict', currentRevision: nextRevision === 0 ? null : nextRevision - 1 }
    }

    const place = { revision, position: (this.#all.at(-1)?.position ?? 0) + 1 }
    const recorded = recordedEvents(stream, events, place)
    before.events.push(...recorded)
    this.#streams.set(stream, before)
    this.#all.push(...recorded)
    const items = toAppend instanceof ReadingRun ? recordedAs(stream, toAppend, place) : recorded
    this.#subscriptions.publish(items, { hasRecords: isRecordStream(stream) })
    if (toAppend instanceof ReadingRun) toAppend.giveBack()
    return { outcome: 'written', events: toAppend instanceof ReadingRun ? [] : recorded }
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen(`read "${stream}"`)
    assertPage(options.limit)
    const { events, keptFrom } = this.#stream(stream)
    if (options.direction === 'backwards') {
      return sliceBackwards(events, (options.from ?? Number.MAX_SAFE_INTEGER) - keptFrom + 1, options.limit)
    }
    return slice(events, Math.max(0, (options.from ?? 0) - keptFrom), options.limit)
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen('read')
    assertPage(options.limit)
    if (options.direction === 'backwards') {
      return sliceBackwards(this.#all, this.#indexFrom(options.from ?? Number.MAX_SAFE_INTEGER), options.limit)
    }
    return slice(this.#all, this.#indexFrom((options.from ?? 0) + 1), options.limit)
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertOpen('subscribe')
    return this.#subscriptions.subscribe(options, subscriber)
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.#assertOpen(`truncate "${stream}"`)
    const truncated = this.#stream(stream)
    assertTruncatable(stream, before, truncated.keptFrom + truncated.events.length)
    if (before <= truncated.keptFrom) return
    truncated.events = truncated.events.slice(before - truncated.keptFrom)
    truncated.keptFrom = before
    this.#all = this.#all.filter((event) => event.stream !== stream || event.revision >= before)
  }

  health(): LogHealth {
    return this.#isClosed ? { ok: false, why: 'the log is closed' } : { ok: true }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // Appends wait one microtask, so `close` waits too, and earlier appends come first.
    await Promise.resolve()
    this.#subscriptions.dropAll(new Outage('The log was closed', 'not_written', 'closed'))
  }

  #scan(after: number | null, wants: Wants): Scan {
    const events = slice(this.#all, this.#indexFrom((after ?? 0) + 1), readPageEventsMax)
    const scannedTo = events.at(-1)?.position ?? after
    return {
      events: events.filter((event) => wants(categoryOf(event.stream))),
      scannedTo,
      atEnd: (scannedTo ?? 0) >= (this.#all.at(-1)?.position ?? 0),
    }
  }

  #stream(name: string): Stream {
    return this.#streams.get(name) ?? { events: [], keptFrom: 0 }
  }

  /** The index of the first event at the position or after it. */
  #indexFrom(position: number): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#all[middle]?.position ?? position) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  #assertOpen(action: string): void {
    if (this.#isClosed) throw new Outage(`Cannot ${action}: the log is closed`, 'not_written', 'closed')
  }
}

const slice = (events: readonly RecordedEvent[], from: number, limit: number): RecordedEvent[] =>
  events.slice(from, from + limit)

const sliceBackwards = (events: readonly RecordedEvent[], before: number, limit: number): RecordedEvent[] => {
  const to = Math.min(before, events.length)
  return to < 1 ? [] : events.slice(Math.max(0, to - limit), to).reverse()
}

import type { By, EventData, EventType, RecordedEvent } from '../../src/domain/events.ts'

export type Draft = { [K in EventType]: { readonly type: K; readonly data: EventData<K> } }[EventType]

/** Gives events the ids, revisions and positions that a log would give. By default they are one second apart. */
export class Recorder {
  readonly events: RecordedEvent[] = []
  readonly #revisions = new Map<string, number>()

  constructor(readonly startMs = Date.UTC(2026, 2, 1, 12)) {}

  record(stream: string, draft: Draft, options: { readonly at?: number; readonly by?: By } = {}): RecordedEvent {
    const revision = (this.#revisions.get(stream) ?? -1) + 1
    const number = this.events.length + 1
    const event: RecordedEvent = {
      ...draft,
      id: `event-${number}`,
      stream,
      revision,
      position: number,
      recordedAt: options.at ?? this.startMs + number * 1_000,
      metadata: {
        by: options.by ?? { kind: 'cli' },
        requestId: `request-${number}`,
        correlationId: `request-${number}`,
        causationId: `request-${number}`,
      },
    }
    this.#revisions.set(stream, revision)
    this.events.push(event)
    return event
  }
}

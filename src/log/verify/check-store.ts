import type { RecordedEvent } from '../../domain/events.ts'
import { readPageEventsMax } from '../../limits.ts'
import { type EventLog, UndecodableEvent } from '../event-log.ts'
import { type CheckResult, Findings } from './damage-kinds.ts'

/**
 * EventStoreDB keeps checksums itself. Each event must be readable, and revisions consecutive but for truncated events.
 * Nobody can read past an unreadable event, so the check ends there. @throws Outage
 */
export const checkStore = async (
  log: EventLog,
  onProgress: (seen: { readonly events: number; readonly share: number }) => void,
): Promise<CheckResult> => {
  const findings = new Findings()
  const order = new StoreOrder(log, findings)
  try {
    const end = await endOf(log)
    for await (const page of readablePages(log)) {
      for (const event of page) await order.check(event)
      const at = page.at(-1)?.position ?? 0
      onProgress({ events: order.events, share: end === 0 ? 1 : Math.min(1, at / end) })
      if (at >= end) break
    }
  } catch (cause) {
    if (!(cause instanceof UndecodableEvent)) throw cause
    const { stream, revision, type, why } = cause
    findings.add('undecodable', { stream, revision }, `cannot decode ${type}: ${why}. Events after it were not checked`)
  }
  const { events, streams } = order
  return { rows: null, events, streams, first: findings.first, counts: findings.counts }
}

/** The last position. If the last event is unreadable, a number after every position. */
const endOf = async (log: EventLog): Promise<number> => {
  try {
    const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
    return last?.position ?? 0
  } catch (cause) {
    if (!(cause instanceof UndecodableEvent)) throw cause
    return Number.MAX_SAFE_INTEGER
  }
}

/** The pages get smaller before an unreadable event, so that all events before it are checked. @throws UndecodableEvent */
async function* readablePages(log: EventLog): AsyncGenerator<readonly RecordedEvent[]> {
  let limit = readPageEventsMax
  let from: number | null = null
  while (true) {
    try {
      const page: readonly RecordedEvent[] = await log.readAll({ ...(from === null ? {} : { from }), limit })
      const last = page.at(-1)
      if (last === undefined) return
      yield page
      from = last.position
    } catch (cause) {
      if (!(cause instanceof UndecodableEvent) || limit === 1) throw cause
      limit = Math.floor(limit / 2)
    }
  }
}

class StoreOrder {
  readonly #log: EventLog
  readonly #findings: Findings
  readonly #next = new Map<string, number>()
  #position = -1
  events = 0

  constructor(log: EventLog, findings: Findings) {
    this.#log = log
    this.#findings = findings
  }

  get streams(): number {
    return this.#next.size
  }

  async check({ stream, revision, position, type, data }: RecordedEvent): Promise<void> {
    this.events += 1
    const place = { stream, revision, position }
    if (position <= this.#position) this.#findings.add('order', place, 'two events have the same position')
    this.#position = position
    const next = this.#next.get(stream) ?? 0
    if (revision < next) this.#findings.add('order', place, 'two events have the same revision')
    else if (revision > next && !(await this.#isTruncated(stream, revision))) {
      const why = `the events up to revision ${revision - 1} are missing`
      this.#findings.add('missing', { ...place, revision: next }, why)
    }
    this.#next.set(stream, revision + 1)
    if (type === 'RecordUnreadable') this.#findings.add('undecodable', place, data.why)
  }

  async #isTruncated(stream: string, revision: number): Promise<boolean> {
    const [first] = await this.#log.read(stream, { limit: 1 })
    return first !== undefined && revision <= first.revision
  }
}

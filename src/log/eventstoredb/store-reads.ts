import type { RecordedEvent } from '../../domain/events.ts'
import { readPageEventsMax } from '../../limits.ts'
import { Outage, type Reached, type ReadAllOptions, type ReadOptions, StillSearching } from '../event-log.ts'
import { callFaultOf } from './call-faults.ts'
import type { Connection } from './connection.ts'
import { eventStoreReadMsMax } from './eventstoredb-bounds.ts'
import * as requests from './requests.ts'
import type { Link } from './store-link.ts'
import type { StreamNames } from './store-streams.ts'
import type { StoredEvent } from './stored-events.ts'
import type { Truncations } from './truncation.ts'

/** EventStoreDB can skip millions of events silently; pings show that it runs. */
const eventStoreScanMsMax = 600_000
/** Scans that nobody waits for. Each keeps a thread of EventStoreDB busy. */
export const storeScansKeptMax = 4

export type Reads = {
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  /** With the prefix from the settings. */
  readLast(streamName: string): Promise<StoredEvent | null>
}

export type ReadParts = {
  readonly names: StreamNames
  readonly truncations: Truncations
  /** `null`: no subscription has delivered an event. */
  reachedBySubscription(): Reached | null
  decode(stored: StoredEvent): RecordedEvent
}

/** From the leader: other servers can lack the newest events. @throws Outage, UndecodableEvent */
export const createReads = (connection: Connection, parts: ReadParts): Reads => {
  const { names, decode } = parts
  const fromLeader = async <T>(what: string, read: (link: Link) => Promise<T>): Promise<T> => {
    const { link } = connection
    if (link === null) throw away(what, connection.why)
    try {
      return await read(link)
    } catch (cause) {
      const fault = callFaultOf(cause)
      const leader = fault.kind === 'not_leader' ? fault.leader : null
      if (fault.kind === 'away' || leader !== null) connection.lose(link, fault.why, leader)
      throw away(what, fault.why, cause)
    }
  }
  const page = (what: string, request: ReturnType<typeof requests.readForwards>) =>
    fromLeader(what, (link) => requests.readEvents(link, request, { of: 'leader', msMax: eventStoreReadMsMax }))

  const wholeLog = new WholeLog(fromLeader, parts)

  return {
    read: async (stream, { from = null, direction = 'forwards', limit }) => {
      if (from !== null && from < 0) return []
      const request = direction === 'forwards' ? requests.readForwards : requests.readBackwards
      return (await page(`"${stream}"`, request(names.nameOf(stream), { from, limit }))).map(decode)
    },
    readAll: (options) => wholeLog.read(options),
    readLast: async (streamName) => {
      const [last] = await page(`"${streamName}"`, requests.readBackwards(streamName, { from: null, limit: 1 }))
      return last ?? null
    },
  }
}

/** `untilMs` is by `performance.now()`. `null`: no end. */
type Wanted = Required<Pick<ReadAllOptions, 'direction' | 'limit'>> & {
  readonly from: number | null
  readonly untilMs: number | null
  /** Forwards, also returns the event at `from`. */
  readonly isInclusive?: boolean
  /** Throws `StillSearching`, and returns no part, if the time ends before all is read. */
  readonly isWhole?: boolean
}

type FromLeader = <T>(what: string, read: (link: Link) => Promise<T>) => Promise<T>

class WholeLog {
  readonly #fromLeader: FromLeader
  readonly #parts: ReadParts
  readonly #scans = new StoreScans()

  constructor(fromLeader: FromLeader, parts: ReadParts) {
    this.#fromLeader = fromLeader
    this.#parts = parts
  }

  read({ from, direction = 'forwards', limit, msMax }: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    const untilMs = msMax === undefined ? null : performance.now() + msMax
    return from === undefined && direction === 'backwards'
      ? this.#newest(limit, untilMs)
      : this.#shown({ from: from ?? null, direction, limit, untilMs })
  }

  async #shown(wanted: Wanted): Promise<readonly RecordedEvent[]> {
    const { from, direction, limit, untilMs, isInclusive = false, isWhole = false } = wanted
    const { names, truncations, decode } = this.#parts
    const found: StoredEvent[] = []
    let at = from
    let pageEvents = limit
    while (true) {
      // Forwards, EventStoreDB includes the event at `at`. So one event more is read, and that one is removed.
      const asked = direction === 'forwards' && at !== null && !isInclusive ? pageEvents + 1 : pageEvents
      const scan = { from: at, direction, limit: asked, prefixes: names.prefixes(null), untilMs }
      const { events, isOver } = await this.#fromLeader('the log', (link) => this.#scans.scan(link, scan))
      const fresh = isInclusive ? events : events.filter(({ position }) => position !== at)
      found.push(...(await truncations.shown(fresh)))
      const isDone = found.length >= limit || (isOver ? found.length > 0 && !isWhole : events.length < asked)
      if (isDone) return found.slice(0, limit).map(decode)
      at = events.at(-1)?.position ?? at
      if (isOver) throw new StillSearching(isWhole ? null : at)
      // Thousands of truncated events can follow.
      pageEvents = readPageEventsMax
    }
  }

  /**
   * EventStoreDB passes events of other programs slowly backwards. So the newest events are read forwards from where the
   * subscription has come, and the rest backwards from there.
   */
  async #newest(limit: number, untilMs: number | null): Promise<readonly RecordedEvent[]> {
    const reached = this.#parts.reachedBySubscription()
    const fromEnd = { from: null, direction: 'backwards', limit, untilMs } as const
    if (reached === null) return this.#shown(fromEnd)
    const forwards = { direction: 'forwards', untilMs } as const
    const after = { ...forwards, from: reached.through, limit: readPageEventsMax, isWhole: true }
    const behind = await this.#shown(after)
    if (behind.length === readPageEventsMax) return this.#shown(fromEnd)
    const events = behind.toReversed().slice(0, limit)
    if (events.length === limit) return events
    const { newest: from } = reached
    const there = await this.#shown({ ...forwards, from, limit: 1, isInclusive: true })
    events.push(...there.filter(({ position }) => position === from))
    if (events.length === limit) return events
    try {
      return [...events, ...(await this.#shown({ ...fromEnd, from, limit: limit - events.length }))]
    } catch (error) {
      if (error instanceof StillSearching && events.length > 0) return events
      throw error
    }
  }
}

type Scan = {
  readonly from: number | null
  readonly direction: 'forwards' | 'backwards'
  readonly limit: number
  readonly prefixes: readonly string[]
  /** By `performance.now()`. `null`: no end. */
  readonly untilMs: number | null
}

/** `isOver`: the time ended before the scan. */
type Scanned = { readonly events: readonly StoredEvent[]; readonly isOver: boolean }

/**
 * While EventStoreDB passes events of other programs, it does not say how far it is. So a read without a result goes on
 * after its time, and the same read finds it later.
 */
class StoreScans {
  readonly #kept = new Map<string, requests.Reading>()

  /** @throws the errors of `Reading` */
  async scan(link: Link, { from, direction, limit, prefixes, untilMs }: Scan): Promise<Scanned> {
    const key = `${direction} ${from} ${limit}`
    const request = requests.readAll({ from, limit }, direction, prefixes)
    const reading =
      this.#kept.get(key) ?? requests.beginRead(link, request, { of: 'leader', msMax: eventStoreScanMsMax })
    this.#kept.delete(key)
    if (untilMs === null || !(await isTimeOver(reading, untilMs - performance.now()))) {
      await reading.ended
      return { events: reading.events, isOver: false }
    }
    // Nobody waits for this promise any more, so its error must be caught.
    reading.ended.catch(() => {})
    // Forwards, the caller has the first event already.
    if (reading.events.some(({ position }) => position !== from)) reading.cancel()
    else this.#keep(key, reading)
    return { events: [...reading.events], isOver: true }
  }

  #keep(key: string, reading: requests.Reading): void {
    this.#kept.set(key, reading)
    const [oldest] = this.#kept
    if (this.#kept.size <= storeScansKeptMax || oldest === undefined) return
    this.#kept.delete(oldest[0])
    oldest[1].cancel()
  }
}

const isTimeOver = async ({ ended }: requests.Reading, leftMs: number): Promise<boolean> => {
  const timer = Promise.withResolvers<boolean>()
  const timeout = setTimeout(() => timer.resolve(true), Math.max(0, leftMs))
  try {
    return await Promise.race([timer.promise, ended.then(() => false)])
  } finally {
    clearTimeout(timeout)
  }
}

const away = (what: string, why: string, cause?: unknown): Outage =>
  new Outage(`Cannot read ${what}: ${why}`, 'not_written', 'unavailable', { cause })

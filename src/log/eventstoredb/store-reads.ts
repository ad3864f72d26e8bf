import type { RecordedEvent } from '../../domain/events.ts'
import { eventStoreReadMsMax, eventStoreScanMsMax, readPageEventsMax } from '../../limits.ts'
import { Outage, type ReadAllOptions, type ReadOptions } from '../event-log.ts'
import { callFaultOf } from './call-faults.ts'
import type { Connection } from './connection.ts'
import * as requests from './requests.ts'
import type { StreamNames } from './store-streams.ts'
import type { StoredEvent } from './stored-events.ts'
import type { Truncations } from './truncation.ts'

export type Reads = {
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  /** `streamName` includes the prefix from the settings. `null` means that the stream has no event. */
  readLast(streamName: string): Promise<StoredEvent | null>
}

export type ReadParts = {
  readonly names: StreamNames
  readonly truncations: Truncations
  decode(stored: StoredEvent): RecordedEvent
}

/**
 * Reads from the leader of EventStoreDB, because its other servers can lack the newest events.
 * @throws Outage, UndecodableEvent
 */
export const createReads = (connection: Connection, { names, truncations, decode }: ReadParts): Reads => {
  const page = async (
    what: string,
    request: ReturnType<typeof requests.readForwards>,
    msMax: number = eventStoreReadMsMax,
  ) => {
    const { link } = connection
    if (link === null) throw away(what, connection.why)
    try {
      return await requests.readEvents(link, request, { of: 'leader', msMax })
    } catch (cause) {
      const fault = callFaultOf(cause)
      const leader = fault.kind === 'not_leader' ? fault.leader : null
      if (fault.kind === 'away' || leader !== null) connection.lose(link, fault.why, leader)
      throw away(what, fault.why, cause)
    }
  }

  return {
    read: async (stream, { from = null, direction = 'forwards', limit }) => {
      if (from !== null && from < 0) return []
      const request = direction === 'forwards' ? requests.readForwards : requests.readBackwards
      return (await page(`"${stream}"`, request(names.nameOf(stream), { from, limit }))).map(decode)
    },
    readAll: async ({ from = null, direction = 'forwards', limit }) => {
      const found: StoredEvent[] = []
      let at = from
      let wanted = limit
      while (true) {
        // The caller wants events after `at`. When reading forwards, EventStoreDB includes the event at `at`. So one event more
        // is read, and the event at `at` is removed.
        const asked = direction === 'forwards' && at !== null ? wanted + 1 : wanted
        const request = requests.readAll({ from: at, limit: asked }, direction, names.prefixes(null))
        const events = await page('the log', request, eventStoreScanMsMax)
        found.push(...(await truncations.shown(events.filter(({ position }) => position !== at))))
        if (events.length < asked || found.length >= limit) return found.slice(0, limit).map(decode)
        at = events.at(-1)?.position ?? at
        // Thousands of truncated events can follow, so they are read in large pages.
        wanted = readPageEventsMax
      }
    },
    readLast: async (streamName) => {
      const [last] = await page(`"${streamName}"`, requests.readBackwards(streamName, { from: null, limit: 1 }))
      return last ?? null
    },
  }
}

const away = (what: string, why: string, cause?: unknown): Outage =>
  new Outage(`Cannot read ${what}: ${why}`, 'not_written', 'unavailable', { cause })

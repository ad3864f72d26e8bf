import { type AuditEvent, type HistoryRow, historyOf, type KeyAt, stateAt } from '../../projections/audit-trail.ts'
import { stateAtInstant } from '../actors/search/event-context.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import { declarationOf, type Limit } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { type Paged, pageOf } from '../domain/search/page-of-list.ts'
import { cellarStream, keyStream } from '../domain/stream-names.ts'
import type { Typed } from '../domain/text.ts'
import { eventStoreShowMs, keyLimitDefault, logReadMs } from '../limits.ts'
import { DamagedLog, Outage } from '../log/event-log.ts'
import { readKeyEvents } from './read-key-events.ts'

export type HistoryWanted = {
  readonly keyId: string
  /** The last revision that the node has folded. */
  readonly revision: number
  /** Seals, fences and purges of the key. To find them in the log, the question would have to read all of its readings. */
  readonly also: readonly AuditEvent[]
  readonly isEverything: boolean
  /** Default: the newest first. */
  readonly page: { readonly number: number; readonly perPage: number; readonly isOldestFirst?: boolean }
  /** An instant whose state is wanted. `null`: none. */
  readonly atMs: number | null
  readonly nowMs: number
}

export type KeyHistory = Paged<readonly HistoryRow[]> & {
  readonly internal: number
  readonly atInstant: Typed<KeyThen> | null
}

export type KeyThen = {
  readonly state: KeyAt
  readonly decidedBy: HistoryRow | null
  /** Without internal ones. */
  readonly previous: HistoryRow | null
  readonly next: HistoryRow | null
  /** `null`: not known, or no key. */
  readonly limit: Limit | null
}

/** @throws Outage, UndecodableEvent */
export const keyHistory = async ({ log }: SearchReads, wanted: HistoryWanted): Promise<KeyHistory> => {
  const events = [...(await wholeKeyEvents(log, wanted)), ...wanted.also]
  const rows = historyOf(events)
  const shown = rows.filter(({ event }) => wanted.isEverything || !isInternal(event))
  const { page, atMs } = wanted
  const requests = requestsOf(shown)
  // The clone calls the getters of the rows, so if one throws, only this question fails.
  return structuredClone({
    ...pageOf(page.isOldestFirst === true ? requests : requests.toReversed(), page.number, page.perPage),
    internal: rows.filter(({ event }) => isInternal(event)).length,
    atInstant: atMs === null ? null : await keyThen(log, { events, rows }, { atMs, nowMs: wanted.nowMs }),
  })
}

/**
 * A server of a shared store can lack the newest events for a moment. A history must include what this node knows, so it
 * waits for them. Other questions need not wait.
 */
const wholeKeyEvents = async (log: SearchReads['log'], { keyId, revision }: HistoryWanted) => {
  for (let waitedMs = 0; ; waitedMs += eventStoreShowMs) {
    const own = await readKeyEvents(log, keyId)
    const end = (own.at(-1)?.revision ?? -1) + 1
    if (end > revision) return own
    const stream = keyStream(keyId)
    const why = `the events from revision ${end} to ${revision} are missing`
    if (log.lags !== true) throw new DamagedLog({ stream, revision: end, position: null }, why)
    if (waitedMs >= logReadMs) throw new Outage(`Cannot read "${stream}": ${why}`, 'not_written', 'unavailable')
    await Bun.sleep(eventStoreShowMs)
  }
}

/**
 * A fence only says when every node had a change, so it is internal. Even a seal is not: if a node dies right after a seal,
 * the revocation itself comes much later.
 */
const isInternal = ({ type }: AuditEvent): boolean => declarationOf(type).shown === 'internal'

/** Rows of one request that follow each other are one entry. */
const requestsOf = (rows: readonly HistoryRow[]): readonly (readonly HistoryRow[])[] => {
  const requests: HistoryRow[][] = []
  for (const row of rows) {
    const last = requests.at(-1)
    if (last?.[0]?.event.metadata.requestId === row.event.metadata.requestId) last.push(row)
    else requests.push([row])
  }
  return requests
}

type Known = { readonly events: readonly AuditEvent[]; readonly rows: readonly HistoryRow[] }

const keyThen = async (
  log: SearchReads['log'],
  { events, rows }: Known,
  { atMs, nowMs }: { readonly atMs: number; readonly nowMs: number },
): Promise<Typed<KeyThen>> => {
  const then = stateAt(events, atMs, nowMs)
  if (!then.ok) return then
  const state = then.value
  const shown = rows.filter(({ event }) => !isInternal(event))
  return {
    ok: true,
    value: {
      state,
      decidedBy: rows.find(({ event }) => event === state.decidedBy) ?? null,
      previous: shown.findLast(({ event }) => event.recordedAt <= atMs) ?? null,
      next: shown.find(({ event }) => event.recordedAt > atMs) ?? null,
      limit: state.key === null ? null : await limitThen(log, state.key, atMs),
    },
  }
}

/** `null`: the limit of its cellar then is not known. */
export const limitThen = async (
  log: SearchReads['log'],
  { limit, cellar }: Pick<KeyState, 'limit' | 'cellar'>,
  atMs: number,
): Promise<Limit | null> => {
  if (limit !== null) return limit
  const ofCellar = await stateAtInstant(log, cellarStream(cellar), atMs)
  return ofCellar.isKnown ? (ofCellar.cellar?.policy.limit ?? keyLimitDefault) : null
}

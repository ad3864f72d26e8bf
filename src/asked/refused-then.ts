import { type KeyAt, stateAt } from '../../projections/audit-trail.ts'
import { statesBefore } from '../actors/search/event-context.ts'
import { firstRevision } from '../actors/search/first-revision.ts'
import type { LogReads } from '../actors/search/patient-reads.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import type { Limit, RecordedEvent } from '../domain/events.ts'
import { nothingBefore, type StateBefore, stateAfter, unknownBefore } from '../domain/search/state-before.ts'
import { cellarStream, readingsStream } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'
import { readKeyEvents, sealsOf } from './read-key-events.ts'
import { limitThen } from './rows-of-history.ts'

/** The page shows changes of the key that happened this long before a refusal. */
const changesBeforeRefusalMs = 24 * 3_600_000
const changesBeforeRefusalMax = 5

export type RefusedWanted = {
  readonly keyId: string
  readonly cellar: string
  readonly atMs: number
  readonly nowMs: number
  /** When the seals and fences of the key were written. `null`: the readings of the rate window need not be counted. */
  readonly barriersMs: readonly number[] | null
}

export type RefusedThen = {
  readonly key: KeyAt | null
  /** `null`: not known. */
  readonly limit: Limit | null
  /** Readings in the rate window that ended at the refusal. */
  readonly used: number | null
  /** Changes shortly before the refusal, newest first. */
  readonly changes: readonly { readonly event: RecordedEvent; readonly before: StateBefore }[]
}

/** @throws Outage, UndecodableEvent */
export const refusedThen = async (
  { log }: SearchReads,
  { keyId, cellar, atMs, nowMs, barriersMs }: RefusedWanted,
): Promise<RefusedThen> => {
  const own = await readKeyEvents(log, keyId)
  const state = stateAt([...own, ...(await sealsOf(log, keyId))], atMs, Math.max(nowMs, atMs))
  const key = own.filter(({ recordedAt }) => recordedAt <= atMs).reduce(stateAfter, nothingBefore).key
  const limit = await limitThen(log, { limit: key?.limit ?? null, cellar }, atMs)
  const window = { atMs, fromMs: atMs - (limit?.windowMs ?? 0) }
  return {
    key: state.ok ? state.value : null,
    limit,
    used: limit === null || barriersMs === null ? null : await usedIn(log, readingsStream(keyId), window, barriersMs),
    changes: await changesBefore(log, { own, cellar, atMs }),
  }
}

type Window = { readonly fromMs: number; readonly atMs: number }

const usedIn = async (log: LogReads, stream: string, { fromMs, atMs }: Window, barriersMs: readonly number[]) => {
  const first = await firstRevision(log, stream, ({ recordedAt }) => recordedAt > fromMs)
  const last = await firstRevision(log, stream, ({ recordedAt }) => recordedAt > atMs)
  return last - first - barriersMs.filter((ms) => ms > fromMs && ms <= atMs).length
}

type Changed = { readonly own: readonly RecordedEvent[]; readonly cellar: string; readonly atMs: number }

const changesBefore = async (log: LogReads, { own, cellar, atMs }: Changed): Promise<RefusedThen['changes']> => {
  const page = await log.read(cellarStream(cellar), { direction: 'backwards', limit: readPageEventsMax })
  const all = [...own, ...page.filter(({ type }) => type === 'CellarPolicyChanged')]
  const changes = all.filter(({ recordedAt }) => recordedAt <= atMs && recordedAt > atMs - changesBeforeRefusalMs)
  const newest = changes.toSorted((a, b) => b.position - a.position).slice(0, changesBeforeRefusalMax)
  const states = await statesBefore(log, newest)
  return newest.map((event, index) => ({ event, before: states[index] ?? unknownBefore }))
}

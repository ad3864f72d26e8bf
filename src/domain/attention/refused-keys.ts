import { hourMs } from '../calendar.ts'
import type { AttentionKind, AttentionLine } from './attention-lines.ts'

/** All nodes have written the refusals of an hour this long after its end (`refusalSummaryMsMax`). */
const writtenAfterMs = 20 * 60_000
const refusedMin = 10
const keysMax = 10
const risenMin = 100
const risenTimes = 10
const usualHours = 24

/** The kinds of `refusalLines`. */
export const refusalKinds: readonly AttentionKind[] = ['key_refused', 'key_at_limit', 'refusals_rise']

/** How often requests of a key were refused with a code. */
export type Refused = { readonly key: string; readonly code: string; readonly count: number }

/** Sums from an hour (since 1970) on, without an end. */
export type RefusedFrom = (hour: number) => readonly Refused[]

/** The hours whose sums `refusalLines` needs. The last hour is the last that is complete. */
export const refusalHours = (nowMs: number) => {
  const last = Math.floor((nowMs - writtenAfterMs) / hourMs) - 1
  return { last, before: last - 1, after: last + 1, usual: last - usualHours }
}

/** A key needs attention if it was refused in two hours one after the other. */
export const refusalLines = (nowMs: number, from: RefusedFrom): readonly AttentionLine[] => {
  const { last, before, after, usual } = refusalHours(nowMs)
  const sums = { usual: summed(from(usual)), before: summed(from(before)), last: summed(from(last)) }
  const later = summed(from(after))
  const sinceMs = before * hourMs
  const lines: AttentionLine[] = []
  let all = 0
  for (const [id, refused] of sums.last) {
    const { key, code } = refused
    const count = refused.count - countIn(later, id)
    all += count
    if (count < refusedMin || countIn(sums.before, id) - refused.count < refusedMin) continue
    const kind = code === 'RATE_LIMITED' ? 'key_at_limit' : 'key_refused'
    if (!lines.some((line) => line.kind === kind && line.keyId === key))
      lines.push({ kind, sinceMs, keyId: key, count })
  }
  const usualPerHour = (total(sums.usual) - total(sums.last)) / usualHours
  const rise: readonly AttentionLine[] =
    all >= risenMin && all > risenTimes * usualPerHour
      ? [{ kind: 'refusals_rise', sinceMs: last * hourMs, count: all }]
      : []
  return [...rise, ...lines.sort((a, b) => (b.count ?? 0) - (a.count ?? 0)).slice(0, keysMax)]
}

const summed = (refused: readonly Refused[]): ReadonlyMap<string, Refused> =>
  new Map(refused.map((one) => [`${one.key} ${one.code}`, one]))

const countIn = (sums: ReadonlyMap<string, Refused>, id: string): number => sums.get(id)?.count ?? 0

const total = (sums: ReadonlyMap<string, Refused>): number =>
  [...sums.values()].reduce((sum, { count }) => sum + count, 0)

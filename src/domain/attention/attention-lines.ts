/** What needs attention, as lines. The last record of a stream holds all lines of its cellar (docs/protocol.md, "Attention"). */

import { dayMs, hourMs } from '../calendar.ts'
import type { AttentionKind, AttentionLine } from '../events/attention-events.ts'
import type { EventData } from '../events.ts'

export { type AttentionKind, type AttentionLine, attentionKinds } from '../events/attention-events.ts'

export type AttentionLines = Pick<EventData<'AttentionChanged'>, 'now' | 'more'>
export type AttentionChange = Pick<EventData<'AttentionChanged'>, 'began' | 'ended' | 'now' | 'more'>

/** Tells a line from all others of its stream. */
export type LineScope = Pick<AttentionLine, 'kind' | 'rack' | 'keg' | 'keyId' | 'node'>

export const attentionLinesMax = 100
/** Of `now`. A record has at most three such lists, so it is smaller than 16 KiB. */
export const attentionListBytesMax = 5_000

export const noLines: AttentionLines = { now: [], more: 0 }

export const lineId = ({ kind, rack, keg, keyId, node }: LineScope): string =>
  JSON.stringify([kind, rack, keg, keyId, node])

/** A rack includes its kegs, and a cellar its racks. */
export const covers = (wide: LineScope, narrow: LineScope): boolean =>
  wide.kind === narrow.kind &&
  wide.keyId === narrow.keyId &&
  wide.node === narrow.node &&
  (wide.rack === undefined || (wide.rack === narrow.rack && (wide.keg === undefined || wide.keg === narrow.keg)))

const urgency: Readonly<Record<AttentionKind, number>> = {
  check_failed: 0,
  silent: 1,
  key_refused: 2,
  key_at_limit: 3,
  refusals_rise: 4,
  disk_fills: 5,
  certificate_ends: 6,
  key_expires: 7,
  backup_old: 8,
  rotation_hangs: 9,
  keys_unused: 10,
}

/** When a silent line began to count as silent. */
const becameMs = ({ sinceMs, afterMs = 0 }: AttentionLine): number => sinceMs + afterMs

/** Of silence, the newest comes first: it is news. Of other kinds, a further line never takes the room of a known one. */
const byAge = (a: AttentionLine, b: AttentionLine): number =>
  urgency[a.kind] - urgency[b.kind] || (a.kind === 'silent' ? becameMs(b) - becameMs(a) : a.sinceMs - b.sinceMs)

const compared = (a = '', b = ''): number => (a < b ? -1 : Number(a > b))

const byName = (a: LineScope, b: LineScope): number =>
  compared(a.rack, b.rack) || compared(a.keg, b.keg) || compared(a.keyId, b.keyId) || compared(a.node, b.node)

/** Most urgent first. */
export const byUrgency = (a: AttentionLine, b: AttentionLine): number => byAge(a, b) || byName(a, b)

/**
 * `unlisted`: found lines for which a record has no room. `more` can count further ones. `gone`: known lines whose readings were
 * deleted.
 */
export type ListedLines = AttentionLines & {
  readonly unlisted: readonly AttentionLine[]
  readonly gone?: readonly AttentionLine[]
}

/** As many as a record has room for. A line that is known already keeps its beginning, but silence says the last acceptance. */
export const linesOf = (found: readonly AttentionLine[], foundMore: number, known: AttentionLines): ListedLines => {
  const knownLines = new Map(known.now.map((line) => [lineId(line), line]))
  const sorted = found
    .map((line) => {
      const before = knownLines.get(lineId(line))
      const since = line.kind === 'silent' || before === undefined ? line : { ...line, sinceMs: before.sinceMs }
      return { line: since, isNew: Number(before === undefined), bytes: bytesOf(since) }
    })
    // Of lines of one instant, two nodes must choose the same: those that are recorded.
    .sort((a, b) => byAge(a.line, b.line) || a.isNew - b.isNew || byName(a.line, b.line))
  const byKind = Map.groupBy(sorted, ({ line }) => line.kind)
  const rooms = roomOfKinds(
    new Map([...byKind].map(([kind, lines]) => [kind, lines.reduce((sum, { bytes }) => sum + bytes, 0)])),
  )
  const now: AttentionLine[] = []
  const unlisted: AttentionLine[] = []
  for (const [kind, lines] of byKind) {
    let room = rooms.get(kind) ?? 0
    for (const { line, bytes } of lines) {
      room -= bytes
      if (room >= 0) now.push(line)
      else unlisted.push(line)
    }
  }
  return { now, more: foundMore + unlisted.length, unlisted }
}

const bytesOf = (line: AttentionLine): number => Buffer.byteLength(JSON.stringify(line)) + 1

/** Silence gets what the other kinds leave, and at least half. Of the others, none gets less than its part. */
const roomOfKinds = (wanted: ReadonlyMap<AttentionKind, number>): ReadonlyMap<AttentionKind, number> => {
  const ofSilence = Math.min(wanted.get('silent') ?? 0, attentionListBytesMax / 2)
  const rooms = new Map<AttentionKind, number>()
  let left = attentionListBytesMax - ofSilence
  const others = [...wanted].filter(([kind]) => kind !== 'silent').sort(([, a], [, b]) => a - b)
  for (const [index, [kind, bytes]] of others.entries()) {
    const room = Math.min(bytes, left / (others.length - index))
    rooms.set(kind, room)
    left -= room
  }
  return rooms.set('silent', left + ofSilence)
}

/**
 * A beginning and an end pair by the id of the line. So a receiver never takes a keg for resolved that stays silent without its
 * rack. `null`: the same lines need attention.
 */
export const changeOf = (known: KnownLines, next: ListedLines): AttentionChange | null => {
  const { now, more, unlisted, gone = [] } = next
  const isKnown = idsAmong(known.now)
  const hasMore = known.more > 0 === more > 0
  if (hasMore && known.now.length === now.length && now.every(isKnown)) return null
  const found = [...now, ...unlisted]
  const isFound = idsAmong(found)
  const isGone = idsAmong(gone)
  const hadNoRoom = unlistedIn(known)
  // Not all lines were found: an older one may still be silent.
  const foundFromMs = more > unlisted.length ? oldestSilenceMs(found) : Number.NEGATIVE_INFINITY
  const mayBeSilent = (line: AttentionLine): boolean => line.kind === 'silent' && becameMs(line) < foundFromMs
  const endOf = (line: AttentionLine): readonly AttentionLine[] => {
    if (isFound(line)) return []
    if (isCovered(line, now)) return [{ ...line, isPart: true }]
    if (found.some((part) => covers(line, part))) return [{ ...line, hasParts: true }]
    if (isCovered(line, unlisted) || mayBeSilent(line)) return []
    return isGone(line) ? [{ ...line, isGone: true }] : [line]
  }
  const isNew = (line: AttentionLine): boolean => !isKnown(line) && (isCovered(line, known.now) || !hadNoRoom(line))
  return { began: now.filter(isNew), ended: known.now.flatMap(endOf), now, more }
}

/** `recordedAt`: of the record. */
type KnownLines = AttentionLines & { readonly recordedAt?: number }

/** Not all lines were listed. A line that was found then was told before, or counted in `more`, and has room again. */
const unlistedIn = ({ now, more, recordedAt = 0 }: KnownLines): ((line: AttentionLine) => boolean) => {
  const knownFromMs = oldestSilenceMs(now)
  const newestMs = new Map<AttentionKind, number>()
  for (const { kind, sinceMs } of now) newestMs.set(kind, Math.max(newestMs.get(kind) ?? 0, sinceMs))
  return (line) => {
    const { kind, sinceMs, node } = line
    if (more === 0 || node !== undefined) return false
    if (kind === 'silent') return becameMs(line) <= knownFromMs
    return sinceMs >= (newestMs.get(kind) ?? 0) && sinceMs + foundAfterMs(kind) <= recordedAt
  }
}

/** A line is found this long after its beginning. */
const foundAfterMs = (kind: AttentionKind): number => {
  if (kind === 'rotation_hangs') return 7 * dayMs
  return kind === 'key_refused' || kind === 'key_at_limit' ? 3 * hourMs : 0
}

const idsAmong = (lines: readonly AttentionLine[]): ((line: AttentionLine) => boolean) => {
  const ids = new Set(lines.map(lineId))
  return (line) => ids.has(lineId(line))
}

/** Without a beginning or an end. */
export const hasOtherCounts = (known: AttentionLines, next: AttentionLines): boolean => {
  const counts = new Map(known.now.map((line) => [lineId(line), line.count]))
  return known.more !== next.more || next.now.some((line) => line.count !== counts.get(lineId(line)))
}

const isCovered = (line: AttentionLine, lines: readonly AttentionLine[]): boolean =>
  lines.some((other) => covers(other, line))

const oldestSilenceMs = (lines: readonly AttentionLine[]): number => {
  const silent = lines.filter(({ kind }) => kind === 'silent')
  return silent.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...silent.map(becameMs))
}

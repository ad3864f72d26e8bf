/** What needs attention, as lines. The last record of a stream holds all lines of its cellar (docs/protocol.md, "Attention"). */
import type { AttentionKind, AttentionLine } from '../events/attention-events.ts'
import type { EventData } from '../events.ts'

export type { AttentionKind, AttentionLine } from '../events/attention-events.ts'

export type AttentionLines = Pick<EventData<'AttentionChanged'>, 'now' | 'more'>
export type AttentionChange = Pick<EventData<'AttentionChanged'>, 'began' | 'ended' | 'now' | 'more'>

/** Tells a line from all others of its stream. */
export type LineScope = Pick<AttentionLine, 'kind' | 'rack' | 'keg' | 'keyId' | 'node'>

export const attentionLinesMax = 100
/** Of `now`. A record has at most three such lists, so it is smaller than 16 KiB. */
export const attentionListBytesMax = 5_200

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

/** Most urgent first. Older lines come before younger ones, so a further line never takes the room of a known one. */
export const byUrgency = (a: AttentionLine, b: AttentionLine): number =>
  urgency[a.kind] - urgency[b.kind] || a.sinceMs - b.sinceMs || (lineId(a) < lineId(b) ? -1 : 1)

/** As many as a record has room for. A line that is known already keeps its beginning. */
export const linesOf = (found: readonly AttentionLine[], foundMore: number, known: AttentionLines): AttentionLines => {
  const knownLines = new Map(known.now.map((line) => [lineId(line), line]))
  const sorted = found
    .map((line) => ({ ...line, sinceMs: knownLines.get(lineId(line))?.sinceMs ?? line.sinceMs }))
    .sort(byUrgency)
  const now: AttentionLine[] = []
  let bytes = 0
  for (const line of sorted) {
    bytes += Buffer.byteLength(JSON.stringify(line)) + 1
    if (bytes > attentionListBytesMax || now.length === attentionLinesMax) break
    now.push(line)
  }
  return { now, more: foundMore + found.length - now.length }
}

/**
 * A keg that goes silent before its rack does not begin twice: the line of the rack replaces it. `null`: the same lines need
 * attention.
 */
export const changeOf = (known: AttentionLines, next: AttentionLines): AttentionChange | null => {
  const knownIds = new Set(known.now.map(lineId))
  const nextIds = new Set(next.now.map(lineId))
  const hasMore = known.more > 0 === next.more > 0
  if (hasMore && knownIds.size === nextIds.size && [...nextIds].every((id) => knownIds.has(id))) return null
  return {
    began: next.now.filter((line) => !known.now.some((other) => covers(other, line))),
    // Without room for all lines, a line that left the list may still need attention.
    ended: next.more > 0 ? [] : known.now.filter((line) => !next.now.some((other) => covers(other, line))),
    now: next.now,
    more: next.more,
  }
}

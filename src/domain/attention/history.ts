import type { EventData } from '../events.ts'
import { type AttentionLine, covers, type LineScope } from './attention-lines.ts'

/** `atMs`: when the change was recorded. */
export type AttentionRecord = Pick<EventData<'AttentionChanged'>, 'began' | 'ended' | 'now' | 'more'> & {
  readonly atMs: number
}

/** When it was recorded that the line began, and ended. `null`: before the records that were read, and not yet. */
export type PastLine = {
  readonly line: AttentionLine
  readonly beganMs: number | null
  readonly endedMs: number | null
}

/**
 * When something needed attention, by itself or as a part: a keg is silent with its rack. `records` come oldest first. Without room
 * for all lines (`more`), a missing line has ended only if the record says so.
 */
export const pastLines = (records: readonly AttentionRecord[], scope: LineScope): readonly PastLine[] => {
  const past: PastLine[] = []
  for (const [index, { atMs, began, ended, now, more }] of records.entries()) {
    const line = now.find((one) => covers(one, scope))
    const last = past.at(-1)
    const isOpen = last !== undefined && last.endedMs === null
    const end = ended.find((one) => covers(one, scope))
    // Of a rack whose parts have no room, it is not known which kegs are silent.
    const isOver = line === undefined && (more === 0 || (end !== undefined && end.hasParts !== true))
    const gone = end?.isGone === true && { isGone: end.isGone }
    if (isOpen && isOver) past.splice(-1, 1, { ...last, line: { ...last.line, ...gone }, endedMs: atMs })
    if (line === undefined || isOpen) continue
    const isKnown = index > 0 || (end === undefined && began.some((one) => covers(one, scope)))
    past.push({ line, beganMs: isKnown ? atMs : null, endedMs: null })
  }
  return past
}

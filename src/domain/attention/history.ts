import type { EventData } from '../events.ts'
import { type AttentionLine, covers, type LineScope } from './attention-lines.ts'

/** `atMs`: when the change was recorded. */
export type AttentionRecord = Pick<EventData<'AttentionChanged'>, 'began' | 'ended' | 'now' | 'more'> & {
  readonly atMs: number
  readonly stream: string
  readonly revision: number
}

/** `endedMs`: when it was recorded that the line ended. `null`: not yet. */
export type PastLine = { readonly line: AttentionLine; readonly beganMs: number; readonly endedMs: number | null }

/** When something needed attention, by itself or as a part: a keg is silent with its rack. `records` come oldest first. */
export const pastLines = (records: readonly AttentionRecord[], scope: LineScope): readonly PastLine[] => {
  const past: PastLine[] = []
  for (const { atMs, ended, now, more } of records) {
    const line = now.find((one) => covers(one, scope))
    const last = past.at(-1)
    const isOpen = last !== undefined && last.endedMs === null
    // Without room for all lines, one that is not listed may still need attention.
    const isOver = more === 0 || ended.some((one) => covers(one, scope))
    if (line === undefined && isOpen && isOver) past.splice(-1, 1, { ...last, endedMs: atMs })
    if (line !== undefined && !isOpen) past.push({ line, beganMs: atMs, endedMs: null })
  }
  return past
}

import { dayMs } from '../calendar.ts'
import {
  type AttentionKind,
  type AttentionLine,
  type AttentionLines,
  type ListedLines,
  lineId,
  linesOf,
} from './attention-lines.ts'

/** A node repeats its lines once a day, so that others notice if it is gone. */
const seenEveryMs = dayMs
const droppedAfterMs = 2 * dayMs

export type NodeLines = {
  readonly lines: readonly AttentionLine[]
  /** A line of such a kind neither begins nor ends now, for instance because the node has just started. */
  readonly undecided: readonly AttentionKind[]
}

/**
 * Nodes whose lines have no room cannot be counted. So `more` of the last record stays, and nodes with other lines do not write in
 * turn. It is counted anew when the list is empty, and once a day by the node with the first line.
 */
export const linesOfNodes = (
  known: AttentionLines,
  { lines, undecided }: NodeLines,
  { node, nowMs }: { readonly node: string; readonly nowMs: number },
): { readonly next: ListedLines; readonly isRepeated: boolean } => {
  const isOwn = (line: AttentionLine): boolean => line.node === node
  const mine = known.now.filter(isOwn)
  const others = known.now.filter((line) => !isOwn(line) && nowMs - (line.seenMs ?? 0) < droppedAfterMs)
  const standing = mine.filter(({ kind }) => undecided.includes(kind))
  const own = [...lines, ...standing].map((line) => ({ ...line, node, seenMs: nowMs }))
  const next = linesOf([...others, ...own], 0, known)
  const isRepeated = mine.some(({ seenMs = 0 }) => nowMs - seenMs >= seenEveryMs)
  const [first] = next.now
  const isCounted = first === undefined || (isRepeated && isOwn(first))
  const ids = new Set(known.now.map(lineId))
  const entered = next.now.filter((line) => !ids.has(lineId(line))).length
  return { next: { ...next, more: isCounted ? next.more : Math.max(next.more, known.more - entered) }, isRepeated }
}

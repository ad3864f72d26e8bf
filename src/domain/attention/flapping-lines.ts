import { dayMs, hourMs } from '../calendar.ts'
import { type AttentionLine, type AttentionLines, covers, lineId } from './attention-lines.ts'

/** A line that begins more often in a day stands until its cause was away for an hour. */
const beginsMax = 5
const awayForMs = hourMs
/** Of one stream. */
const linesCountedMax = 200

/** A line that begins and ends all the time would use the records that its cellar has in a day, and hide the others. */
export class FlappingLines {
  /** By line. The line that began last comes last. */
  readonly #begins = new Map<string, readonly number[]>()
  #awaySince: ReadonlyMap<string, number> = new Map()
  #heardTo = -1

  /** Records come in the order of their stream. False if the record was heard before. */
  hear(revision: number, atMs: number, began: readonly AttentionLine[]): boolean {
    if (revision <= this.#heardTo) return false
    this.#heardTo = revision
    for (const line of began) {
      const id = lineId(line)
      const times = [...(this.#begins.get(id) ?? []), atMs].slice(-beginsMax)
      this.#begins.delete(id)
      this.#begins.set(id, times)
    }
    for (const id of this.#begins.keys()) {
      if (this.#begins.size <= linesCountedMax) break
      this.#begins.delete(id)
    }
    return true
  }

  /** Known lines to keep, although they were not found. A part of one that was found is told instead. */
  look(found: readonly AttentionLine[], known: AttentionLines, nowMs: number): readonly AttentionLine[] {
    const gone = known.now.filter(
      (line) => this.#isFlapping(line, nowMs) && !found.some((other) => covers(other, line)),
    )
    const before = this.#awaySince
    const sinceOf = (line: AttentionLine): number => before.get(lineId(line)) ?? nowMs
    this.#awaySince = new Map(gone.map((line) => [lineId(line), sinceOf(line)]))
    return gone.filter((line) => nowMs - sinceOf(line) < awayForMs && !found.some((other) => covers(line, other)))
  }

  #isFlapping(line: AttentionLine, nowMs: number): boolean {
    const times = this.#begins.get(lineId(line)) ?? []
    return times.length === beginsMax && nowMs - (times[0] ?? 0) < dayMs
  }
}

/** In ms. `to` is not included. */
export type Excused = readonly [fromMs: number, toMs: number]

/** With a further one, the two that are nearest to each other become one. */
export const excusedTimesMax = 100

/** Over a restart. */
export type RememberedExcuses = {
  readonly ranMs: number
  /** The last position that the node had heard of. */
  readonly heardTo: number
  readonly excused: readonly Excused[]
}

/** When no reading could come, and devices are not to blame: the node was down, or it refused readings. */
export class ExcusedTimes {
  #times: Excused[] = []

  get times(): readonly Excused[] {
    return this.#times
  }

  /** `fromMs` is not before the last time, unless the clock was set back. */
  add(fromMs: number, toMs: number): void {
    if (toMs < fromMs)
      this.#times = this.#times
        .filter(([beganMs]) => beganMs < toMs)
        .map(([beganMs, endedMs]) => [beganMs, Math.min(endedMs, toMs)])
    if (toMs <= fromMs) return
    const last = this.#times.at(-1)
    if (last !== undefined && fromMs <= last[1]) this.#times.splice(-1, 1, [last[0], Math.max(last[1], toMs)])
    else this.#times.push([fromMs, toMs])
    if (this.#times.length > excusedTimesMax) this.#joinNearest()
  }

  /** The time between the two is not excused. */
  #joinNearest(): void {
    const spans = this.#times.slice(1).map(([, toMs], index) => toMs - (this.#times[index]?.[0] ?? 0))
    const at = spans.indexOf(Math.min(...spans))
    const [[firstMs, endedMs], [beganMs, toMs]] = [this.#times[at] ?? [0, 0], this.#times[at + 1] ?? [0, 0]]
    this.#times.splice(at, 2, [toMs - (endedMs - firstMs) - (toMs - beganMs), toMs])
  }
}

/** How much of the time since `sinceMs` is excused. */
export const excusedSince = (times: readonly Excused[], sinceMs: number): number => {
  let ms = 0
  for (let at = times.length - 1; at >= 0; at -= 1) {
    const [fromMs = 0, toMs = 0] = times[at] ?? []
    if (toMs <= sinceMs) break
    ms += toMs - Math.max(fromMs, sinceMs)
  }
  return ms
}

/** An index in plain maps, to compare `ask.db` with. Each entry is a text as the row of a query is in `rowsOfFile`. */
import type { AskChange } from '../../../src/log/ask-index.ts'
import { rowsIn } from './sample-change.ts'

export class NaiveIndex {
  #places: AskChange['places'] = []
  readonly #minutes = new Map<number, number>()
  readonly #minuteCounts = new Map<string, number>()
  readonly #hourCounts = new Map<string, number>()
  readonly #seen = new Map<string, number>()

  write(change: AskChange): void {
    this.#places = [...this.#places, ...change.places]
    for (const { minute, position } of change.minutes) this.#minutes.set(minute, position)
    for (const { cellar, minute, code, count } of change.minuteCounts)
      add(this.#minuteCounts, [cellar ?? '*', minute, code], count)
    for (const { cellar, key, hour, code, count } of change.hourCounts)
      add(this.#hourCounts, [key, hour, code, cellar], count)
    for (const { key, rack, minute } of change.seen) {
      const pair = `${key} ${rack}`
      this.#seen.set(pair, Math.max(minute, this.#seen.get(pair) ?? 0))
    }
    for (const each of change.forgotten) this.#forget(each)
  }

  /** Counts from before these times may be deleted already. */
  rows(fromMinute: number, fromHour: number): Readonly<Record<string, readonly string[]>> {
    const places = this.#places.map(({ position, recordedAt, kind, type, actor, key, cellar, stream, revision }) =>
      [position, recordedAt, kind, type, actor, key ?? '', cellar ?? '', stream, revision].join(' '),
    )
    return {
      places: places.toSorted(),
      minutes: textsOf(this.#minutes, () => true),
      minuteCounts: textsOf(this.#minuteCounts, (place) => timeIn(place) >= fromMinute),
      hourCounts: textsOf(this.#hourCounts, (place) => timeIn(place) >= fromHour),
      seen: textsOf(this.#seen, () => true),
    }
  }

  #forget({ stream, keptFrom, counts }: AskChange['forgotten'][number]): void {
    this.#places = this.#places.filter((place) => place.stream !== stream || place.revision >= keptFrom)
    if (counts === null) return
    const { what, key, cellar, beforeMs } = counts
    const isOfKind = (code: string | undefined): boolean => (code === 'accepted') === (what === 'accepted')
    for (const place of this.#hourCounts.keys()) {
      const [owner, hour, code] = place.split(' ')
      if (owner === key && Number(hour) < beforeMs / 3_600_000 && isOfKind(code)) this.#hourCounts.delete(place)
    }
    for (const [place, count] of this.#minuteCounts) {
      const [owner, minute, code] = place.split(' ')
      if (owner !== cellar || Number(minute) >= beforeMs / 60_000 || !isOfKind(code)) continue
      this.#minuteCounts.delete(place)
      const ofAll = `* ${minute} ${code}`
      const left = (this.#minuteCounts.get(ofAll) ?? 0) - count
      if (left > 0) this.#minuteCounts.set(ofAll, left)
      else this.#minuteCounts.delete(ofAll)
    }
    if (what === 'refused') return
    for (const [pair, minute] of this.#seen) {
      if (pair.startsWith(`${key} `) && minute < beforeMs / 60_000) this.#seen.delete(pair)
    }
  }
}

const add = (counts: Map<string, number>, place: readonly (string | number)[], count: number): void => {
  const text = place.join(' ')
  counts.set(text, count + (counts.get(text) ?? 0))
}

const timeIn = (place: string): number => Number(place.split(' ')[1])

const textsOf = <Key>(entries: ReadonlyMap<Key, number>, isWanted: (key: Key) => boolean): readonly string[] =>
  [...entries].flatMap(([key, value]) => (isWanted(key) ? [`${key} ${value}`] : [])).toSorted()

const name = (column: string): string => `(SELECT name FROM names WHERE id = ${column})`

/** The rows of the file, in the form of `NaiveIndex.rows`. */
export const rowsOfFile = (dataDir: string, fromMinute: number, fromHour: number): ReturnType<NaiveIndex['rows']> => ({
  places: rowsIn(
    dataDir,
    `SELECT position, recorded_at, ${['kind', 'type', 'actor', 'key', 'cellar', 'stream'].map(name).join(', ')}, revision FROM places`,
  ),
  minutes: rowsIn(dataDir, 'SELECT minute, position FROM minutes'),
  minuteCounts: rowsIn(
    dataDir,
    `SELECT coalesce(${name('cellar')}, '*'), minute, ${name('code')}, count FROM minute_counts WHERE minute >= ${fromMinute}`,
  ),
  hourCounts: rowsIn(
    dataDir,
    `SELECT ${name('key')}, hour, ${name('code')}, ${name('cellar')}, count FROM hour_counts WHERE hour >= ${fromHour}`,
  ),
  seen: rowsIn(dataDir, `SELECT ${name('key')}, rack, minute FROM seen`),
})

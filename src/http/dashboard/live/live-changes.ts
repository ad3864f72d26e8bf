import { isBatch } from '../../../domain/reading/columns.ts'
import { isRun, itemCount, type LogItem } from '../../../domain/reading/recorded-run.ts'
import { categoryOf, isRecordStream, readingsStream } from '../../../domain/stream-names.ts'

/** Whose readings make the service render a page again. All other events change every page. */
export type Topic = { readonly cellar: string } | { readonly keyId: string } | 'all' | 'no readings'

export type Changes = { readonly readings: number; readonly others: number }

type Count = { changes: number; pages: number }

/** Counts by topic, which `LivePush` compares in each tick. So an event costs the same for any number of open pages. */
export class LiveChanges {
  readonly #cellars = new Map<string, Count>()
  /** By readings stream, because the event of a reading carries that and no key id. */
  readonly #keys = new Map<string, Count>()
  #readings = 0
  #others = 0
  /** Of operators and records, which only lists of events show. */
  #listed = 0

  watch(topic: Topic): void {
    if (typeof topic === 'string') return
    const [counts, name] = this.#placeOf(topic)
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { changes: 0, pages: 1 })
    else known.pages += 1
  }

  unwatch(topic: Topic): void {
    if (typeof topic === 'string') return
    const [counts, name] = this.#placeOf(topic)
    const known = counts.get(name)
    if (known === undefined) return
    known.pages -= 1
    if (known.pages === 0) counts.delete(name)
  }

  /** Readings are counted only while a page about them is open, so the maps stay small. */
  of({ topic, listsEvents }: { readonly topic: Topic; readonly listsEvents: boolean }): Changes {
    return { readings: this.#readingsOf(topic), others: this.#others + (listsEvents ? this.#listed : 0) }
  }

  nudge(): void {
    this.#others += 1
  }

  note(item: LogItem): void {
    const name = cellarOf(item)
    if (name === null) {
      if (isShownEverywhere(item.stream)) this.#others += 1
      else this.#listed += 1
      return
    }
    const count = itemCount(item)
    this.#readings += count
    const cellar = this.#cellars.get(name)
    if (cellar !== undefined) cellar.changes += count
    const key = this.#keys.get(item.stream)
    if (key !== undefined) key.changes += count
  }

  #readingsOf(topic: Topic): number {
    if (topic === 'all') return this.#readings
    if (topic === 'no readings') return 0
    const [counts, name] = this.#placeOf(topic)
    return counts.get(name)?.changes ?? 0
  }

  #placeOf(topic: Exclude<Topic, string>): readonly [Map<string, Count>, string] {
    return 'cellar' in topic ? [this.#cellars, topic.cellar] : [this.#keys, readingsStream(topic.keyId)]
  }
}

const isShownEverywhere = (stream: string): boolean => categoryOf(stream) !== 'operator' && !isRecordStream(stream)

/** `null` for anything but a reading. All readings of a run have the cellar of its key. */
const cellarOf = (item: LogItem): string | null => {
  if (!isRun(item)) return item.type === 'ReadingAccepted' ? item.data.cellar : null
  const readings = item.run.requests[0]?.readings
  if (readings === undefined) return null
  return isBatch(readings) ? readings.cellar.text : readings.cellar
}

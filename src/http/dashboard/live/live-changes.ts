import type { RecordedEvent } from '../../../domain/events.ts'
import { readingsStream } from '../../../domain/stream-names.ts'

/** A page changes with the readings of all, of one cellar or of one key. Events that are not readings change every page. */
export type Topic = { readonly cellar: string } | { readonly keyId: string } | 'all'

type Count = { changes: number; pages: number }

/**
 * How often each watched topic has changed. An event costs the same however many pages are watched: a page finds out by
 * itself, once in each tick, whether its topic has changed.
 */
export class LiveChanges {
  readonly #cellars = new Map<string, Count>()
  /** By stream. */
  readonly #keys = new Map<string, Count>()
  #readings = 0
  #others = 0

  watch(topic: Topic): void {
    if (topic === 'all') return
    const [counts, name] = this.#placeOf(topic)
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { changes: 0, pages: 1 })
    else known.pages += 1
  }

  unwatch(topic: Topic): void {
    if (topic === 'all') return
    const [counts, name] = this.#placeOf(topic)
    const known = counts.get(name)
    if (known === undefined) return
    known.pages -= 1
    if (known.pages === 0) counts.delete(name)
  }

  /** Grows with each change of the topic, as long as it is watched. */
  of(topic: Topic): number {
    if (topic === 'all') return this.#others + this.#readings
    const [counts, name] = this.#placeOf(topic)
    return this.#others + (counts.get(name)?.changes ?? 0)
  }

  note(event: RecordedEvent): void {
    if (event.type !== 'ReadingAccepted') {
      this.#others += 1
      return
    }
    this.#readings += 1
    const cellar = this.#cellars.get(event.data.cellar)
    if (cellar !== undefined) cellar.changes += 1
    const key = this.#keys.get(event.stream)
    if (key !== undefined) key.changes += 1
  }

  #placeOf(topic: Exclude<Topic, 'all'>): readonly [Map<string, Count>, string] {
    return 'cellar' in topic ? [this.#cellars, topic.cellar] : [this.#keys, readingsStream(topic.keyId)]
  }
}

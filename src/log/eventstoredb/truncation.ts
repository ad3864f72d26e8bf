import { randomUUID } from 'node:crypto'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { categoryOf, purgeableCategories } from '../../domain/stream-names.ts'
import { conflictRetriesMax, storeStreamsRememberedMax } from '../../limits.ts'
import { Outage } from '../event-log.ts'
import type { Appends } from './appends.ts'
import { metadataNameOf, type StreamNames } from './store-streams.ts'
import type { StoredEvent } from './stored-events.ts'
import { encodeRun } from './wire.ts'

/** Asked at once, before a page of the whole log is returned. */
const truncationReadsMax = 64

export type TruncationParts = {
  readonly names: StreamNames
  readonly appends: Appends
  /** How long an answer counts without `forget`. Default: for ever. */
  readonly keptMs?: number
  readLast(streamName: string): Promise<StoredEvent | null>
}

/**
 * EventStoreDB hides truncated events at once in their stream, but in the whole log only after a scavenge. Names have the
 * prefix.
 */
export class Truncations {
  readonly #parts: TruncationParts
  readonly #firstRevisions = new BoundedMap<string, { readonly atMs: number; readonly asked: Promise<number> }>(
    storeStreamsRememberedMax,
  )

  constructor(parts: TruncationParts) {
    this.#parts = parts
  }

  /** Sets `$tb` (truncate before). @throws Outage */
  async truncate(streamName: string, before: number): Promise<void> {
    const { appends, readLast } = this.#parts
    const metadataName = metadataNameOf(streamName)
    for (let tries = 0; tries <= conflictRetriesMax; tries += 1) {
      const last = await readLast(metadataName)
      if (firstRevisionIn(last) >= before) return
      const data = JSON.stringify({ ...metadataIn(last), $tb: before })
      const run = encodeRun([{ id: randomUUID(), type: '$metadata', metadata: '', data }])
      const expected = last?.revision ?? 'none'
      const appended = await appends.append({ streamName: metadataName, expected, events: 1, isTraffic: false, run })
      this.forget(streamName)
      if (appended.outcome === 'stored') return
    }
    throw new Outage(`Cannot write "${metadataName}": others keep writing it`, 'not_written', 'unavailable')
  }

  /** Call this when another node has truncated the stream. */
  forget(streamName: string): void {
    this.#firstRevisions.delete(streamName)
  }

  /** Leaves out truncated events. @throws Outage */
  async shown(events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> {
    const streams = [...new Set(events.map(({ streamName }) => streamName))].filter((name) => this.#isPurgeable(name))
    const first = new Map<string, number>()
    while (streams.length > 0) {
      const asked = streams
        .splice(0, truncationReadsMax)
        .map(async (name) => first.set(name, await this.#firstOf(name)))
      await Promise.all(asked)
    }
    return events.filter(({ streamName, revision }) => revision >= (first.get(streamName) ?? 0))
  }

  #isPurgeable(streamName: string): boolean {
    return purgeableCategories.includes(categoryOf(this.#parts.names.streamOf(streamName)))
  }

  #firstOf(streamName: string): Promise<number> {
    const { keptMs = Number.POSITIVE_INFINITY } = this.#parts
    const atMs = performance.now()
    const known = this.#firstRevisions.get(streamName)
    if (known !== undefined && atMs - known.atMs < keptMs) return known.asked
    const asked = this.#parts.readLast(metadataNameOf(streamName)).then(firstRevisionIn)
    this.#firstRevisions.set(streamName, { atMs, asked })
    asked.catch(() => this.forget(streamName))
    return asked
  }
}

const firstRevisionIn = (metadata: StoredEvent | null): number => Number(metadataIn(metadata)['$tb'] ?? 0)

const metadataIn = (event: StoredEvent | null): Readonly<Record<string, unknown>> => {
  const value: unknown = JSON.parse(event?.data ?? '{}')
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

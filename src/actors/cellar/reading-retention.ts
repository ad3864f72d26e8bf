import { type Purge, purgeBefore } from '../../domain/cellar.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { cellarStream, readingsStream } from '../../domain/stream-names.ts'
import { DamagedLog, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { eventAt, firstSince } from '../key/load-readings.ts'
import type { Registry } from '../registry.ts'
import type { TimesTold } from '../time/clock-watch.ts'
import { PurgeClock } from '../time/purge-clock.ts'
import type { CellarActor } from './cellar-actor.ts'
import { RecordRetention } from './record-retention.ts'

/** Purge events in one append, one per key. They take about 200 KB, and EventStoreDB takes at most 1 MiB. */
export const purgesPerAppendMax = 256

type Purging = {
  /** Of the newest event at the node's start, in ms. A clock far ahead of it can be wrong, and a purge cannot be undone. */
  newestMs(): number
  onTimes(told: TimesTold): void
  /** Also of removed webhooks. */
  deliveryStreams(): readonly string[]
}

/**
 * docs/decisions/006-retention-hides-then-deletes.md. A node can die between the event and the truncation, so every node
 * truncates all streams with purged readings, also at its start.
 */
export class Retention {
  readonly #context: ActorContext
  readonly #cellars: Registry<CellarActor>
  /** By key id: the first revision to keep. `null` until the first run. */
  #untruncated: Map<string, number> | null = null
  /** By cellar: the `acceptedBefore` of the last complete run. A run with the same value skips the cellar. */
  readonly #doneBefore = new Map<string, number>()
  /** Key ids whose readings are missing without a purge event. The value is true if that was reported. */
  #gaps: ReadonlyMap<string, boolean> = new Map()
  #running: Promise<void> | null = null
  readonly #purging: Purging
  readonly #records: RecordRetention
  #clock: PurgeClock | null = null
  #isDoubtTold = false

  constructor(context: ActorContext, cellars: Registry<CellarActor>, purging: Purging) {
    this.#context = context
    this.#cellars = cellars
    this.#purging = purging
    this.#records = new RecordRetention(context, purging.deliveryStreams)
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'ReadingsPurged') this.#mustTruncate(event.data.keyId)
  }

  run(): Promise<void> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #runOnce(): Promise<void> {
    try {
      await this.#truncate()
      await this.#purge()
      this.#tellGaps()
    } catch (error) {
      if (!(error instanceof Outage)) this.#context.onBug(error)
    }
  }

  async #purge(): Promise<void> {
    const now = this.#context.clock.now()
    this.#clock ??= new PurgeClock(this.#purging.newestMs())
    const doubtedByMs = this.#clock.doubtedBy(now)
    const cellars = this.#context.projections.cellars.list().filter(({ policy }) => policy.retentionMs !== null)
    this.#tellDoubt(cellars.length === 0 ? 0 : doubtedByMs)
    if (doubtedByMs > 0) return
    for (const { cellar } of cellars) await this.#purgeCellar(cellar, now)
    await this.#records.run(now)
  }

  #tellDoubt(byMs: number): void {
    const isDoubted = byMs > 0
    if (isDoubted !== this.#isDoubtTold)
      this.#purging.onTimes(isDoubted ? { kind: 'doubted', byMs } : { kind: 'doubted_no_more' })
    this.#isDoubtTold = isDoubted
  }

  async #purgeCellar(cellar: string, now: number): Promise<void> {
    const { projections } = this.#context
    const retentionMs = projections.cellars.get(cellar)?.policy.retentionMs ?? null
    if (retentionMs === null) return
    const acceptedBefore = purgeBefore(now, retentionMs)
    if (acceptedBefore <= (this.#doneBefore.get(cellar) ?? 0)) return
    let purges: Purge[] = []
    const record = async (): Promise<boolean> => {
      const actor = this.#cellars.get(cellarStream(cellar))
      const recorded = await actor?.purge({ type: 'PurgeReadings', purges, acceptedBefore, retentionMs })
      // Nothing is recorded if the retention was changed meanwhile. Then the next run tries again.
      const isRecorded = recorded?.ok === true && projections.cellars.get(cellar)?.policy.retentionMs === retentionMs
      for (const { keyId } of purges) this.#mustTruncate(keyId)
      purges = []
      await this.#truncate()
      return isRecorded
    }
    for (const { keyId } of projections.keys.ofCellar(cellar)) {
      if (this.#context.isStopping) return
      const purge = await this.#undamagedPurgeOf(keyId, acceptedBefore)
      if (purge !== null) purges.push(purge)
      if (purges.length === purgesPerAppendMax && !(await record())) return
    }
    if (purges.length > 0 && !(await record())) return
    this.#doneBefore.set(cellar, acceptedBefore)
  }

  /** `null` also for damaged readings: the damage of one key must not stop the purges of all others. */
  async #undamagedPurgeOf(keyId: string, acceptedBefore: number): Promise<Purge | null> {
    try {
      return await this.#purgeOf(keyId, acceptedBefore)
    } catch (error) {
      if (error instanceof DamagedLog) return null
      throw error
    }
  }

  /**
   * `null` if there is nothing to purge. Revisions give the number of readings, so few events are read. The key's last
   * reading and the events after it stay: the reading shows the last use, and a seal can follow it.
   */
  async #purgeOf(keyId: string, acceptedBefore: number): Promise<Purge | null> {
    const { log, projections } = this.#context
    const { readings } = projections
    const last = readings.usage(keyId)?.last
    const firstRevision = readings.purged(keyId)?.keptFrom ?? 0
    if (last === undefined || last.revision <= firstRevision) return null
    const first = await eventAt(log, last.stream, firstRevision)
    if (first.recordedAt >= acceptedBefore) return null
    const end =
      last.recordedAt < acceptedBefore ? last.revision : (await firstSince(log, last, acceptedBefore)).revision
    const barriers = new Set(readings.barriers(keyId).map(({ revision }) => revision))
    const inRange = [...barriers].filter((revision) => revision >= firstRevision && revision < end).length
    const count = end - firstRevision - inRange
    if (count <= 0) return null
    let lastAccepted = end - 1
    while (barriers.has(lastAccepted)) lastAccepted -= 1
    const { recordedAt } = await eventAt(log, last.stream, lastAccepted)
    return { keyId, firstRevision, lastRevision: end - 1, readings: count, lastAcceptedAt: recordedAt }
  }

  async #truncate(): Promise<void> {
    for (const [keyId, before] of this.#toTruncate()) {
      if (this.#context.isStopping) return
      try {
        await this.#context.log.truncate(readingsStream(keyId), before)
      } catch (error) {
        // The other streams do not wait for a damaged one.
        if (error instanceof DamagedLog) continue
        if (error instanceof Outage) throw error
        this.#context.onBug(error)
      }
      if (this.#untruncated?.get(keyId) === before) this.#untruncated.delete(keyId)
    }
  }

  #mustTruncate(keyId: string): void {
    const purged = this.#context.projections.readings.purged(keyId)
    if (purged !== null) this.#untruncated?.set(keyId, purged.keptFrom)
  }

  /** At first all keys with purged readings: an earlier process can have stopped before the truncation. */
  #toTruncate(): readonly (readonly [string, number])[] {
    if (this.#untruncated !== null) return [...this.#untruncated]
    const { readings } = this.#context.projections
    this.#untruncated = new Map(readings.purgedKeys().map((keyId) => [keyId, readings.purged(keyId)?.keptFrom ?? 0]))
    return [...this.#untruncated]
  }

  /** Reports gaps that two runs in a row have found: by then, the purge events of other nodes have arrived. */
  #tellGaps(): void {
    const before = this.#gaps
    const gaps = this.#context.projections.readings.gaps()
    for (const keyId of gaps) {
      if (before.get(keyId) !== false) continue
      this.#context.onBug(new Error(`Readings of key ${keyId} are missing from the log without a ReadingsPurged event`))
    }
    this.#gaps = new Map(gaps.map((keyId) => [keyId, before.has(keyId)]))
  }
}

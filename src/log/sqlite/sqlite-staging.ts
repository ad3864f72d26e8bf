import { BoundedMap } from '../../domain/bounded-map.ts'
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { NewRow } from '../codec/codec.ts'
import { type AppendResult, type ExpectedRevision, UndecodableEvent } from '../event-log.ts'
import { recordRun } from '../storable.ts'
import { GroupPacker, type PackedGroup } from './commit-group.ts'
import type { Head, SqliteReads } from './sqlite-reads.ts'

/** An append with its rows encoded. */
export type EncodedAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  readonly rows: readonly NewRow[]
}

/** What becomes of one append of a group, provided that the group is committed. */
export type Fate = { readonly result: AppendResult } | { readonly fault: UndecodableEvent }

export type Staged = {
  /** In the order of the group. */
  readonly fates: readonly Fate[]
  /** `null`: there is nothing to write. */
  readonly packed: PackedGroup | null
  readonly epoch: number
}

/**
 * Judges the appends of a group, each by what is committed and by all that was staged before it, and numbers what they
 * write. So a group can be on its way before the one before it is committed; if that fails, `forget` takes both back.
 */
export class SqliteStaging {
  readonly #reads: SqliteReads
  /** Where streams end: of those used last, the others are looked up. */
  readonly #heads = new BoundedMap<string, Head>(storeStreamsRememberedMax)
  /** What is staged and not committed: by group, then by append. */
  #uncommitted: (readonly RecordedEvent[])[][] = []
  #epoch = 0
  #nextPosition = 0
  #nextStreamId = 0
  /** Where the log ends must be asked before anything is numbered. */
  #isForgotten = false

  constructor(reads: SqliteReads) {
    this.#reads = reads
    this.#recall()
  }

  /** The last event staged has the one before it. */
  get nextPosition(): number {
    return this.#nextPosition
  }

  /** Goes up when what was staged is taken back. */
  get epoch(): number {
    return this.#epoch
  }

  /** @throws what a disk that can't be read throws; then nothing of the group was numbered. */
  stage(group: readonly EncodedAppend[]): Staged {
    const packer = new GroupPacker()
    try {
      if (this.#isForgotten) this.#recall()
      this.#uncommitted.push([])
      const fates = group.map((append) => this.#fateOf(append, packer))
      return { fates, packed: packer.isEmpty ? null : packer.pack(this.#epoch), epoch: this.#epoch }
    } catch (cause) {
      this.forget()
      throw cause
    }
  }

  /** The group that was staged first of those under way is committed. */
  committed(): void {
    this.#uncommitted.shift()
  }

  /**
   * What was staged is not written, or written by another: nothing that was remembered may be believed. What is so is read
   * by the next group, since whoever calls this has to say what became of the last, and a disk that fails may fail at both.
   */
  forget(): void {
    this.#epoch += 1
    this.#uncommitted = []
    this.#heads.clear()
    this.#isForgotten = true
  }

  #recall(): void {
    const ends = this.#reads.ends()
    this.#nextPosition = ends.nextPosition
    this.#nextStreamId = ends.nextStreamId
    this.#isForgotten = false
  }

  /** One that can't be compared with what is stored fails by itself; its neighbours go on. */
  #fateOf(append: EncodedAppend, packer: GroupPacker): Fate {
    try {
      return { result: this.#append(append, packer) }
    } catch (cause) {
      if (cause instanceof UndecodableEvent) return { fault: cause }
      throw cause
    }
  }

  #append({ stream, expected, events, rows }: EncodedAppend, packer: GroupPacker): AppendResult {
    const head = this.#head(stream)
    const revision = expected === 'none' ? 0 : expected + 1
    const nextRevision = head?.nextRevision ?? 0
    if (revision !== nextRevision) return this.#writtenBefore(stream, events, { revision, nextRevision })

    const recorded = recordRun(stream, events, { revision, position: this.#nextPosition })
    const id = head?.id ?? this.#beginStream(stream, packer)
    let at = revision
    for (const row of rows) {
      packer.addRow(row, { position: this.#nextPosition, stream: id, revision: at })
      at += row.count
      this.#nextPosition += row.count
    }
    this.#heads.set(stream, { id, nextRevision: at })
    this.#uncommitted.at(-1)?.push(recorded)
    return { outcome: 'written', events: recorded }
  }

  #writtenBefore(
    stream: string,
    events: readonly NewEvent[],
    { revision, nextRevision }: { readonly revision: number; readonly nextRevision: number },
  ): AppendResult {
    if (revision + events.length <= nextRevision) {
      const there = this.#eventsAt(stream, revision, events.length)
      const isSame = there.length === events.length && there.every((event, index) => event.id === events[index]?.id)
      if (isSame) return { outcome: 'already_written', events: there }
    }
    return { outcome: 'conflict', currentRevision: nextRevision === 0 ? null : nextRevision - 1 }
  }

  /** Committed ones, and behind them those on their way, some of which may be committed by now. */
  #eventsAt(stream: string, revision: number, count: number): readonly RecordedEvent[] {
    const committed = this.#reads.read(stream, { from: revision, limit: count })
    // The place is gone: what comes first is not what lay there.
    if ((committed[0]?.revision ?? revision) !== revision) return []
    const next = revision + committed.length
    const onTheirWay = this.#uncommitted.flat(2).filter((event) => event.stream === stream && event.revision >= next)
    return [...committed, ...onTheirWay].slice(0, count)
  }

  #head(stream: string): Head | null {
    const known = this.#heads.get(stream)
    if (known !== undefined) return known
    const head = this.#reads.head(stream)
    if (head !== null) this.#heads.set(stream, head)
    return head
  }

  #beginStream(stream: string, packer: GroupPacker): number {
    const id = this.#nextStreamId
    packer.beginStream(id, stream)
    this.#nextStreamId += 1
    return id
  }
}

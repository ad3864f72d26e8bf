import { BoundedMap } from '../../domain/bounded-map.ts'
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { NewRow } from '../codec/codec.ts'
import { type AppendResult, type ExpectedRevision, UndecodableEvent } from '../event-log.ts'
import { recordRun } from '../storable.ts'
import { GroupPacker, type PackedGroup } from './commit-group.ts'
import type { Head, SqliteReads } from './sqlite-reads.ts'

export type EncodedAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  readonly rows: readonly NewRow[]
}

/** Valid if the group is committed. */
export type StagedAppend = { readonly result: AppendResult } | { readonly fault: UndecodableEvent }

export type Staged = {
  readonly appends: readonly StagedAppend[]
  /** `null`: there is nothing to write. */
  readonly packed: PackedGroup | null
  readonly epoch: number
}

/**
 * Judges and numbers appends by what is committed and by what was staged before. So a group can be sent before the
 * group before it is committed.
 */
export class SqliteStaging {
  readonly #reads: SqliteReads
  /** Of the streams used last. Other heads are read again. */
  readonly #heads = new BoundedMap<string, Head>(storeStreamsRememberedMax)
  /** By group, then by append. */
  #uncommitted: (readonly RecordedEvent[])[][] = []
  #epoch = 0
  #nextPosition = 0
  #nextStreamId = 0
  /** The log's end must be read before anything is numbered. */
  #mustReadEnds = false

  constructor(reads: SqliteReads) {
    this.#reads = reads
    this.#readEnds()
  }

  get nextPosition(): number {
    return this.#nextPosition
  }

  /** Grows when staged groups are taken back. */
  get epoch(): number {
    return this.#epoch
  }

  /** @throws SQLiteError if the disk cannot be read. Then nothing of the group was numbered. */
  stage(group: readonly EncodedAppend[]): Staged {
    const packer = new GroupPacker()
    try {
      if (this.#mustReadEnds) this.#readEnds()
      this.#uncommitted.push([])
      const appends = group.map((append) => this.#stageAppend(append, packer))
      return { appends, packed: packer.isEmpty ? null : packer.pack(this.#epoch), epoch: this.#epoch }
    } catch (cause) {
      this.reset()
      throw cause
    }
  }

  committed(): void {
    this.#uncommitted.shift()
  }

  /** Takes back all staged groups. Reading the log's end here could fail too, and hide the first failure. */
  reset(): void {
    this.#epoch += 1
    this.#uncommitted = []
    this.#heads.clear()
    this.#mustReadEnds = true
  }

  #readEnds(): void {
    const ends = this.#reads.ends()
    this.#nextPosition = ends.nextPosition
    this.#nextStreamId = ends.nextStreamId
    this.#mustReadEnds = false
  }

  /** An append that cannot be compared with stored events fails alone. */
  #stageAppend(append: EncodedAppend, packer: GroupPacker): StagedAppend {
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

  /** Some staged events may be committed by now. */
  #eventsAt(stream: string, revision: number, count: number): readonly RecordedEvent[] {
    const committed = this.#reads.read(stream, { from: revision, limit: count })
    // The event at `revision` is truncated.
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

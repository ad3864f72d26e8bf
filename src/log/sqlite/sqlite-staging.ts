import { SQLiteError } from 'bun:sqlite'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { eventsOfItems, type LogItem, ReadingRun } from '../../domain/reading/recorded-run.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { NewRow } from '../codec/codec.ts'
import { type AppendResult, DamagedLog, type ExpectedRevision, type ToAppend, UndecodableEvent } from '../event-log.ts'
import { countToAppend, eventsToAppend, recordedAs } from '../storable.ts'
import { GroupPacker, type PackedGroup } from './packed-group.ts'
import { nameChecksumOf } from './reads/row-checksum.ts'
import type { Head, SqliteReads } from './reads/sqlite-reads.ts'
import { faultOf } from './sqlite-faults.ts'

export type EncodedAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: ToAppend
  readonly rows: readonly NewRow[]
}

/** The caller gets the result only after the commit, because the commit can fail. */
export type StagedAppend =
  | { readonly result: AppendResult; readonly recorded: readonly LogItem[] }
  | { readonly fault: UndecodableEvent | DamagedLog }

type StagedHead = Pick<Head, 'id' | 'nameChecksum'> & {
  nextRevision: number
  /** The number of the last group with events of the stream. */
  group: number
}

export type Staged = {
  readonly appends: readonly StagedAppend[]
  /** `null`: no row, for example because each append is a conflict. */
  readonly packed: PackedGroup | null
  readonly epoch: number
}

/** docs/decisions/008-commits-in-groups-on-a-thread.md */
export class SqliteStaging {
  readonly #reads: SqliteReads
  /** A stream with staged events stays, because the file does not have these yet. */
  readonly #heads = new BoundedMap<string, StagedHead>(
    storeStreamsRememberedMax,
    ({ group }) => group > this.#committedGroup,
  )
  /** Groups are committed in the order of their numbers. */
  #committedGroup = 0
  /**
   * The items of each append of each group. An append that is sent again is compared with them, because the file may not
   * have them yet.
   */
  #uncommitted: (readonly LogItem[])[][] = []
  #epoch = 0
  #nextPosition = 0
  #nextStreamId = 0
  #mustReadEnds = false

  constructor(reads: SqliteReads) {
    this.#reads = reads
    this.#readEnds()
  }

  get nextPosition(): number {
    return this.#nextPosition
  }

  /** A group of an older epoch must be staged again. */
  get epoch(): number {
    return this.#epoch
  }

  /** @throws SQLiteError if the disk cannot be read. Then all staged groups are discarded. */
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

  /** The oldest staged group is now read from the file. */
  committed(): void {
    this.#uncommitted.shift()
    this.#committedGroup += 1
  }

  /** The log's end is read later: an error of that read would hide the first failure. */
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

  /** If a stored event is damaged or unknown, only this append fails. */
  #stageAppend(append: EncodedAppend, packer: GroupPacker): StagedAppend {
    try {
      return this.#append(append, packer)
    } catch (cause) {
      const fault = cause instanceof SQLiteError ? faultOf(`read "${append.stream}"`, cause) : cause
      if (fault instanceof UndecodableEvent || fault instanceof DamagedLog) return { fault }
      throw cause
    }
  }

  #append({ stream, expected, events, rows }: EncodedAppend, packer: GroupPacker): StagedAppend {
    const head = this.#head(stream)
    const revision = expected === 'none' ? 0 : expected + 1
    const nextRevision = head?.nextRevision ?? 0
    if (revision !== nextRevision) {
      return { result: this.#writtenBefore(stream, events, { revision, nextRevision }), recorded: [] }
    }

    const recorded = recordedAs(stream, events, { revision, position: this.#nextPosition })
    const { id, nameChecksum } = head ?? this.#beginStream(stream, packer)
    let at = revision
    for (const row of rows) {
      packer.addRow(row, { position: this.#nextPosition, stream: id, revision: at, nameChecksum })
      at += row.count
      this.#nextPosition += row.count
    }
    const group = this.#committedGroup + this.#uncommitted.length
    // A known head is changed in place. Setting it again would move it in the map, which would take five times the memory.
    if (head === null) this.#heads.set(stream, { id, nextRevision: at, nameChecksum, group })
    else {
      head.nextRevision = at
      head.group = group
    }
    this.#uncommitted.at(-1)?.push(recorded)
    return {
      result: { outcome: 'written', events: events instanceof ReadingRun ? [] : eventsOfItems(recorded) },
      recorded,
    }
  }

  #writtenBefore(
    stream: string,
    toAppend: ToAppend,
    { revision, nextRevision }: { readonly revision: number; readonly nextRevision: number },
  ): AppendResult {
    if (revision + countToAppend(toAppend) <= nextRevision) {
      const events = eventsToAppend(toAppend)
      const there = this.#eventsAt(stream, revision, events.length)
      const isSame = there.length === events.length && there.every((event, index) => event.id === events[index]?.id)
      if (isSame) return { outcome: 'already_written', events: there }
    }
    return { outcome: 'conflict', currentRevision: nextRevision === 0 ? null : nextRevision - 1 }
  }

  /** A staged event may already be in the file: it must not come twice. */
  #eventsAt(stream: string, revision: number, count: number): readonly RecordedEvent[] {
    const committed = this.#reads.read(stream, { from: revision, limit: count })
    // The event at `revision` is truncated, and cannot be compared.
    if ((committed[0]?.revision ?? revision) !== revision) return []
    const next = revision + committed.length
    const ofStream = this.#uncommitted.flat(2).filter((item) => item.stream === stream)
    const onTheirWay = eventsOfItems(ofStream).filter((event) => event.revision >= next)
    return [...committed, ...onTheirWay].slice(0, count)
  }

  #head(stream: string): StagedHead | null {
    const known = this.#heads.get(stream)
    if (known !== undefined) return known
    const inFile = this.#reads.head(stream)
    if (inFile === null) return null
    const head = { ...inFile, group: this.#committedGroup }
    this.#heads.set(stream, head)
    return head
  }

  #beginStream(stream: string, packer: GroupPacker): Pick<Head, 'id' | 'nameChecksum'> {
    const id = this.#nextStreamId
    packer.beginStream(id, stream)
    this.#nextStreamId += 1
    return { id, nameChecksum: nameChecksumOf(stream) }
  }
}

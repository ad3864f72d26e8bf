import { sharedCategoryOf } from '../../../domain/stream-names.ts'
import { storeStreamsRememberedMax } from '../../../limits.ts'
import { DamagedLog, type DamagedPlace } from '../../event-log.ts'
import type { ReadStatements } from './read-statements.ts'
import { assertUndamaged, markChecksum, nameChecksumOf, type Row } from './row-checksum.ts'
import type { Neighbours, OrderCheck } from './row-order.ts'

export type KnownStream = {
  readonly id: number
  readonly name: string
  readonly category: string
  /** Reads hide earlier events, although their rows can still be in the file. */
  readonly keptFrom: number
  readonly nameChecksum: number
}

export class KnownStreams {
  readonly neighbours: Neighbours
  readonly #statements: ReadStatements
  /**
   * By id modulo `storeStreamsRememberedMax`: consecutive ids do not displace each other. A map would take ten times the
   * memory.
   */
  readonly #known: (KnownStream | undefined)[] = []
  #hasTruncations = false

  constructor(statements: ReadStatements) {
    this.#statements = statements
    const { endBefore, startFrom } = statements
    this.neighbours = {
      endBefore: (stream, revision) => endBefore.get(stream, revision)?.next_revision ?? null,
      startFrom: (stream, revision) => startFrom.get(stream, revision)?.revision ?? null,
      keptFromNow: (stream) => {
        this.forget(stream)
        return this.get(stream).keptFrom
      },
      hasTruncations: () => this.#findTruncations(),
      streamWithoutRows: (met) => this.#findStreamWithoutRows(met),
    }
  }

  /** @throws DamagedLog if there is none */
  get(id: number): KnownStream {
    const stream = this.find(id)
    if (stream === null) throw noStream(id, { revision: null, position: null })
    return stream
  }

  /** @throws DamagedLog if its row of `truncations` is damaged */
  find(id: number): KnownStream | null {
    const known = this.#known[placeOf(id)]
    if (known?.id === id) return known
    const found = this.#statements.stream.get(id)
    if (found === null) return null
    const { name, kept_from: mark, checksum } = found
    const keptFrom = mark ?? 0
    if (mark !== null && checksum !== markChecksum(name, { stream: id, keptFrom })) {
      const why = 'the mark of its truncated events does not match its checksum'
      throw new DamagedLog({ stream: name, revision: keptFrom, position: null }, why)
    }
    const stream = { id, name, category: sharedCategoryOf(name), keptFrom, nameChecksum: nameChecksumOf(name) }
    this.#known[placeOf(id)] = stream
    return stream
  }

  /** @throws DamagedLog if the row is damaged, or rows before it are missing */
  checked(row: Row, inOrder?: OrderCheck): KnownStream {
    const stream = this.find(row.stream)
    if (stream === null) throw noStream(row.stream, row)
    assertUndamaged(row, stream)
    inOrder?.(row, stream)
    return stream
  }

  /** Call this after a truncation: otherwise reads would show truncated events. */
  forget(id: number): void {
    const place = placeOf(id)
    if (this.#known[place]?.id === id) this.#known[place] = undefined
  }

  forgetAll(): void {
    this.#known.length = 0
  }

  #findTruncations(): boolean {
    this.#hasTruncations ||= this.#statements.anyTruncation.get() !== null
    return this.#hasTruncations
  }

  #findStreamWithoutRows(streamsMet: number): string | null {
    const { streams, streamWithoutRows } = this.#statements
    // Faster than looking for the rows of each.
    if (streams.get()?.streams === streamsMet) return null
    return streamWithoutRows.get()?.name ?? null
  }
}

const placeOf = (id: number): number => id % storeStreamsRememberedMax

const noStream = (id: number, { revision, position }: Omit<DamagedPlace, 'stream'>): DamagedLog =>
  new DamagedLog({ stream: null, revision, position }, `its stream ${id} does not exist`)

/**
 * Revisions of a stream and positions of the log are consecutive, but for truncated events, which lie before the mark of
 * their stream. So as many positions must be missing as revisions before marks; if more are, a stream has lost its end.
 * Rows can be truncated between two steps. Their positions can be missed before their revisions are, so the numbers can
 * differ until the end of the log.
 */
import { checkedBytesBesideBody, checkedRowsPerStep } from '../../limits.ts'
import type { Codec } from '../codec/codec.ts'
import { UndecodableEvent } from '../event-log.ts'
import { nameChecksumOf, type Row, rowChecksum } from '../sqlite/reads/row-checksum.ts'
import { type CheckedFile, isDamage, revisionsIndex, type Step } from './checked-file.ts'
import type { Findings } from './damage-kinds.ts'
import type { StreamFacts } from './stream-facts.ts'

const checkedStepBytes = 256 * 1024

export type RowsCheckParts = {
  readonly file: CheckedFile
  readonly findings: Findings
  readonly streams: StreamFacts
  /** `null`: rows are not decoded. A row that matches its checksum is as it was written. */
  readonly codec: Codec | null
}

export class RowsCheck {
  readonly #parts: RowsCheckParts
  readonly #statements: ReturnType<typeof prepare>
  #checkedTo = Number.MIN_SAFE_INTEGER
  /** The position after the last row. `NaN`: that row is damaged. */
  #edge = 1
  #missingPositions = 0
  #missingRevisions = 0
  #firstGap: { readonly from: number; readonly before: number } | null = null
  /** Nobody knows how many events a damaged row held. */
  #isExact = true
  #canReadIndex = true
  #rows = 0
  #events = 0

  constructor(parts: RowsCheckParts) {
    this.#parts = parts
    this.#statements = prepare(parts.file)
  }

  /** Rows at later positions were not checked. */
  get checkedTo(): number {
    return this.#checkedTo
  }

  get seen(): { readonly rows: number; readonly events: number } {
    return { rows: this.#rows, events: this.#events }
  }

  get canReadIndex(): boolean {
    return this.#canReadIndex
  }

  /** Checks at least up to the row that is the last one now. @throws SQLiteError if a page cannot be read */
  *steps(): Generator<Step> {
    const end = this.#statements.lastPosition.get()?.position ?? 0
    for (let isAtEnd = false; !isAtEnd; ) {
      const bytes = this.#parts.file.atOneMoment(() => this.#checkSome())
      isAtEnd = bytes === null || (this.#checkedTo >= end && this.#lost === 0)
      yield { phase: 'rows', bytes: bytes ?? 0, events: this.#events, share: shareOf(this.#checkedTo, end) }
    }
  }

  /** Returns the bytes read, or `null` after the last row. */
  #checkSome(): number | null {
    let bytes = 0
    for (let rows = 0; rows < checkedRowsPerStep && bytes < checkedStepBytes; rows += 1) {
      const row = this.#statements.nextRow.get(this.#checkedTo)
      if (row === null) return null
      // A damaged page can lead back to an earlier row: an endless loop.
      if (!(row.position > this.#checkedTo)) {
        this.#parts.findings.add('file', { position: this.#checkedTo }, 'its pages are in a wrong order')
        this.#isExact = false
        return null
      }
      this.#checkedTo = row.position
      this.#check(row)
      bytes += checkedBytesBesideBody + (row.body?.length ?? 0)
    }
    return bytes
  }

  #check(row: Row): void {
    const { findings, streams } = this.#parts
    const { position, stream, revision, count } = row
    this.#rows += 1
    const nameChecksum = this.#nameChecksumOf(stream)
    if (nameChecksum === null) {
      findings.add('stream', { revision, position }, `its stream ${stream} does not exist`)
      this.#resync(null)
      return
    }
    streams.countRow(stream)
    if (!this.#isUndamaged(row, nameChecksum)) {
      const place = { stream: this.#parts.file.nameOf(stream), revision, position }
      findings.add('row', place, 'the row does not match its checksum')
      this.#resync(stream)
      return
    }
    this.#events += count
    this.#checkOrder(row)
    this.#checkEntry(row)
    this.#checkDecoding(row)
  }

  /** Accepts any next row, so that one fault is told once. */
  #resync(stream: number | null): void {
    if (stream !== null) this.#parts.streams.setNext(stream, Number.NaN)
    this.#edge = Number.NaN
    this.#isExact = false
  }

  #isUndamaged(row: Row, nameChecksum: number): boolean {
    const { position, revision, count, recordedAt, body, checksum } = row
    const isBody = typeof body === 'string' || body instanceof Uint8Array
    if (!isBody || ![position, revision, count, recordedAt].every(Number.isSafeInteger)) return false
    return rowChecksum(row, nameChecksum) === checksum
  }

  #checkOrder({ position, stream, revision, count }: Row): void {
    const { file, findings, streams } = this.#parts
    const next = streams.next(stream)
    if (revision < next) {
      findings.add('order', { stream: file.nameOf(stream), revision, position }, 'two rows hold the same revision')
    } else if (revision > next) {
      this.#missingRevisions += revision - next
      if (revision > file.keptFrom(stream)) {
        const place = { stream: file.nameOf(stream), revision: next, position }
        findings.add('missing', place, `the events up to revision ${revision - 1} are missing`)
      }
    }
    streams.setNext(stream, revision + count)
    if (position < this.#edge) {
      findings.add('order', { stream: file.nameOf(stream), revision, position }, 'two rows hold the same position')
    } else if (position > this.#edge) {
      this.#missingPositions += position - this.#edge
      this.#firstGap ??= { from: this.#edge, before: position }
    }
    this.#edge = position + count
  }

  #checkEntry({ position, stream, revision, body }: Row): void {
    if (!this.#canReadIndex) return
    const { file, findings } = this.#parts
    const place = () => ({ stream: file.nameOf(stream), revision, position })
    try {
      const { entry: revisions, text } = this.#statements
      const entry = revisions.get(stream, revision)
      const isListed = typeof body !== 'string' || text === null || text.get(position, stream)?.position === position
      if (entry?.position !== position || !isListed)
        findings.add('index', place(), 'no entry of the index leads to this row')
    } catch (cause) {
      if (!isDamage(cause)) throw cause
      findings.add('index', place(), `SQLite cannot read the index: ${cause.message}`)
      this.#canReadIndex = false
    }
  }

  #checkDecoding(row: Row): void {
    const { codec, file, findings } = this.#parts
    if (codec === null) return
    const { revision, position, count } = row
    const stream = file.nameOf(row.stream) ?? ''
    const place = (index: number) => ({ stream, revision: revision + index, position: position + index })
    try {
      const events = codec.decode({ ...row, stream })
      if (events.length !== count) findings.add('undecodable', place(0), `its row has ${events.length} events`)
      for (const [index, event] of events.entries()) {
        if (event.type === 'RecordUnreadable') findings.add('undecodable', place(index), event.data.why)
      }
    } catch (cause) {
      if (!(cause instanceof UndecodableEvent)) throw cause
      findings.add('undecodable', place(cause.revision - revision), `cannot decode ${cause.type}: ${cause.why}`)
    }
  }

  #nameChecksumOf(stream: number): number | null {
    const { file, streams } = this.#parts
    const known = streams.nameChecksum(stream)
    if (known !== null) return known
    // The stream can have begun after the streams were checked.
    const name = file.nameOf(stream)
    if (name === null) return null
    const checksum = nameChecksumOf(name)
    return streams.know(stream, checksum) ? checksum : null
  }

  /** Call this after all steps. */
  compareGaps(): void {
    const { findings } = this.#parts
    const lost = this.#lost
    if (!this.#isExact || lost === 0) return
    if (lost < 0) {
      findings.add('order', {}, `the streams miss ${-lost} more events than the log`)
      return
    }
    const { from, before } = this.#firstGap ?? { from: 0, before: 0 }
    const where = `The first gap is from position ${from} to ${before - 1}`
    findings.add('missing', { position: from }, `${lost} events at the ends of streams are missing. ${where}`)
  }

  get #lost(): number {
    return this.#missingPositions - this.#missingRevisions
  }
}

const shareOf = (position: number, end: number): number => (end === 0 ? 1 : Math.min(1, Math.max(0, position / end)))

const prepare = ({ database, hasTexts }: CheckedFile) => {
  const columns = 'position, stream, revision, count, recorded_at AS recordedAt, body, checksum'
  return {
    nextRow: database.prepare<Row, [number]>(
      `SELECT ${columns} FROM events NOT INDEXED WHERE position > ? ORDER BY position LIMIT 1`,
    ),
    lastPosition: database.prepare<{ position: number }, []>(
      'SELECT position FROM events NOT INDEXED ORDER BY position DESC LIMIT 1',
    ),
    entry: database.prepare<{ position: number }, [number, number]>(
      `SELECT position FROM events INDEXED BY ${revisionsIndex} WHERE stream = ? AND revision = ?`,
    ),
    text: hasTexts
      ? database.prepare<{ position: number }, [number, number]>(
          "SELECT position FROM events INDEXED BY texts WHERE typeof(body) = 'text' AND position = ? AND stream = ?",
        )
      : null,
  }
}

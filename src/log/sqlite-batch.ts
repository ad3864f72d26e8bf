import type { NewRow } from './codec.ts'

/**
 * Rows that one transaction inserts, in a form that is cheap to hand to another thread: two arrays of numbers and bytes,
 * however many rows there are, and the texts.
 */
export type Batch = {
  /** Goes up with each failure: batches of one epoch are numbered one upon the other. */
  readonly epoch: number
  /** Streams that begin with it. */
  readonly streams: readonly { readonly id: number; readonly name: string }[]
  /** Six numbers a row: position, stream, revision, count, recorded at, and its bytes in `blobs`, or -1 if it is a text. */
  readonly rows: Float64Array
  readonly blobs: Uint8Array
  readonly texts: readonly string[]
}

export type BatchRow = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
}

const numbersPerRow = 6

export const firstPositionOf = ({ rows }: Batch): number => rows[0] ?? 0

export class BatchBuilder {
  readonly #streams: { readonly id: number; readonly name: string }[] = []
  readonly #numbers: number[] = []
  readonly #blobs: Uint8Array[] = []
  readonly #texts: string[] = []

  get isEmpty(): boolean {
    return this.#numbers.length === 0
  }

  begin(id: number, name: string): void {
    this.#streams.push({ id, name })
  }

  add(row: NewRow, at: { readonly position: number; readonly stream: number; readonly revision: number }): void {
    const { body, count, recordedAt } = row
    const isText = typeof body === 'string'
    this.#numbers.push(at.position, at.stream, at.revision, count, recordedAt, isText ? -1 : body.length)
    if (isText) this.#texts.push(body)
    else this.#blobs.push(body)
  }

  build(epoch: number): Batch {
    return {
      epoch,
      streams: this.#streams,
      rows: new Float64Array(this.#numbers),
      blobs: this.#blobs.length === 1 && this.#blobs[0] !== undefined ? this.#blobs[0] : Buffer.concat(this.#blobs),
      texts: this.#texts,
    }
  }
}

/** Calls back for each row, in the order in which they were added. */
export const eachRow = ({ rows, blobs, texts }: Batch, call: (row: BatchRow) => void): void => {
  let blobAt = 0
  let textAt = 0
  for (let at = 0; at < rows.length; at += numbersPerRow) {
    const bytes = rows[at + 5] ?? 0
    const body = bytes < 0 ? (texts[textAt] ?? '') : blobs.subarray(blobAt, blobAt + bytes)
    if (bytes < 0) textAt += 1
    else blobAt += bytes
    call({
      position: rows[at] ?? 0,
      stream: rows[at + 1] ?? 0,
      revision: rows[at + 2] ?? 0,
      count: rows[at + 3] ?? 0,
      recordedAt: rows[at + 4] ?? 0,
      body,
    })
  }
}

import type { NewRow } from '../codec/codec.ts'

/**
 * Several appends for one commit, as they are posted to the commit thread. Bun posts a flat object of texts and numbers
 * without its serializer, at half the cost of byte arrays.
 */
export type PackedGroup = {
  /**
   * Grows after each failed group. Positions in a group depend on the earlier groups of the same epoch: if an earlier
   * group fails, the later groups are not written.
   */
  readonly epoch: number
  readonly firstPosition: number
  /** The streams that this group creates, as JSON. An empty text means none. */
  readonly streams: string
  readonly rows: number
  /**
   * Bytes as a text, one character per byte. First come six numbers for each row, as float64: position, stream,
   * revision, count, time of recording, length of the body. A negative length means that the body is a text. The bodies
   * of all rows follow.
   */
  readonly bytes: string
}

export type NewStream = { readonly id: number; readonly name: string }

export type GroupRow = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
}

const numbersPerRow = 6
const numberBytes = 8

export class GroupPacker {
  readonly #streams: NewStream[] = []
  readonly #numbers: number[] = []
  readonly #bodies: Uint8Array[] = []
  #bodyBytes = 0

  get isEmpty(): boolean {
    return this.#numbers.length === 0
  }

  beginStream(id: number, name: string): void {
    this.#streams.push({ id, name })
  }

  addRow(row: NewRow, at: { readonly position: number; readonly stream: number; readonly revision: number }): void {
    const { count, recordedAt } = row
    const isText = typeof row.body === 'string'
    const body = typeof row.body === 'string' ? Buffer.from(row.body) : row.body
    this.#numbers.push(at.position, at.stream, at.revision, count, recordedAt, isText ? -body.length : body.length)
    this.#bodies.push(body)
    this.#bodyBytes += body.length
  }

  pack(epoch: number): PackedGroup {
    const numbers = this.#numbers
    const bytes = Buffer.allocUnsafe(numbers.length * numberBytes + this.#bodyBytes)
    let at = 0
    for (const number of numbers) at = bytes.writeDoubleLE(number, at)
    for (const body of this.#bodies) {
      bytes.set(body, at)
      at += body.length
    }
    return {
      epoch,
      firstPosition: numbers[0] ?? 0,
      streams: this.#streams.length === 0 ? '' : JSON.stringify(this.#streams),
      rows: numbers.length / numbersPerRow,
      bytes: bytes.toString('latin1', 0, at),
    }
  }
}

export const streamsOf = ({ streams }: PackedGroup): readonly NewStream[] => (streams === '' ? [] : JSON.parse(streams))

export const eachRow = (group: PackedGroup, call: (row: GroupRow) => void): void => {
  const bytes = Buffer.from(group.bytes, 'latin1')
  let bodyAt = group.rows * numbersPerRow * numberBytes
  for (let row = 0, at = 0; row < group.rows; row += 1, at += numbersPerRow * numberBytes) {
    const length = bytes.readDoubleLE(at + 5 * numberBytes)
    const body = bytes.subarray(bodyAt, bodyAt + Math.abs(length))
    bodyAt += body.length
    call({
      position: bytes.readDoubleLE(at),
      stream: bytes.readDoubleLE(at + numberBytes),
      revision: bytes.readDoubleLE(at + 2 * numberBytes),
      count: bytes.readDoubleLE(at + 3 * numberBytes),
      recordedAt: bytes.readDoubleLE(at + 4 * numberBytes),
      body: length < 0 ? body.toString() : body,
    })
  }
}

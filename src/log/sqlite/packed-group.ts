import type { NewRow } from '../codec/codec.ts'

export type GroupHead = {
  /** Grows after each failed group: later positions of the epoch depend on that group. */
  readonly epoch: number
  readonly firstPosition: number
  /** JSON of the new streams. Empty: none. */
  readonly streams: string
  readonly rows: number
}

export type PackedGroup = GroupHead & {
  readonly numbers: readonly number[]
  readonly bodies: readonly Uint8Array[]
  readonly byteLength: number
}

export type SharedGroup = GroupHead & { readonly memory: SharedArrayBuffer; readonly at: number }

export type NewStream = { readonly id: number; readonly name: string }

export type GroupRow = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
  /** The commit thread knows only the stream's id. */
  readonly nameChecksum: number
}

/** Position, stream, revision, count, time, length of the body (of a text: negative), checksum of the stream's name. */
const numbersPerRow = 7
const rowNumbersBytes = numbersPerRow * Float64Array.BYTES_PER_ELEMENT

export type PlaceOfRow = Pick<GroupRow, 'position' | 'stream' | 'revision' | 'nameChecksum'>

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

  addRow(row: NewRow, at: PlaceOfRow): void {
    const { count, recordedAt } = row
    const isText = typeof row.body === 'string'
    const body = typeof row.body === 'string' ? Buffer.from(row.body) : row.body
    const length = isText ? -body.length : body.length
    this.#numbers.push(at.position, at.stream, at.revision, count, recordedAt, length, at.nameChecksum)
    this.#bodies.push(body)
    this.#bodyBytes += body.length
  }

  pack(epoch: number): PackedGroup {
    const rows = this.#bodies.length
    return {
      epoch,
      firstPosition: this.#numbers[0] ?? 0,
      streams: this.#streams.length === 0 ? '' : JSON.stringify(this.#streams),
      rows,
      numbers: this.#numbers,
      bodies: this.#bodies,
      byteLength: rows * rowNumbersBytes + this.#bodyBytes,
    }
  }
}

/** All numbers, then all bodies. `at` is a multiple of 8, for `Float64Array`. */
export const writeRows = (group: PackedGroup, memory: SharedArrayBuffer, at: number): SharedGroup => {
  const { epoch, firstPosition, streams, rows, numbers, bodies, byteLength } = group
  new Float64Array(memory, at, numbers.length).set(numbers)
  const bytes = new Uint8Array(memory, at, byteLength)
  let bodyAt = rows * rowNumbersBytes
  for (const body of bodies) {
    bytes.set(body, bodyAt)
    bodyAt += body.length
  }
  return { epoch, firstPosition, streams, rows, memory, at }
}

export const streamsOf = ({ streams }: GroupHead): readonly NewStream[] => (streams === '' ? [] : JSON.parse(streams))

/** `call` must copy the body: the memory gets another group after the verdict. */
export const eachRow = ({ rows, memory, at }: SharedGroup, call: (row: GroupRow) => void): void => {
  const numbers = new Float64Array(memory, at, rows * numbersPerRow)
  let bodyAt = at + rows * rowNumbersBytes
  for (let row = 0, first = 0; row < rows; row += 1, first += numbersPerRow) {
    const length = numberAt(numbers, first + 5)
    const bodyBytes = Math.abs(length)
    call({
      position: numberAt(numbers, first),
      stream: numberAt(numbers, first + 1),
      revision: numberAt(numbers, first + 2),
      count: numberAt(numbers, first + 3),
      recordedAt: numberAt(numbers, first + 4),
      nameChecksum: numberAt(numbers, first + 6),
      body: length < 0 ? Buffer.from(memory, bodyAt, bodyBytes).toString() : new Uint8Array(memory, bodyAt, bodyBytes),
    })
    bodyAt += bodyBytes
  }
}

const numberAt = (numbers: Float64Array, index: number): number => {
  const number = numbers[index]
  if (number === undefined) throw new Error('Cannot happen: each row of a commit group has all its numbers')
  return number
}

/**
 * Each index is ordered only within one type. So a walk reads each type by itself, a few places at once, and merges them.
 */
import { askRowsAtOnceMax } from '../../../limits.ts'
import type { PlacePage } from '../../ask-index.ts'
import type { PlaceRow } from '../ask-rows.ts'

/** Rows of each type that are read first. Most types are rare. */
const askRowsAtOnceMin = 8

export type Direction = PlacePage['direction']

/** The bounds are not included. */
export type Range = { readonly after: number; readonly before: number }

/** In the order of `orderOf`: positions, or revisions of one stream. */
export type PlacesPart = {
  readonly range: Range
  orderOf(row: PlaceRow): number
  /** In the direction of the walk. Rows are left out at the end only. */
  read(range: Range, limit: number): readonly PlaceRow[]
}

/** Call `next` when `begin` has returned true. */
export class PlaceWalk {
  readonly #direction: Direction
  readonly #unread: PlacesPart[]
  #cursors: readonly Cursor[] = []
  #rowsRead = 0

  constructor(direction: Direction, parts: readonly PlacesPart[]) {
    this.#direction = direction
    this.#unread = [...parts]
  }

  /** Reads about `rowsMax` rows. True: all parts have their first rows. */
  begin(rowsMax: number): boolean {
    const rowsReadMax = this.#rowsRead + rowsMax
    while (this.#rowsRead < rowsReadMax) {
      const part = this.#unread.pop()
      if (part === undefined) return true
      const cursor = new Cursor(this.#direction, part)
      // To find that there is no row costs as much as to read one.
      this.#rowsRead += Math.max(1, cursor.read(askRowsAtOnceMin))
      if (cursor.row !== null) this.#cursors = [...this.#cursors, cursor]
    }
    return this.#unread.length === 0
  }

  /** Also counts rows that `next` has not returned yet. */
  get rowsRead(): number {
    return this.#rowsRead
  }

  next(): PlaceRow | null {
    let first: Cursor | null = null
    let row: PlaceRow | null = null
    for (const cursor of this.#cursors) {
      if (cursor.row === null || (row !== null && !this.#isBefore(cursor.row, row))) continue
      first = cursor
      row = cursor.row
    }
    if (first === null) return null
    this.#rowsRead += first.advance()
    if (first.row === null) this.#cursors = this.#cursors.filter((cursor) => cursor !== first)
    return row
  }

  #isBefore(one: PlaceRow, two: PlaceRow): boolean {
    return this.#direction === 'forwards' ? one.position < two.position : one.position > two.position
  }
}

class Cursor {
  readonly #direction: Direction
  readonly #part: PlacesPart
  #rest: Range
  #rows: readonly PlaceRow[] = []
  #index = 0
  #isRead = false

  constructor(direction: Direction, part: PlacesPart) {
    this.#direction = direction
    this.#part = part
    this.#rest = part.range
  }

  get row(): PlaceRow | null {
    return this.#rows[this.#index] ?? null
  }

  /** Each read is twice as long as the one before. Returns the number of rows. */
  advance(): number {
    this.#index += 1
    if (this.row !== null || this.#isRead) return 0
    return this.read(Math.min(this.#rows.length * 2, askRowsAtOnceMax))
  }

  /** Returns the number of rows. */
  read(limit: number): number {
    this.#rows = this.#part.read(this.#rest, limit)
    this.#index = 0
    const last = this.#rows.at(-1)
    this.#isRead = last === undefined || this.#rows.length < limit
    if (last === undefined) return 0
    const order = this.#part.orderOf(last)
    this.#rest = this.#direction === 'forwards' ? { ...this.#rest, after: order } : { ...this.#rest, before: order }
    return this.#rows.length
  }
}

import type { DamagedPlace } from '../event-log.ts'

export type DamageKind =
  /** A table, index or trigger is missing, changed or added. */
  | 'schema'
  /** A row does not match its checksum, or has values that no row can have. */
  | 'row'
  /** Events in the middle of a stream or of the log are missing. */
  | 'missing'
  /** Two rows hold the same revision or position, or a row is not at its place. */
  | 'order'
  /** A stream without rows, or a row without a stream. */
  | 'stream'
  /** The mark of truncated events is damaged. */
  | 'mark'
  /** An entry of an index does not match its table. */
  | 'index'
  | 'undecodable'
  /** The end of the log is missing. */
  | 'end'
  /** SQLite cannot read a page, or a page does not fit the others. */
  | 'file'

export type Damage = DamagedPlace & { readonly kind: DamageKind; readonly why: string }

export type CheckResult = {
  /** `null` on EventStoreDB. */
  readonly rows: number | null
  readonly events: number
  readonly streams: number
  /** `null` if the log is sound. */
  readonly first: Damage | null
  readonly counts: DamageCounts
}

export type DamageCounts = Readonly<Partial<Record<DamageKind, number>>>

/** Keeps the first damage, and only counts the others: a damaged page can hold thousands of damaged rows. */
export class Findings {
  #first: Damage | null = null
  readonly #counts = new Map<DamageKind, number>()

  add(kind: DamageKind, place: Partial<DamagedPlace>, why: string): void {
    this.#first ??= { kind, stream: null, revision: null, position: null, ...place, why }
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  get first(): Damage | null {
    return this.#first
  }

  get counts(): DamageCounts {
    return Object.fromEntries(this.#counts)
  }
}

/** The place and the damage as a clause. */
export const damageText = ({ stream, revision, position, why }: Damage): string => {
  const inStream = stream === null ? [] : [`revision ${revision ?? 'unknown'} of "${stream}"`]
  const inLog = position === null ? [] : [`position ${position}`]
  const places = [...inStream, ...inLog]
  return `${places.length === 0 ? 'the file' : places.join(', ')}: ${why}`
}

/** For example `3 changed rows, 1 gap`. */
export const damageCountsText = (counts: DamageCounts): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${isKind(kind) ? kindWords[kind][count === 1 ? 0 : 1] : kind}`)
    .join(', ')

const isKind = (kind: string): kind is DamageKind => Object.hasOwn(kindWords, kind)

const kindWords: Readonly<Record<DamageKind, readonly [one: string, many: string]>> = {
  schema: ['change of the schema', 'changes of the schema'],
  row: ['changed row', 'changed rows'],
  missing: ['gap', 'gaps'],
  order: ['row in a wrong place', 'rows in a wrong place'],
  stream: ['stream or row without the other', 'streams or rows without the other'],
  mark: ['damaged mark of truncated events', 'damaged marks of truncated events'],
  index: ['wrong index entry', 'wrong index entries'],
  undecodable: ['unreadable event', 'unreadable events'],
  end: ['missing end', 'missing ends'],
  file: ['damaged part of the file', 'damaged parts of the file'],
}

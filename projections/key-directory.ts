import type { Limit, RecordedEvent } from '../src/domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState, type Rotation } from '../src/domain/key.ts'
import { keyLimitDefault } from '../src/limits.ts'
import { isNext } from './next-revision.ts'
import type { CellarQueries, KeyQueries } from './queries.ts'
import { kinds, type RecordReader, type RecordWriter } from './records.ts'
import { readLimit, readMark, writeLimit, writeMark } from './saved-fields.ts'

/** One for both maps, so that a key that changes is looked up once and put nowhere. */
type Entry = { readonly stream: string; key: KeyState }

/** Every key, for ever: who is asked for on each request, so it must be found without reading the log. */
export class KeyDirectory implements KeyQueries {
  readonly #cellars: CellarQueries
  readonly #byStream = new Map<string, Entry>()
  readonly #byId = new Map<string, Entry>()
  /** A page asks for all keys of a cellar twice a second, so they are sorted only after one was added. */
  readonly #ofCellar = new Map<string, { readonly entries: Entry[]; isSorted: boolean }>()

  constructor(cellars: CellarQueries) {
    this.#cellars = cellars
  }

  fold(event: RecordedEvent<KeyEventType>): void {
    const entry = this.#byStream.get(event.stream)
    if (!isNext(entry?.key.revision ?? -1, event)) return
    if (entry === undefined) this.#add(event.stream, evolveKey(null, event))
    else entry.key = evolveKey(entry.key, event)
  }

  get(keyId: string): KeyState | null {
    return this.#byId.get(keyId)?.key ?? null
  }

  ofCellar(cellar: string): readonly KeyState[] {
    const keys = this.#ofCellar.get(cellar)
    if (keys === undefined) return []
    if (!keys.isSorted) keys.entries.sort((a, b) => newestFirst(a.key, b.key))
    keys.isSorted = true
    return keys.entries.map(({ key }) => key)
  }

  list(): readonly KeyState[] {
    return Array.from(this.#byId.values(), ({ key }) => key).sort(newestFirst)
  }

  effectiveLimit(key: KeyState): Limit {
    return key.limit ?? this.#cellars.get(key.cellar)?.policy.limit ?? keyLimitDefault
  }

  /** Begins at once; the pieces are made as they are asked for. */
  save(to: RecordWriter): Generator<Uint8Array> {
    return pieces(
      to,
      Array.from(this.#byStream.values(), ({ stream, key }) => [stream, key]),
    )
  }

  /** @throws RangeError if it is not what `save` wrote. */
  restore(from: RecordReader): void {
    this.#add(from.text(), readKey(from))
  }

  #add(stream: string, key: KeyState): void {
    const entry = { stream, key }
    this.#byStream.set(stream, entry)
    this.#byId.set(key.keyId, entry)
    const keys = this.#ofCellar.get(key.cellar)
    if (keys === undefined) {
      this.#ofCellar.set(key.cellar, { entries: [entry], isSorted: true })
      return
    }
    keys.entries.push(entry)
    keys.isSorted = false
  }
}

function* pieces(to: RecordWriter, keys: readonly (readonly [string, KeyState])[]): Generator<Uint8Array> {
  for (const [stream, key] of keys) {
    to.byte(kinds.key)
    to.text(stream)
    writeKey(to, key)
    if (to.isFull) yield to.lend()
  }
}

const writeKey = (to: RecordWriter, key: KeyState): void => {
  to.text(key.keyId)
  to.name(key.cellar)
  to.text(key.label)
  to.text(key.note)
  to.text(key.secretHash)
  to.optional(key.limit, (limit) => writeLimit(to, limit))
  to.optional(key.expiresAt, (ms) => to.whole(ms))
  to.optional(key.predecessorId, (id) => to.text(id))
  to.optional(key.rotation, (rotation) => writeRotation(to, rotation))
  writeMark(to, key.created)
  to.optional(key.suspended, (mark) => writeMark(to, mark))
  to.optional(key.revoked, (mark) => writeMark(to, mark))
  to.optional(key.expiryRecorded, (ms) => to.whole(ms))
  to.whole(key.revision)
}

const readKey = (from: RecordReader): KeyState => ({
  keyId: from.text(),
  cellar: from.name(),
  label: from.text(),
  note: from.text(),
  secretHash: from.text(),
  limit: from.optional(() => readLimit(from)),
  expiresAt: from.optional(() => from.whole()),
  predecessorId: from.optional(() => from.text()),
  rotation: from.optional(() => readRotation(from)),
  created: readMark(from),
  suspended: from.optional(() => readMark(from)),
  revoked: from.optional(() => readMark(from)),
  expiryRecorded: from.optional(() => from.whole()),
  revision: from.whole(),
})

const writeRotation = (to: RecordWriter, { successorId, overlapMs, superseded }: Rotation): void => {
  to.text(successorId)
  to.whole(overlapMs)
  to.optional(superseded, ({ usedAt, expiresAt }) => {
    to.whole(usedAt)
    to.whole(expiresAt)
  })
}

const readRotation = (from: RecordReader): Rotation => ({
  successorId: from.text(),
  overlapMs: from.whole(),
  superseded: from.optional(() => ({ usedAt: from.whole(), expiresAt: from.whole() })),
})

/** By time, then by id: an order that does not depend on the order in which streams were folded. */
const newestFirst = (a: KeyState, b: KeyState): number => b.created.at - a.created.at || (a.keyId < b.keyId ? -1 : 1)

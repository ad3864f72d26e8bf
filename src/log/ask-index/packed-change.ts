/**
 * Packs a change for the thread. With 10,000 busy keys, a change has 20,000 counts and racks. Sent as objects or as JSON, they would
 * take several megabytes of the thread. So they are sent as columns, and the thread makes an object only when it writes the row. The
 * columns are packed in parts, because those of a whole change would take megabytes of the event loop's thread.
 */
import { askRowsPerPart } from '../../limits.ts'
import type { AskChange, HourCount, SeenRack } from '../ask-index.ts'
import type { ChangePart } from './ask-changes.ts'

/** Texts one after the other, in UTF-16. */
type PackedTexts = { readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: Uint32Array<ArrayBuffer> }

type Columns = { readonly texts: PackedTexts; readonly numbers: Float64Array<ArrayBuffer> }

export type PackedPart = {
  /** A `ChangeHead` as JSON, or `null` after the first part. */
  readonly head: string | null
  /** One text and four numbers for each row. The last two numbers are the places of the cellar and the code in `names`. */
  readonly hourCounts: Columns & { readonly names: readonly string[] }
  /** Two texts and one number for each row. */
  readonly seen: Columns
  readonly isLast: boolean
}

/** A part has at most `askRowsPerPart` rows. It is packed when the one before it is written. */
export function* packedParts({ hourCounts, seen, ...head }: AskChange): Generator<PackedPart> {
  const hours = hourCounts[Symbol.iterator]()
  const racks = seen[Symbol.iterator]()
  for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
    const ofHours = nextRows(hours, askRowsPerPart)
    const ofRacks = nextRows(racks, askRowsPerPart - ofHours.length)
    isLast = ofHours.length + ofRacks.length < askRowsPerPart
    yield {
      head: isFirst ? JSON.stringify(head) : null,
      hourCounts: packedHourCounts(ofHours),
      seen: packedSeen(ofRacks),
      isLast,
    }
  }
}

const nextRows = <Row>(rows: Iterator<Row>, count: number): readonly Row[] => {
  const taken: Row[] = []
  while (taken.length < count) {
    const next = rows.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

/** These buffers can be moved to the thread, because nothing else uses them. */
export const buffersOf = ({ hourCounts, seen }: PackedPart): readonly ArrayBuffer[] =>
  [hourCounts, seen].flatMap(({ texts, numbers }) => [texts.bytes.buffer, texts.lengths.buffer, numbers.buffer])

/** The rows of `hourCounts` and `seen` are made one by one, each time when they are read. */
export const unpackedPart = ({ head, hourCounts, seen, isLast }: PackedPart): ChangePart => ({
  head: head === null ? null : JSON.parse(head),
  hourCounts: { [Symbol.iterator]: () => hourCountsIn(hourCounts) },
  seen: { [Symbol.iterator]: () => seenIn(seen) },
  isLast,
})

const packedHourCounts = (counts: readonly HourCount[]): PackedPart['hourCounts'] => {
  const texts: string[] = []
  const numbers: number[] = []
  const places = new Map<string, number>()
  const placeOf = (name: string): number => {
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return place
  }
  for (const { cellar, key, code, hour, count } of counts) {
    texts.push(key)
    numbers.push(hour, count, placeOf(cellar), placeOf(code))
  }
  return { ...packedColumns(texts, numbers), names: [...places.keys()] }
}

function* hourCountsIn({ texts, numbers, names }: PackedPart['hourCounts']): Generator<HourCount> {
  const next = textsIn(texts)
  for (let at = 0; at < numbers.length; at += 4) {
    const name = (place: number): string => names[numbers[place] ?? 0] ?? ''
    yield { key: next(), hour: numbers[at] ?? 0, count: numbers[at + 1] ?? 0, cellar: name(at + 2), code: name(at + 3) }
  }
}

const packedSeen = (seen: readonly SeenRack[]): Columns => {
  const texts: string[] = []
  const numbers: number[] = []
  for (const { key, rack, minute } of seen) {
    texts.push(key, rack)
    numbers.push(minute)
  }
  return packedColumns(texts, numbers)
}

function* seenIn({ texts, numbers }: Columns): Generator<SeenRack> {
  const next = textsIn(texts)
  for (const minute of numbers) yield { key: next(), rack: next(), minute }
}

const packedColumns = (texts: readonly string[], numbers: readonly number[]): Columns => {
  const joined = texts.join('')
  const bytes = new Uint8Array(2 * joined.length)
  Buffer.from(bytes.buffer).write(joined, 'utf16le')
  return {
    texts: { bytes, lengths: Uint32Array.from(texts, (text) => text.length) },
    numbers: Float64Array.from(numbers),
  }
}

/** Each call of the result returns the next text. It is a copy, because a part of a text keeps the whole text in memory. */
const textsIn = ({ bytes, lengths }: PackedTexts): (() => string) => {
  const buffer = Buffer.from(bytes.buffer)
  let index = 0
  let from = 0
  return () => {
    const to = from + 2 * (lengths[index] ?? 0)
    const text = buffer.toString('utf16le', from, to)
    index += 1
    from = to
    return text
  }
}

/**
 * The numbers of one keg lie in a part of a large array, from `from` on. 100,000 objects with lists would take several times as
 * much memory. The constants are the places in this part. Times are in ms. All is ordered by the readings' own
 * time, then by position. So it does not matter whether older readings were folded, and a model that is built from a purged
 * log equals one that grew.
 */
import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readTime, writeTime } from './decimals.ts'

/** Requests of a keg that are remembered, to know its usual pause. */
const arrivalsPerKegMax = 6
/** Times of the newest readings of a keg, to know which later ones repeat them. */
const timesPerKegMax = 24

export const kegNumber = 0
export const cellarNumber = 1
/** The latest reading by its own time. `-Infinity`: none yet. */
export const latestMs = 2
/** What `latestMs` does not include. */
export const latestNanoseconds = 3
export const latestPosition = 4
export const latestRevision = 5
export const latestRecordedAt = 6
export const latestValue = 7
export const isDirty = 8
export const isStored = 9
/** The keg that followed the last time. */
export const nextSeen = 10
/** The next slot with the same hash of the names. */
export const nextOfHash = 11
/** A place in `RollUps`. */
export const lastClosed = 12
const timeCount = 13
const arrivalCount = 14
/** If the list is full, it is a ring, and the oldest time is here. */
const firstTime = 15
/** Oldest first. */
const times = 16
/** Pairs of the highest time of a request's readings and the request's acceptance. */
const arrivals = times + timesPerKegMax
export const buckets = arrivals + 2 * arrivalsPerKegMax

export type Keg = { readonly numbers: Float64Array; readonly from: number }

/**
 * A number has only 10 bits for the part of a ms beside today's ms. Rounded down, so that a time before a purge stays
 * before it.
 */
export const timeInList = (ms: number, nanoseconds: number): number =>
  ms + Math.floor((nanoseconds * 1024) / 1e6) / 1024

/** A full list drops its oldest time. Returns true if the list has this time already. */
export const addTime = (keg: Keg, time: number): boolean => {
  const { numbers, from } = keg
  const count = numbers[from + timeCount] ?? 0
  const first = numbers[from + firstTime] ?? 0
  const newest = numbers[from + times + (first === 0 ? count : first) - 1] ?? 0
  if (count < timesPerKegMax || time < newest) return insertTime(keg, time)
  numbers[from + times + first] = time
  numbers[from + firstTime] = first + 1 === timesPerKegMax ? 0 : first + 1
  return time === newest
}

const straighten = ({ numbers, from }: Keg): void => {
  const first = numbers[from + firstTime] ?? 0
  if (first === 0) return
  const ring = numbers.slice(from + times, from + arrivals)
  numbers.set(ring.subarray(first), from + times)
  numbers.set(ring.subarray(0, first), from + arrivals - first)
  numbers[from + firstTime] = 0
}

const insertTime = (keg: Keg, time: number): boolean => {
  straighten(keg)
  const { numbers, from } = keg
  const count = numbers[from + timeCount] ?? 0
  const begin = from + times
  const isOldest = count > 0 && time === numbers[begin]
  let at = begin + count
  if (count === timesPerKegMax) {
    if (time < (numbers[begin] ?? 0)) return false
    at -= 1
    numbers.copyWithin(begin, begin + 1, begin + count)
  } else {
    numbers[from + timeCount] = count + 1
  }
  for (; at > begin && (numbers[at - 1] ?? 0) > time; at -= 1) numbers[at] = numbers[at - 1] ?? 0
  numbers[at] = time
  return isOldest || (at > begin && numbers[at - 1] === time)
}

/** Readings of one request count once, with their highest time. */
export const addArrival = ({ numbers, from }: Keg, time: number, accepted: number): void => {
  const first = from + arrivals
  const count = numbers[from + arrivalCount] ?? 0
  let at = first
  const end = first + 2 * count
  while (at < end && numbers[at + 1] !== accepted) at += 2
  if (at < end && time <= (numbers[at] ?? 0)) return
  if (at === end) {
    if (count < arrivalsPerKegMax) numbers[from + arrivalCount] = count + 1
    else if (isBefore(time, accepted, numbers, first)) return
    else at = first
  }
  // The pair at `at` is replaced, and the new one moves to its place in the order.
  for (; at + 2 < end && !isBefore(time, accepted, numbers, at + 2); at += 2) copyPair(numbers, at + 2, at)
  for (; at > first && isBefore(time, accepted, numbers, at - 2); at -= 2) copyPair(numbers, at - 2, at)
  numbers[at] = time
  numbers[at + 1] = accepted
}

const isBefore = (time: number, accepted: number, numbers: Float64Array, at: number): boolean => {
  const other = numbers[at] ?? 0
  return time < other || (time === other && accepted < (numbers[at + 1] ?? 0))
}

const copyPair = (numbers: Float64Array, from: number, to: number): void => {
  numbers[to] = numbers[from] ?? 0
  numbers[to + 1] = numbers[from + 1] ?? 0
}

export const forgetBefore = (keg: Keg, ms: number): boolean => {
  straighten(keg)
  const { numbers, from } = keg
  const forgotten =
    forget(numbers, { count: from + timeCount, first: from + times, size: 1, ms }) +
    forget(numbers, { count: from + arrivalCount, first: from + arrivals, size: 2, ms })
  return forgotten > 0
}

/** `size`: numbers of each item. The first one is a time. */
type Times = { readonly first: number; readonly count: number; readonly size: number; readonly ms: number }

const forget = (numbers: Float64Array, { count, first, size, ms }: Times): number => {
  const before = numbers[count] ?? 0
  let forgotten = 0
  while (forgotten < before && (numbers[first + size * forgotten] ?? 0) < ms) forgotten += 1
  numbers.copyWithin(first, first + size * forgotten, first + size * before)
  numbers[count] = before - forgotten
  return forgotten
}

export const oldestOf = ({ numbers, from }: Keg): number =>
  Math.floor(Math.min(numbers[from + times + (numbers[from + firstTime] ?? 0)] ?? 0, numbers[from + arrivals] ?? 0))

export const lastAcceptedOf = (keg: Keg): number => Math.max(...acceptedOf(keg))

/** The lower median of the pauses. `null`: there are fewer than two requests. */
export const usualPauseOf = (keg: Keg): number | null => {
  const accepted = acceptedOf(keg)
  const pauses = accepted.slice(1).map((ms, index) => ms - (accepted[index] ?? 0))
  return pauses.sort((a, b) => a - b)[(pauses.length - 1) >> 1] ?? null
}

const acceptedOf = ({ numbers, from }: Keg): number[] => {
  const accepted: number[] = []
  for (let index = 0; index < (numbers[from + arrivalCount] ?? 0); index += 1) {
    accepted.push(numbers[from + arrivals + 2 * index + 1] ?? 0)
  }
  return accepted.sort((a, b) => a - b)
}

const bytes = new ByteWriter()

/** From the newest one on, as differences. */
export const timeBytes = (keg: Keg): Uint8Array => {
  straighten(keg)
  const { numbers, from } = keg
  bytes.begin()
  let newer = 0
  for (let at = from + times + (numbers[from + timeCount] ?? 0) - 1; at >= from + times; at -= 1) {
    const time = numbers[at] ?? 0
    writeTime(bytes, newer - time)
    newer = time
  }
  return bytes.finish()
}

export const takeTimes = ({ numbers, from }: Keg, stored: Uint8Array): void => {
  const reader = new ByteReader(stored)
  const newestFirst: number[] = []
  for (let time = 0; !reader.isAtEnd; newestFirst.push(time)) time -= readTime(reader)
  numbers.set(newestFirst.reverse(), from + times)
  numbers[from + timeCount] = newestFirst.length
}

/** Pairs from the newest one on, their first numbers as differences. */
export const arrivalBytes = ({ numbers, from }: Keg): Uint8Array => {
  bytes.begin()
  let newer = 0
  for (let at = from + arrivals + 2 * (numbers[from + arrivalCount] ?? 0) - 2; at >= from + arrivals; at -= 2) {
    const time = numbers[at] ?? 0
    writeTime(bytes, newer - time)
    writeTime(bytes, numbers[at + 1] ?? 0)
    newer = time
  }
  return bytes.finish()
}

export const takeArrivals = ({ numbers, from }: Keg, stored: Uint8Array): void => {
  const reader = new ByteReader(stored)
  const newestFirst: number[] = []
  for (let time = 0; !reader.isAtEnd; ) {
    time -= readTime(reader)
    newestFirst.push(readTime(reader), time)
  }
  numbers.set(newestFirst.reverse(), from + arrivals)
  numbers[from + arrivalCount] = newestFirst.length / 2
}

/**
 * The numbers of one keg lie in a part of a large array, from `from` on. 100,000 objects with lists would take several times as
 * much memory. The constants are the places in this part. Times are in ms. All is ordered by the readings' own
 * time, then by position. So it does not matter whether older readings were folded, and a model that is built from a purged
 * log equals one that grew.
 */
import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { type Arriving, acceptedAt, wrongClockMsMin } from './arriving.ts'
import { readTime, writeTime } from './decimals.ts'

/** Requests of a keg that are remembered, to know its usual pause. */
export const arrivalsPerKegMax = 12
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
/** Also of readings that are not shown, because their times are wrong. */
export const lastAccepted = 16
/** Oldest first. */
const times = 17
/** When requests were accepted, oldest first. */
const arrivals = times + timesPerKegMax
export const buckets = arrivals + arrivalsPerKegMax

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

/**
 * By acceptance, because the clock of a device can jump, and a device can send old readings. Readings of one request count once.
 */
export const addArrival = (keg: Keg, arriving: Arriving): void => {
  const accepted = noteAccepted(keg, arriving)
  const { numbers, from } = keg
  const first = from + arrivals
  const count = numbers[from + arrivalCount] ?? 0
  let at = first + count
  while (at > first && (numbers[at - 1] ?? 0) > accepted) at -= 1
  if (at > first && numbers[at - 1] === accepted) return
  if (count < arrivalsPerKegMax) {
    numbers.copyWithin(at + 1, at, first + count)
    numbers[from + arrivalCount] = count + 1
    numbers[at] = accepted
  } else if (at > first) {
    numbers.copyWithin(first, first + 1, at)
    numbers[at - 1] = accepted
  }
}

/** Returns the time of the acceptance. If it is far before the last one, a clock was ahead. Its times are forgotten, or the keg would not be silent until then. */
export const noteAccepted = ({ numbers, from }: Keg, arriving: Arriving): number => {
  const before = numbers[from + lastAccepted] ?? 0
  const accepted = acceptedAt(arriving, before)
  if (accepted > before) numbers[from + lastAccepted] = accepted
  if (accepted >= before - wrongClockMsMin) return accepted
  numbers[from + lastAccepted] = accepted
  let count = numbers[from + arrivalCount] ?? 0
  while (count > 0 && (numbers[from + arrivals + count - 1] ?? 0) > accepted) count -= 1
  numbers[from + arrivalCount] = count
  return accepted
}

/** Forgets times before `timesMs`, and requests that were accepted before `acceptedMs`. */
export const forgetBefore = (keg: Keg, timesMs: number, acceptedMs: number): boolean => {
  straighten(keg)
  const { numbers, from } = keg
  const forgotten =
    forget(numbers, { count: from + timeCount, first: from + times, ms: timesMs }) +
    forget(numbers, { count: from + arrivalCount, first: from + arrivals, ms: acceptedMs })
  return forgotten > 0
}

type Times = { readonly first: number; readonly count: number; readonly ms: number }

const forget = (numbers: Float64Array, { count, first, ms }: Times): number => {
  const before = numbers[count] ?? 0
  let forgotten = 0
  while (forgotten < before && (numbers[first + forgotten] ?? 0) < ms) forgotten += 1
  numbers.copyWithin(first, first + forgotten, first + before)
  numbers[count] = before - forgotten
  return forgotten
}

export const oldestTimeOf = ({ numbers, from }: Keg): number =>
  Math.floor(numbers[from + times + (numbers[from + firstTime] ?? 0)] ?? 0)

export const firstAcceptedOf = ({ numbers, from }: Keg): number => numbers[from + arrivals] ?? 0

/** From the shortest to the longest. */
export const pausesOf = ({ numbers, from }: Keg): Float64Array => {
  const count = Math.max(0, (numbers[from + arrivalCount] ?? 0) - 1)
  const pauses = new Float64Array(count)
  for (let index = 0; index < count; index += 1) {
    const at = from + arrivals + index
    pauses[index] = (numbers[at + 1] ?? 0) - (numbers[at] ?? 0)
  }
  return pauses.sort()
}

/** The lower median. `null`: there are fewer than two requests. */
export const usualPauseOf = (sorted: Float64Array): number | null => sorted[(sorted.length - 1) >> 1] ?? null

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

export const takeTimes = (keg: Keg, stored: Uint8Array): void => takeList(keg, stored, times, timeCount)

const takeList = ({ numbers, from }: Keg, stored: Uint8Array, first: number, count: number): void => {
  const reader = new ByteReader(stored)
  const newestFirst: number[] = []
  for (let time = 0; !reader.isAtEnd; newestFirst.push(time)) time -= readTime(reader)
  numbers.set(newestFirst.reverse(), from + first)
  numbers[from + count] = newestFirst.length
}

/** From the newest one on, as differences. */
export const arrivalBytes = ({ numbers, from }: Keg): Uint8Array => {
  bytes.begin()
  let newer = 0
  for (let at = from + arrivals + (numbers[from + arrivalCount] ?? 0) - 1; at >= from + arrivals; at -= 1) {
    const accepted = numbers[at] ?? 0
    writeTime(bytes, newer - accepted)
    newer = accepted
  }
  return bytes.finish()
}

export const takeArrivals = (keg: Keg, stored: Uint8Array): void => takeList(keg, stored, arrivals, arrivalCount)

/**
 * The numbers of one keg lie in a part of a large array, from `from` on. 100,000 objects with lists would take several times as
 * much memory. The constants are the places in this part. Times are in ms. All is ordered by the readings' own
 * time, then by position. So it does not matter whether older readings were folded, and a model that is built from a purged
 * log equals one that grew.
 */
import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readDecimal, writeDecimal } from './decimals.ts'

/** Requests of a keg that are remembered, to know its usual pause. */
const arrivalsPerKegMax = 6
const pointsPerKegMax = 24

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
const pointCount = 13
const arrivalCount = 14
/** If the list is full, it is a ring, and the oldest point is here. */
const firstPoint = 15
/** Pairs of a time and a value, oldest first. */
const points = 16
/** Pairs of the highest time of a request's readings and the request's acceptance. */
const arrivals = points + 2 * pointsPerKegMax
export const buckets = arrivals + 2 * arrivalsPerKegMax

export type Keg = { readonly numbers: Float64Array; readonly from: number }

/**
 * A number has only 10 bits for the part of a ms beside today's ms. Rounded down, so that a time before a purge stays
 * before it.
 */
export const pointTime = (ms: number, nanoseconds: number): number => ms + Math.floor((nanoseconds * 1024) / 1e6) / 1024

/** A full list drops its oldest point. */
export const addPoint = (keg: Keg, time: number, value: number): void => {
  const { numbers, from } = keg
  const count = numbers[from + pointCount] ?? 0
  const first = numbers[from + firstPoint] ?? 0
  const isFull = count === pointsPerKegMax
  const newest = first === 0 ? count - 1 : first - 1
  if (isFull && time >= (numbers[from + points + 2 * newest] ?? 0)) {
    numbers[from + points + 2 * first] = time
    numbers[from + points + 2 * first + 1] = value
    numbers[from + firstPoint] = first + 1 === pointsPerKegMax ? 0 : first + 1
    return
  }
  straighten(keg)
  insertPair(numbers, { first: from + points, count: from + pointCount, max: pointsPerKegMax }, time, value)
}

const straighten = ({ numbers, from }: Keg): void => {
  const first = numbers[from + firstPoint] ?? 0
  if (first === 0) return
  const ring = numbers.slice(from + points, from + arrivals)
  numbers.set(ring.subarray(2 * first), from + points)
  numbers.set(ring.subarray(0, 2 * first), from + arrivals - 2 * first)
  numbers[from + firstPoint] = 0
}

type Pairs = { readonly first: number; readonly count: number }

/** Goes behind those with the same or a lower first number. A full list drops its first pair. */
const insertPair = (
  numbers: Float64Array,
  pairs: Pairs & { readonly max: number },
  time: number,
  other: number,
): void => {
  const { first } = pairs
  const count = numbers[pairs.count] ?? 0
  let at = first + 2 * count
  if (count === pairs.max) {
    if (time < (numbers[first] ?? 0)) return
    at -= 2
    numbers.copyWithin(first, first + 2, first + 2 * count)
  } else {
    numbers[pairs.count] = count + 1
  }
  for (; at > first && (numbers[at - 2] ?? 0) > time; at -= 2) {
    numbers[at] = numbers[at - 2] ?? 0
    numbers[at + 1] = numbers[at - 1] ?? 0
  }
  numbers[at] = time
  numbers[at + 1] = other
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
    forgetPairs(numbers, { count: from + pointCount, first: from + points, ms }) +
    forgetPairs(numbers, { count: from + arrivalCount, first: from + arrivals, ms })
  return forgotten > 0
}

const forgetPairs = (numbers: Float64Array, { count, first, ms }: Pairs & { readonly ms: number }): number => {
  const before = numbers[count] ?? 0
  let forgotten = 0
  while (forgotten < before && (numbers[first + 2 * forgotten] ?? 0) < ms) forgotten += 1
  numbers.copyWithin(first, first + 2 * forgotten, first + 2 * before)
  numbers[count] = before - forgotten
  return forgotten
}

export const oldestOf = ({ numbers, from }: Keg): number =>
  Math.floor(
    Math.min(numbers[from + points + 2 * (numbers[from + firstPoint] ?? 0)] ?? 0, numbers[from + arrivals] ?? 0),
  )

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

/** From the newest one on. Most are whole ms and have few decimals, so they take a third of their size in memory. */
export const pointBytes = (keg: Keg): Uint8Array => {
  straighten(keg)
  return pairBytes(keg, points, pointCount)
}
export const arrivalBytes = (keg: Keg): Uint8Array => pairBytes(keg, arrivals, arrivalCount)

const bytes = new ByteWriter()

const pairBytes = ({ numbers, from }: Keg, first: number, count: number): Uint8Array => {
  bytes.begin()
  let before = 0
  for (let at = from + first + 2 * (numbers[from + count] ?? 0) - 2; at >= from + first; at -= 2) {
    const time = numbers[at] ?? 0
    writeDecimal(bytes, before - time)
    writeDecimal(bytes, numbers[at + 1] ?? 0)
    before = time
  }
  return bytes.finish()
}

export const takePoints = (keg: Keg, stored: Uint8Array): void =>
  takePairs(keg, pairsOf(stored), { first: points, count: pointCount })
export const takeArrivals = (keg: Keg, stored: Uint8Array): void =>
  takePairs(keg, pairsOf(stored), { first: arrivals, count: arrivalCount })

const takePairs = (
  { numbers, from }: Keg,
  pairs: readonly number[],
  { first, count }: { readonly first: number; readonly count: number },
): void => {
  numbers.set(pairs, from + first)
  numbers[from + count] = pairs.length / 2
}

const pairsOf = (stored: Uint8Array): number[] => {
  const reader = new ByteReader(stored)
  const newestFirst: number[] = []
  let time = 0
  while (!reader.isAtEnd) {
    time -= readDecimal(reader)
    newestFirst.push(readDecimal(reader), time)
  }
  return newestFirst.reverse()
}

export const valuesOf = (stored: Uint8Array): readonly number[] => pairsOf(stored).filter((_, index) => index % 2 === 1)

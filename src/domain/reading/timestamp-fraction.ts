/**
 * The 4th to 9th fractional digit of a timestamp that keeps the rule (`timestamp.ts`), as whole nanoseconds: what its
 * milliseconds leave out. A double holds no more than about 200 ns beside the milliseconds of this century.
 */
export const nanosecondsPastMs = (timestamp: string): number => {
  // Shorter than one with four fractional digits, as nearly all are.
  if (timestamp.length < '2026-03-01T12:00:00.0000Z'.length) return 0
  let nanoseconds = 0
  let weight = 100_000
  for (let at = firstDigitAt; weight >= 1; at += 1, weight /= 10) {
    const digit = timestamp.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) break
    nanoseconds += digit * weight
  }
  return nanoseconds
}

const firstDigitAt = '2026-03-01T12:00:00.000'.length

const secondsPerDay = 86_400
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1_000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1_000

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

// The day that was asked for last: readings of one row, and of rows side by side, are mostly of one day, and asking the
// platform for its text is most of the cost.
let lastDay = Number.NaN
let lastDayText = ''

/**
 * `YYYY-MM-DDThh:mm:ssZ`, of years 0000 to 9999. The inverse of `parseTimestamp` for that form.
 * @throws RangeError outside those years.
 */
export const timestampText = (seconds: number): string => {
  if (!(seconds >= secondsMin && seconds <= secondsMax)) throw new RangeError('a timestamp in it lies beyond its years')
  const day = Math.floor(seconds / secondsPerDay)
  if (day !== lastDay) {
    lastDayText = new Date(day * secondsPerDay * 1_000).toISOString().slice(0, 11)
    lastDay = day
  }
  const rest = seconds - day * secondsPerDay
  const hour = twoDigits[Math.floor(rest / 3_600)] ?? ''
  const minute = twoDigits[Math.floor(rest / 60) % 60] ?? ''
  return `${lastDayText}${hour}:${minute}:${twoDigits[rest % 60] ?? ''}Z`
}

const secondsPerDay = 86_400
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1_000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1_000

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

// Keeps the text of the day that the previous call used. Formatting a day is most of the cost, and neighbouring
// readings usually have the same day.
let lastDay = Number.NaN
let lastDayText = ''

/**
 * Returns `YYYY-MM-DDThh:mm:ssZ` for a number of seconds since 1970-01-01T00:00:00Z.
 * @throws RangeError outside the years 0000 to 9999
 */
export const timestampText = (seconds: number): string => {
  if (!(seconds >= secondsMin && seconds <= secondsMax))
    throw new RangeError('a timestamp in it is outside the years 0000 to 9999')
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

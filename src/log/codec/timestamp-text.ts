import { secondText } from '../../domain/calendar.ts'

const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1_000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1_000

/** `YYYY-MM-DDThh:mm:ssZ`, from seconds since 1970. @throws RangeError outside the years 0000 to 9999 */
export const timestampText = (seconds: number): string => {
  assertInYears(seconds)
  return secondText(seconds * 1_000)
}

/** @throws RangeError outside the years 0000 to 9999 */
export const assertInYears = (seconds: number): void => {
  if (!(seconds >= secondsMin && seconds <= secondsMax))
    throw new RangeError('a timestamp in it is outside the years 0000 to 9999')
}

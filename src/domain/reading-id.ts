/**
 * The id of a reading follows from its request's: the first has that very id, and each further one of a batch counts up
 * its last twelve bits, beginning anew behind the highest. So a log needs to store nothing for it. It takes 4,096 readings
 * for two to have one id, four times the largest batch; another request's ids differ in the bits before.
 * @throws Error if there are several readings and the id does not end in three hex digits, as every UUID does.
 */
export const readingId = (requestId: string, index: number): string => {
  if (index === 0) return requestId
  const place = requestId.length - countedChars
  const counted = counters[(Number.parseInt(requestId.slice(place), 16) + index) % counters.length]
  if (counted === undefined)
    throw new Error('Cannot number the readings of a request: its id does not end in hex digits')
  return requestId.slice(0, place) + counted
}

const countedChars = 3
const counters = Array.from({ length: 16 ** countedChars }, (_, count) =>
  count.toString(16).padStart(countedChars, '0'),
)

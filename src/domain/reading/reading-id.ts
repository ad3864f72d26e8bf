/**
 * The id of a reading follows from its request's: the first has that very id, and each further one of a batch counts up
 * its last twelve bits, beginning anew behind the highest. So a log needs to store nothing for it. It takes 4,096 readings
 * for two to have one id, four times the largest batch; another request's ids differ in the bits before.
 * @throws Error if there are several readings and the id does not end in three hex digits, as every UUID does.
 */
export const readingId = (requestId: string, index: number): string => {
  if (index === 0) return requestId
  if (requestId !== last.requestId) last = numbered(requestId)
  const known = last.ids[index]
  if (known !== undefined) return known
  const id = last.front + counters[(last.first + index) % counters.length]
  last.ids[index] = id
  return id
}

const countedChars = 3
const counters = Array.from({ length: 16 ** countedChars }, (_, count) =>
  count.toString(16).padStart(countedChars, '0'),
)

type Numbered = { readonly requestId: string; readonly front: string; readonly first: number; readonly ids: string[] }

const numbered = (requestId: string): Numbered => {
  const front = requestId.slice(0, -countedChars)
  const counted = requestId.slice(-countedChars)
  const first = Number.parseInt(counted, 16)
  if (counters[first] !== counted)
    throw new Error('Cannot number the readings of a request: its id does not end in hex digits')
  return { requestId, front, first, ids: [requestId] }
}

// Who packs a batch asks for the very ids that it was given: two texts that are one object are compared at once, and a
// text that was joined of two pieces and never read is never written out.
let last = numbered('000')

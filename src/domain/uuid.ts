const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-9a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isUuid = (id: string): boolean => uuid.test(id)

/** The same on every node, so two nodes that finish the same revocation append one `KeyRevoked`. */
export const derivedId = (cause: string, effect: string): string => uuidOf(`${effect}:${cause}`)

/** Made from the SHA-256 of `text` (RFC 9562, version 8). */
export const uuidOf = (text: string): string => {
  const digest = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`]
  return [...parts, digest.slice(20, 32)].join('-')
}

/**
 * The id was computed, as by `derivedId`. Two nodes can then write the same event, so an append that succeeds does not show
 * which of them wrote it.
 */
export const isDerivedId = (id: string): boolean => !isUuid(id) || id.charAt(versionAt) === '8'

const versionAt = 'xxxxxxxx-xxxx-'.length

/**
 * Made from the request's id, so that the log need not store it. Each further reading adds 1 to the last 12 bits, enough
 * for four times the largest batch. @throws Error if `index` > 0 and the request's id does not end in three hex digits.
 */
export const readingId = (requestId: string, index: number): string => {
  if (index === 0) return requestId
  if (requestId !== last.requestId) last = numbered(requestId)
  return last.front + counters[(last.first + index) % counters.length]
}

const countedChars = 3
const counters = Array.from({ length: 16 ** countedChars }, (_, count) =>
  count.toString(16).padStart(countedChars, '0'),
)

type Numbered = { readonly requestId: string; readonly front: string; readonly first: number }

const numbered = (requestId: string): Numbered => {
  const front = requestId.slice(0, -countedChars)
  const counted = requestId.slice(-countedChars)
  const first = Number.parseInt(counted, 16)
  if (counters[first] !== counted)
    throw new Error('Cannot number the readings of a request: its id does not end in hex digits')
  return { requestId, front, first }
}

// The parts of the last request's id: a reader of the log asks for the ids of all its readings.
let last = numbered('000')

const textOffsets = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const
const dash = 45
const noDigit = 255

const digitCodes = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
const digitOfCode = new Uint8Array(128).fill(noDigit)
for (const [digit, code] of digitCodes.entries()) digitOfCode[code] = digit

const scratch = new Uint8Array(16)

/** `null` if `text` is not a lower-case UUID. The next call overwrites the returned bytes. */
export const uuidBytes = (text: string): Uint8Array | null => {
  if (text.length !== 36) return null
  if (text.charCodeAt(8) !== dash || text.charCodeAt(13) !== dash) return null
  if (text.charCodeAt(18) !== dash || text.charCodeAt(23) !== dash) return null
  for (let index = 0; index < 16; index++) {
    const offset = textOffsets[index] ?? 0
    const high = digitOfCode[text.charCodeAt(offset)] ?? noDigit
    const low = digitOfCode[text.charCodeAt(offset + 1)] ?? noDigit
    if (high === noDigit || low === noDigit) return null
    scratch[index] = high * 16 + low
  }
  return scratch
}

const highCode = Array.from({ length: 256 }, (_, byte) => digitCodes[byte >> 4] ?? 0)
const lowCode = Array.from({ length: 256 }, (_, byte) => digitCodes[byte & 15] ?? 0)
// One call of `fromCharCode` is a third faster than joining pieces of text.
const codes = new Array<number>(36).fill(dash)

export const uuidText = (bytes: Uint8Array, from: number): string => {
  for (let index = 0; index < 16; index++) {
    const byte = bytes[from + index] ?? 0
    const offset = textOffsets[index] ?? 0
    codes[offset] = highCode[byte] ?? 0
    codes[offset + 1] = lowCode[byte] ?? 0
  }
  return String.fromCharCode.apply(null, codes)
}

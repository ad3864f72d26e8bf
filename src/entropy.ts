/** A parameter, so that tests can use a seed. */
export type Entropy = {
  /** Version 4. */
  uuid(): string
  /**
   * Version 7: `atMs` in its first 48 bits (`instantOfRequestId`). Unique on any node and after any restart. Not a secret:
   * whoever sees one can guess others.
   */
  requestId(atMs: number): string
  /** Nobody can predict them. */
  bytes(count: number): Uint8Array
}

/**
 * Makes the request ids of one process. Random bits for each request would be most of what a stored reading takes once it is
 * compressed, so only the process is random. From the first bit to the last (RFC 9562, section 5.7):
 *
 *   48 bits   `atMs`.
 *    4 bits   version 7.
 *   12 bits   counter of the ids of this ms (section 6.2, method 1).
 *    2 bits   variant.
 *   50 bits   part of the process, which is random (section 6.4). That section prefers version 8, but only version 7 says its
 *             instant to every reader.
 *   12 bits   0. The readings of the request are counted here (`readingId`).
 *
 * The process draws its part at the start. It draws a new part when the clock was set back, and when the counter of a ms is full.
 * So a part never gets the same ms and counter twice. Equal parts are improbable: 16 nodes that restart each week draw 10,000 parts in
 * ten years. Two of these are equal with a probability of 1 in 20 million (10,000² / 2^51), and must also meet in one ms.
 *
 * Ids of one ms sort in the order in which they were made, up to the first new part.
 */
export const requestIds = (bytes: Entropy['bytes']): Entropy['requestId'] => {
  // Only changed digits are written: joining pieces of text costs twice the time.
  const id = Buffer.from('tttttttt-tttt-7ccc-pppp-ppppppppp000')
  const write = (from: number, to: number, value: number): void => {
    for (let at = to, rest = value; at >= from; at -= 1, rest >>>= 4) id[at] = hexDigits[rest & 15] ?? 0
  }
  const drawPart = (): void => {
    const [first = 0, ...others] = bytes(7)
    const part = Buffer.from([0x80 | (first & 0x3f), ...others]).toString('hex')
    id.write(`${part.slice(0, 4)}-${part.slice(4, 13)}`, 19)
  }
  drawPart()

  let lastMs = Number.NEGATIVE_INFINITY
  let count = 0
  return (atMs) => {
    count += 1
    if (atMs !== lastMs || count === idsOfPartMax) {
      if (atMs <= lastMs) drawPart()
      write(0, 7, Math.floor(atMs / 2 ** 16))
      write(9, 12, atMs % 2 ** 16)
      lastMs = atMs
      count = 0
    }
    write(15, 17, count)
    return id.toString('latin1')
  }
}

const hexDigits = Buffer.from('0123456789abcdef')

/** 12 bits count the ids of one ms. */
const idsOfPartMax = 2 ** 12

const systemBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  requestId: requestIds(systemBytes),
  bytes: systemBytes,
}

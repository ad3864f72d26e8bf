/**
 * Ordered by these keys, "rack-2" comes before "rack-10". Keys are compared by UTF-16 units, because a comparison by
 * language can take 0.1 ms, for example for stacked vowel signs. Different texts have different keys. Before each run of
 * digits, a key has the number of these digits. So a key has at most twice the length of its text.
 */
export const orderKey = (text: string): string =>
  text.replace(/[0-9]+/g, (digits) => `${orderedLength(digits.length)}${digits}`)

/**
 * From 9 on, the result has a 9 for each nine digits. So a longer run always has the greater text: 8, 90, 91, …, 98, 990.
 */
const orderedLength = (length: number): string => '9'.repeat(Math.floor(length / 9)) + (length % 9)

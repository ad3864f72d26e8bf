/** The index of the first byte that is not UTF-8. The length of the body, if all is valid. */
export const utf8FaultAt = (body: Uint8Array): number => {
  let at = 0
  while (at < body.length) {
    const end = pastCharacter(body, at)
    if (end === at) return at
    at = end
  }
  return at
}

/** The index behind the character at `at`. `at` itself, if no valid character begins there. */
const pastCharacter = (body: Uint8Array, at: number): number => {
  const first = body[at] ?? 0
  if (first < 0x80) return at + 1
  const bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (bytes === 0) return at
  const second = body[at + 1] ?? 0
  if (second < leastSecond(first) || second > mostSecond(first)) return at
  for (let next = at + 2; next < at + bytes; next += 1) if (((body[next] ?? 0) & 0xc0) !== 0x80) return at
  return at + bytes
}

/** With a smaller second byte, the form would be longer than necessary. */
const leastSecond = (first: number): number => (first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80)

/** With a larger second byte, the character would be a surrogate, or above U+10FFFF. */
const mostSecond = (first: number): number => (first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf)

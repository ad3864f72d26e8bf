/** A UUID that follows from `cause` and `effect` alone, so that two who write the same effect write one event (RFC 9562, version 8). */
export const derivedId = (cause: string, effect: string): string => {
  const digest = new Bun.CryptoHasher('sha256').update(`${effect}:${cause}`).digest('hex')
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`]
  return [...parts, digest.slice(20, 32)].join('-')
}

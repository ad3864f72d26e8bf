/** Randomness is a parameter, so that tests can use a seed. */
export type Entropy = {
  /** Returns a random UUID (version 4), for events and logs. */
  uuid(): string
  /**
   * Returns a UUID of version 7, which says its instant: `atMs` in its first 48 bits (`requestIdFacts`). Its last 62 bits are
   * random, so two nodes never make the same id. Ids of one process within one ms sort in the order in which they were made. Of
   * more than 2,000 ids in one ms, the last can say the next ms.
   */
  requestId(atMs: number): string
  /** Returns bytes that nobody can predict, for API keys and links. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  requestId: (atMs) => Bun.randomUUIDv7('hex', atMs),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

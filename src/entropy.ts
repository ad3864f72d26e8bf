/** Randomness is a parameter, so that tests can use a seed. */
export type Entropy = {
  uuid(): string
  /** Returns bytes that nobody can predict, for API keys and links. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

/** Randomness is a parameter, so that tests can use a seed. */
export type Entropy = {
  uuid(): string
  /** The bytes are random enough for a secret. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

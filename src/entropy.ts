/** Chance as a parameter, so that a test can name its seed. */
export type Entropy = {
  /** A UUID in its usual lower-case text form of 36 characters. */
  uuid(): string
  /** `count` bytes fit for a secret. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

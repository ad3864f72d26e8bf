/** Chance as a parameter: tests use a seed. */
export type Entropy = {
  /** 36 lower-case characters. */
  uuid(): string
  /** Secure enough for a secret. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

/** Code gets its random values as a parameter, so that tests can repeat a run with a seed. */
export type Entropy = {
  uuid(): string
  /** Returns bytes that nobody can predict. API keys and links are made from them. */
  bytes(count: number): Uint8Array
}

export const systemEntropy: Entropy = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
}

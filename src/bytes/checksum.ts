/**
 * Checksums of stored rows. They find damage, for example by a disk. They stop no attacker, because anybody can compute
 * them.
 */

/** Returns the low 53 bits of XXH64. A `number` and an integer of SQLite hold them exactly. Text counts as UTF-8. */
export const checksumOf = (data: string | Uint8Array, seed = 0n): number =>
  Number(BigInt.asUintN(53, Bun.hash.xxHash64(data, seed)))

/** Returns 64 bits of `data`, as the seed of another checksum. So that checksum covers `data` too. */
export const seedOf = (data: string | Uint8Array, seed = 0n): bigint => Bun.hash.xxHash64(data, seed)

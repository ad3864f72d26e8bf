/** Checksums find damage, for example by a disk. They stop no attacker. */

/** The low 53 bits of XXH64, which a `number` and an integer of SQLite hold exactly. Text counts as UTF-8. */
export const checksumOf = (data: string | Uint8Array, seed = 0n): number =>
  Number(BigInt.asUintN(53, Bun.hash.xxHash64(data, seed)))

/** The seed of another checksum, which then covers `data`, too. */
export const seedOf = (data: string | Uint8Array, seed = 0n): bigint => Bun.hash.xxHash64(data, seed)

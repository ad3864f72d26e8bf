/**
 * `clr_<id>_<secret><checksum>` (docs/contract.md, "Keys"). The CRC-32 finds typing errors and guesses before the slower
 * SHA-256, and lets a scanner recognize a leaked key.
 */
import { timingSafeEqual } from 'node:crypto'
import { base62, base62Digits } from './base62.ts'

export const keyIdBytes = 16
export const secretBytes = 32

const prefix = 'clr_'
const idChars = 8
/** 43 digits hold 256 bits, because 62^43 > 2^256. In the same way, 6 digits hold the 32 bits of the checksum. */
const secretChars = 43
const checksumChars = 6

const idStart = prefix.length
const idEnd = idStart + idChars
const secretStart = idEnd + 1
const secretEnd = secretStart + secretChars
const keyChars = secretEnd + checksumChars

const underscore = 95

export type MadeKey = {
  readonly key: string
  readonly keyId: string
  /** 64 lower-case hex digits. */
  readonly secretHash: string
}

/**
 * `chance` is 16 random bytes (`keyIdBytes`). Six bytes could fill the 8 digits, but some ids would be twice as likely as
 * others. With 16, the likelihoods differ by at most one part in 2^80.
 */
export const makeKeyId = (chance: Uint8Array): string => {
  if (chance.length !== keyIdBytes) throw new Error(`Cannot make a key id from ${chance.length} bytes of chance`)
  return base62(chance, idChars).slice(-idChars)
}

export const isKeyId = (text: string): boolean => /^[0-9A-Za-z]{8}$/.test(text)

export const makeKey = (keyId: string, chance: Uint8Array): MadeKey => {
  if (!isKeyId(keyId)) throw new Error('Cannot make a key: its id is not 8 base62 characters')
  if (chance.length !== secretBytes) throw new Error(`Cannot make a key from ${chance.length} bytes of chance`)
  const secret = base62(chance, secretChars)
  const body = `${prefix}${keyId}_${secret}`
  return { key: body + checksumOf(body), keyId, secretHash: Bun.SHA256.hash(secret, 'hex') }
}

const checksumOf = (body: string): string => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, Bun.hash.crc32(body))
  return base62(bytes, checksumChars)
}

type ParsedKey = {
  readonly keyId: string
  /** 32 bytes. */
  readonly secretHash: Uint8Array
}

/** Called for every request, so the slower SHA-256 comes only after the checksum was right. */
export const parseKey = (text: string): ParsedKey | null => {
  if (text.length !== keyChars || !text.startsWith(prefix) || text.charCodeAt(idEnd) !== underscore) return null
  for (let at = idStart; at < secretEnd; at += 1) {
    if (at !== idEnd && digitAt(text, at) < 0) return null
  }
  let checksum = 0
  for (let at = secretEnd; at < keyChars; at += 1) {
    const digit = digitAt(text, at)
    if (digit < 0) return null
    checksum = checksum * 62 + digit
  }
  if (checksum !== Bun.hash.crc32(text.slice(0, secretEnd))) return null

  const secretHash = new Uint8Array(32)
  Bun.SHA256.hash(text.slice(secretStart, secretEnd), secretHash)
  return { keyId: text.slice(idStart, idEnd), secretHash }
}

/** In constant time: otherwise an attacker could learn parts of the hash. `storedHash` is 64 hex digits. */
export const secretMatches = (parsed: ParsedKey, storedHash: string): boolean => {
  if (storedHash.length !== 64 || stored.write(storedHash, 'hex') !== 32) return false
  return timingSafeEqual(parsed.secretHash, stored)
}

const stored = Buffer.alloc(32)

const digitAt = (text: string, at: number): number => digits[text.charCodeAt(at)] ?? -1

const digits = Int8Array.from({ length: 128 }, (_, code) => base62Digits.indexOf(String.fromCharCode(code)))

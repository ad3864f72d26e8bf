import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { base62, base62Digits } from '../../src/domain/base62.ts'
import { keyIdBytes, makeKey, makeKeyId, parseKey, secretBytes, secretMatches } from '../../src/domain/key-format.ts'

const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count })
const chance = fc.record({ id: bytes(keyIdBytes), secret: bytes(secretBytes) })

const keyOf = ({ id, secret }: { readonly id: Uint8Array; readonly secret: Uint8Array }) =>
  makeKey(makeKeyId(id), secret)

describe('makeKey()', () => {
  test('makes one word of 62 characters that a scanner can recognise', () => {
    fc.assert(
      fc.property(chance, (given) => {
        const { key, keyId } = keyOf(given)
        expect(key).toMatch(/^clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
        expect(key.slice(4, 12)).toBe(keyId)
      }),
    )
  })

  test('makes the same key from the same bytes, lowest and highest included', () => {
    const zeros = { id: new Uint8Array(keyIdBytes), secret: new Uint8Array(secretBytes) }
    expect(keyOf(zeros)).toEqual({
      key: `clr_00000000_${'0'.repeat(43)}36Ax86`,
      keyId: '00000000',
      secretHash: createHash('sha256').update('0'.repeat(43)).digest('hex'),
    })
    const ones = { id: new Uint8Array(keyIdBytes).fill(255), secret: new Uint8Array(secretBytes).fill(255) }
    expect(parseKey(keyOf(ones).key)?.keyId).toBe(keyOf(ones).keyId)
  })

  test('makes different secrets from different bytes', () => {
    fc.assert(
      fc.property(bytes(secretBytes), bytes(secretBytes), (a, b) => {
        fc.pre(!Buffer.from(a).equals(b))
        const id = new Uint8Array(keyIdBytes)
        expect(keyOf({ id, secret: a }).key).not.toBe(keyOf({ id, secret: b }).key)
      }),
    )
  })

  test('spreads ids evenly over all 62 characters at every place', () => {
    // With 6,200 ids, each of the 62 characters should occur about 100 times at each place.
    const counts = new Map<string, number>()
    for (let number = 0; number < 6_200; number += 1) {
      const id = new Uint8Array(createHash('sha256').update(String(number)).digest().subarray(0, keyIdBytes))
      const { keyId } = keyOf({ id, secret: new Uint8Array(secretBytes) })
      for (const [place, char] of [...keyId].entries()) {
        counts.set(`${place}${char}`, (counts.get(`${place}${char}`) ?? 0) + 1)
      }
    }
    expect(counts.size).toBe(8 * 62)
    expect(Math.min(...counts.values())).toBeGreaterThan(50)
    expect(Math.max(...counts.values())).toBeLessThan(200)
  })

  test('throws for too few bytes', () => {
    const id = new Uint8Array(keyIdBytes)
    expect(() => keyOf({ id, secret: new Uint8Array(secretBytes - 1) })).toThrow('Cannot make a key')
    expect(() => keyOf({ id: id.subarray(1), secret: new Uint8Array(secretBytes) })).toThrow('Cannot make a key')
  })
})

describe('parseKey()', () => {
  test('reads what makeKey() made, and the secret matches the stored hash', () => {
    fc.assert(
      fc.property(chance, (given) => {
        const made = keyOf(given)
        const parsed = parseKey(made.key)
        expect(parsed?.keyId).toBe(made.keyId)
        expect(parsed !== null && secretMatches(parsed, made.secretHash)).toBe(true)
      }),
    )
  })

  test('refuses a key with one changed character', () => {
    const anyChar = fc.oneof(fc.constantFrom(...base62Digits, '_', ' ', '\0', 'é', '\u{1f511}'), fc.string())
    fc.assert(
      fc.property(chance, fc.nat({ max: 61 }), anyChar, (given, at, char) => {
        const { key } = keyOf(given)
        fc.pre(key[at] !== char)
        expect(parseKey(key.slice(0, at) + char + key.slice(at + 1))).toBeNull()
      }),
      { numRuns: 2_000 },
    )
  })

  test('refuses swapped neighbours, and a longer or shorter text', () => {
    fc.assert(
      fc.property(chance, fc.nat({ max: 60 }), (given, at) => {
        const { key } = keyOf(given)
        fc.pre(key[at] !== key[at + 1])
        expect(parseKey(`${key.slice(0, at)}${key[at + 1]}${key[at]}${key.slice(at + 2)}`)).toBeNull()
        expect(parseKey(key.slice(0, at))).toBeNull()
        expect(parseKey(`${key}0`)).toBeNull()
        expect(parseKey(` ${key}`)).toBeNull()
        expect(parseKey(`${key}, ${key}`)).toBeNull()
      }),
    )
  })

  test('refuses any other text, and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => parseKey(text) === null))
    for (const text of ['', 'clr_', '__proto__', `clr_${'_'.repeat(58)}`, 'é'.repeat(62), '\ud800'.repeat(62)]) {
      expect(parseKey(text)).toBeNull()
    }
  })

  test('refuses a wrong form even with a right checksum', () => {
    const withChecksum = (body: string): string => {
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setUint32(0, Bun.hash.crc32(body))
      return body + base62(bytes, 6)
    }
    const secret = 'a'.repeat(43)
    expect(parseKey(withChecksum(`clr_12345678_${secret}`))?.keyId).toBe('12345678')
    for (const body of [
      `cls_12345678_${secret}`,
      `clr-12345678_${secret}`,
      `clr_12345678-${secret}`,
      `clr_12345678a${secret}`,
      `clr_1234567-_${secret}`,
      `clr_1234567é_${secret}`,
      `clr_12345678_${secret.slice(1)}_`,
      `clr_12345678_ ${secret.slice(1)}`,
      `clr_1234567_${secret}a`,
    ]) {
      expect(parseKey(withChecksum(body))).toBeNull()
    }
  })

  test('refuses a checksum beyond 32 bits', () => {
    // The right checksum + 2^32 also fits into 6 digits. A check that compares only 32 bits would accept this wrong checksum.
    const { key } = keyOf({ id: new Uint8Array(keyIdBytes), secret: new Uint8Array(secretBytes) })
    const checksum = [...key.slice(-6)].reduce((sum, char) => sum * 62 + base62Digits.indexOf(char), 0)
    const wide = new Uint8Array(8)
    new DataView(wide.buffer).setBigUint64(0, BigInt(checksum) + 2n ** 32n)
    expect(parseKey(key.slice(0, -6) + base62(wide, 6))).toBeNull()
  })
})

describe('secretMatches()', () => {
  test('refuses a stored hash with another digit, too few digits, or no hex', () => {
    const made = keyOf({ id: new Uint8Array(keyIdBytes), secret: new Uint8Array(secretBytes) })
    const parsed = parseKey(made.key)
    if (parsed === null) throw new Error('the key that was made is none')
    for (let at = 0; at < 64; at += 1) {
      const other = made.secretHash[at] === '0' ? '1' : '0'
      expect(secretMatches(parsed, made.secretHash.slice(0, at) + other + made.secretHash.slice(at + 1))).toBe(false)
    }
    // `secretMatches` decodes into one shared buffer. It now holds the right hash, and the wrong hashes below must not match
    // it.
    expect(secretMatches(parsed, made.secretHash)).toBe(true)
    expect(secretMatches(parsed, '')).toBe(false)
    expect(secretMatches(parsed, made.secretHash.slice(0, 62))).toBe(false)
    expect(secretMatches(parsed, `${made.secretHash.slice(0, 62)}zz`)).toBe(false)
    expect(secretMatches(parsed, `${made.secretHash}00`)).toBe(false)
  })
})

import { describe, expect, test } from 'bun:test'
import type { Name } from '../../../src/domain/reading/columns.ts'
import { hashStep, NameCache, nameCacheWays } from '../../../src/domain/reading/name-cache.ts'

const find = (cache: NameCache, bytes: Uint8Array): Name | null =>
  cache.find(bytes, 0, bytes.length, bytes.reduce(hashStep, 0))

const found = (cache: NameCache, text: string): Name | null => find(cache, Buffer.from(text))

/** The steps of the hash are the same for `Aa` and `BB`, so these names have equal hashes. */
const pairs = ['Aa', 'BB']
const equalHashes = pairs.flatMap((one) => pairs.flatMap((two) => pairs.map((three) => one + two + three)))

describe('a cache of names', () => {
  test('gives the same name for the same bytes', () => {
    const cache = new NameCache()
    for (const text of ['rack-01', 'Fäßchen', '🍷', 'x'.repeat(128)]) {
      const name = found(cache, text)
      expect(name?.text).toBe(text)
      expect(name?.utf8).toEqual(new Uint8Array(Buffer.from(text)))
      expect(found(cache, text)).toBe(name)
      expect(cache.named(text)).toBe(name as Name)
    }
  })

  test('gives the name of a text also if the text came first', () => {
    const cache = new NameCache()
    for (const text of ['rack-01', 'Fäßchen', '🍷']) expect(found(cache, text)).toBe(cache.named(text))
  })

  test('reads only the bytes of the name', () => {
    const bytes = Buffer.from('{"rack":"r-1"}')
    expect(new NameCache().find(bytes, 9, 12, Buffer.from('r-1').reduce(hashStep, 0))?.text).toBe('r-1')
  })

  test('gives nothing for an invalid name', () => {
    const cache = new NameCache()
    for (const text of ['', ' a', 'a ', 'a\nb', '\u007f', '\ufeffa', 'x'.repeat(129)]) {
      expect(found(cache, text), text).toBeNull()
      expect(found(cache, text), text).toBeNull()
    }
    for (const hex of ['ff', '61c3', 'eda080', 'c0af']) expect(find(cache, Buffer.from(hex, 'hex')), hex).toBeNull()
  })

  test('keeps as many names with equal hashes as a set has places', () => {
    const cache = new NameCache()
    const names = equalHashes.slice(0, nameCacheWays).map((text) => found(cache, text))
    expect(names.map((name) => name?.text)).toEqual(equalHashes.slice(0, nameCacheWays))
    for (const [index, text] of equalHashes.slice(0, nameCacheWays).entries()) {
      expect(found(cache, text)).toBe(names[index] as Name)
    }
  })

  test('tells names with equal hashes apart by all their bytes', () => {
    const cache = new NameCache()
    for (const text of ['rack-01', 'rack-0', 'rack-02', 'xack-01', 'rack-011', 'rack-01']) {
      expect(cache.find(Buffer.from(text), 0, text.length, 7)?.text).toBe(text)
    }
  })

  test('replaces the oldest name of a full set', () => {
    const cache = new NameCache()
    const names = equalHashes.slice(0, nameCacheWays + 1).map((text) => found(cache, text))
    for (let index = 1; index <= nameCacheWays; index += 1) {
      expect(found(cache, equalHashes[index] ?? '')).toBe(names[index] as Name)
    }
    expect(found(cache, equalHashes[0] ?? '')).not.toBe(names[0] as Name)
  })

  test('gives the right name however many names there are', () => {
    const cache = new NameCache(2)
    for (const text of [...equalHashes, ...equalHashes.toReversed()]) expect(found(cache, text)?.text).toBe(text)
    for (let index = 0; index < 1_000; index += 1) expect(found(cache, `keg-${index}`)?.text).toBe(`keg-${index}`)
  })

  describe('that was told which name follows', () => {
    const body = Buffer.from('"rack-01","rack-02","rack-021"')
    const behind = (cache: NameCache, before: Name | null, from: number) => cache.findNext(body, from, before as Name)

    test('finds that name without a search', () => {
      const cache = new NameCache()
      const [first, second] = [found(cache, 'rack-01'), found(cache, 'rack-02')]
      cache.follow(first as Name, second as Name)
      expect(behind(cache, first, 11)).toBe(second)
      expect(behind(cache, first, 1)).toBeNull()
      expect(behind(cache, first, 21)).toBeNull()
    })

    test('forgets it with the name', () => {
      const cache = new NameCache(1)
      const [first, second] = [found(cache, 'rack-01'), found(cache, 'rack-02')]
      cache.follow(first as Name, second as Name)
      for (let index = 0; index < 100; index += 1) found(cache, `other-${index}`)
      expect(behind(cache, first, 11)).toBeNull()
    })

    test('does not take a name with quotation marks, which ends earlier in JSON', () => {
      const cache = new NameCache(1)
      const first = found(cache, 'rack-01') as Name
      const second = cache.named('a"b')
      cache.follow(first, second)
      expect(cache.findNext(Buffer.from('"a"b"'), 1, first)).toBeNull()
    })
  })

  test('does not keep the body in memory', () => {
    const body = Buffer.from(`rack-01${'x'.repeat(10_000)}`)
    const name = new NameCache().find(body, 0, 7, Buffer.from('rack-01').reduce(hashStep, 0))
    body.fill(0)
    expect(Buffer.from(name?.utf8 ?? []).toString()).toBe('rack-01')
    expect(name?.utf8.buffer.byteLength).toBe(7)
  })
})

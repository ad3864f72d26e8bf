import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nameOfSegment, nameSegment, paths } from '../../views/paths.ts'

const awkward = [
  '.',
  '..',
  '~',
  '~.',
  '~~',
  '...',
  '%2e%2e',
  'a/b',
  '../../keys',
  '?status=revoked',
  '#history',
  '\\..\\',
]

const throughBrowser = (path: string): readonly string[] =>
  new URL(path, 'http://127.0.0.1').pathname.split('/').slice(1).map(decodeURIComponent)

describe('nameSegment()', () => {
  test.each(awkward)('keeps the cellar "%s" as one path segment in a browser', (cellar) => {
    const [area, segment, tab, ...rest] = throughBrowser(paths.cellar(cellar))
    expect([area, tab, rest]).toEqual(['cellars', 'readings', []])
    expect(nameOfSegment(segment ?? '')).toBe(cellar)
  })

  test.each(awkward)('keeps the rack and the keg "%s" as path segments in a browser', (name) => {
    const [area, , kegs, rack, keg, ...rest] = throughBrowser(paths.keg('wine', name, name))
    expect([area, kegs, rest]).toEqual(['cellars', 'kegs', []])
    expect([nameOfSegment(rack ?? ''), nameOfSegment(keg ?? '')]).toEqual([name, name])
  })

  test('makes a unique segment for any name, and decodes it again', () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(names, names, (one, other) => {
        expect(nameOfSegment(decodeURIComponent(nameSegment(one)))).toBe(one)
        expect(nameSegment(one) === nameSegment(other)).toBe(one === other)
      }),
    )
  })
})

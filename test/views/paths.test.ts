import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cellarOfSegment, cellarSegment, paths } from '../../views/paths.ts'

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

describe('cellarSegment()', () => {
  test.each(awkward)('keeps the cellar "%s" as one path segment in a browser', (cellar) => {
    const [area, segment, tab, ...rest] = throughBrowser(paths.cellar(cellar))
    expect([area, tab, rest]).toEqual(['cellars', 'readings', []])
    expect(cellarOfSegment(segment ?? '')).toBe(cellar)
  })

  test('makes a unique segment for any name, and decodes it again', () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(names, names, (one, other) => {
        expect(cellarOfSegment(decodeURIComponent(cellarSegment(one)))).toBe(one)
        expect(cellarSegment(one) === cellarSegment(other)).toBe(one === other)
      }),
    )
  })
})

import { describe, expect, test } from 'bun:test'
import { formatTable } from '../../src/cli/show/text-for-people.ts'
import { visibleJson, visibleText } from '../../src/hidden-characters.ts'

const hostile = 'a\u001b[2J\u009b31m\u0007\r\n\t\u007f\u202egnp\u2066\u2028\u200f\ufeffz'

describe('visibleText()', () => {
  test('shows what would steer a terminal, and leaves every other character', () => {
    expect(visibleText(hostile)).toBe(
      'a\\u001b[2J\\u009b31m\\u0007\\u000d\\u000a\\u0009\\u007f\\u202egnp\\u2066\\u2028\\u200f\\ufeffz',
    )
    expect(visibleText('Kühlraum 3 — 発酵 🍷')).toBe('Kühlraum 3 — 発酵 🍷')
  })

  test('shows zero-width, tag and filler characters, and a mark without a letter', () => {
    expect(visibleText('a\u200bb\u00ad\u3164\u{e0041}')).toBe('a\\u200bb\\u00ad\\u3164\\udb40\\udc41')
    expect(visibleText('\u0301a \u0302b e\u0301')).toBe('\\u0301a \\u0302b e\u0301')
    expect(visibleText('👩\u200d🔬 a\u200db')).toBe('👩\u200d🔬 a\\u200db')
  })

  test('leaves no control character of any text', () => {
    const everything = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('')
    expect(visibleText(everything)).not.toMatch(/[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u)
  })
})

describe('visibleJson()', () => {
  test('holds no such character either, and is read as the very value', () => {
    const text = visibleJson({ label: hostile })
    expect(text).not.toMatch(/[\p{Cc}\u202e\u2066\u2028]/u)
    expect(JSON.parse(text)).toEqual({ label: hostile })
  })
})

describe('formatTable()', () => {
  test('aligns by what a terminal shows, wide characters and hostile ones alike', () => {
    const table = formatTable(
      ['NAME', 'N'],
      [
        ['発酵', '1'],
        ['a\u001b', '22'],
        ['kühl', '3'],
      ],
    )
    expect(table.split('\n')).toEqual(['NAME     N', '発酵     1', 'a\\u001b  22', 'kühl     3'])
  })
})

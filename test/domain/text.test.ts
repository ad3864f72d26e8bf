import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NameFault } from '../../src/domain/refusal.ts'
import {
  nameFault,
  parseCellar,
  parseEmail,
  parseKeg,
  parseLabel,
  parseNote,
  parsePassword,
  parseReason,
  parseTitle,
  parseUnit,
  type Typed,
} from '../../src/domain/text.ts'

const key = '\u{1f511}'

describe('nameFault()', () => {
  const table: [title: string, name: string, fault: NameFault | null][] = [
    ['one character', 'a', null],
    ['128 characters', 'a'.repeat(128), null],
    ['129 characters', 'a'.repeat(129), 'too_long'],
    ['128 characters outside the basic plane', key.repeat(128), null],
    ['129 characters outside the basic plane', key.repeat(129), 'too_long'],
    ['127 of them and two letters', `${key.repeat(127)}ab`, 'too_long'],
    ['nothing', '', 'blank'],
    ['a space', ' ', 'blank'],
    ['an ideographic space', '\u3000', 'blank'],
    ['a line break alone', '\n', 'blank'],
    ['a space before', ' a', 'outer_space'],
    ['a space behind', 'a ', 'outer_space'],
    ['a no-break space behind', 'a\u00a0', 'outer_space'],
    ['a byte order mark before', '\ufeffa', 'outer_space'],
    ['a space inside', 'a b', null],
    ['NUL', 'a\0b', 'control_character'],
    ['a tab', 'a\tb', 'control_character'],
    ['a line break behind', 'a\n', 'control_character'],
    ['DEL', 'a\x7f', 'control_character'],
    ['the last C1 control', 'a\x9fb', 'control_character'],
    ['the character after it', 'a\xa0b', null],
    ['half a surrogate pair, first', 'a\ud83d', 'lone_surrogate'],
    ['half a surrogate pair, second', '\udd11a', 'lone_surrogate'],
    ['a pair the wrong way round', 'a\udd11\ud83d', 'lone_surrogate'],
    ['shell and markup', `'; rm -rf ~ #"><img src=x>`, null],
    ['a name of an object', '__proto__', null],
    ['the last printable ASCII character', '~', null],
    ['a right-to-left override, which is shown and never obeyed', 'a\u202eb', null],
  ]
  for (const [title, name, fault] of table) {
    test(`${fault === null ? 'takes' : `finds ${fault} in`} ${title}`, () => expect(nameFault(name)).toBe(fault))
  }

  test('judges ASCII by the same rule as other text', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '~', '\x7f'), maxLength: 140 })
    fc.assert(
      fc.property(ascii, (name) => {
        // A letter beyond ASCII makes `nameFault` take its slow path, which must find the same fault.
        const wide = name === '' ? name : `${name[0]}é${name.slice(1)}`
        fc.pre(name.trim() !== '' && name.trimStart() === name && name.length < 128)
        expect(nameFault(wide)).toBe(nameFault(name))
      }),
    )
  })

  test('accepts no name that breaks a rule, in any Unicode', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), (name) => {
        fc.pre(nameFault(name) === null)
        expect(name).not.toMatch(/\p{Cc}/u)
        expect(name.trim()).toBe(name)
        expect([...name].length).toBeGreaterThanOrEqual(1)
        expect([...name].length).toBeLessThanOrEqual(128)
      }),
    )
  })
})

const ruleOf = (typed: Typed<unknown>): string => (typed.ok ? 'ok' : `${typed.refusal.field}: ${typed.refusal.rule}`)

describe('what people type', () => {
  const lines: [name: string, parse: (text: string) => Typed<string>, max: number][] = [
    ['title', parseTitle, 120],
    ['label', parseLabel, 80],
    ['reason', parseReason, 300],
    ['unit', parseUnit, 16],
  ]
  for (const [name, parse, max] of lines) {
    test(`a ${name} has at most ${max} characters after trimming`, () => {
      expect(parse(`  ${key.repeat(max)}\n`)).toEqual({ ok: true, value: key.repeat(max) })
      expect(ruleOf(parse(key.repeat(max + 1)))).toBe(`${name}: The ${name} must be at most ${max} characters.`)
    })
    test(`a ${name} may be blank, and has no control characters or lone surrogates`, () => {
      expect(parse('  ')).toEqual({ ok: true, value: '' })
      expect(ruleOf(parse('a\u001b[2Jb'))).toBe(`${name}: The ${name} must not contain control characters.`)
      expect(ruleOf(parse('a\nb'))).toBe(`${name}: The ${name} must not contain control characters.`)
      expect(ruleOf(parse('a\ud800b'))).toBe(`${name}: The ${name} must be valid Unicode text.`)
    })
  }

  test('a unit has no hidden characters', () => {
    for (const unit of ['°C', '%', 'm³/h', 'µS/cm', 'Ω', 'kWh', 'g / L', '℃', '♥️', 'م/ث'])
      expect(parseUnit(unit)).toEqual({ ok: true, value: unit })
    for (const unit of ['°\u200bC', '\u202eC', 'a\u2066b', '\u3164', '\u0301C', 'a\u2028b'])
      expect(ruleOf(parseUnit(unit))).toBe('unit: The unit must not contain hidden characters.')
  })

  test('the keg of a unit is named as devices name it, without a key', () => {
    expect(parseKeg('a\u200bb', 'keg')).toEqual({ ok: true, value: 'a\u200bb' })
    expect(ruleOf(parseKeg(' temperature', 'keg'))).toBe('keg: The name must not begin or end with a space.')
    expect(ruleOf(parseKeg('', 'keg'))).toBe('keg: The name must not be blank: 1 to 128 characters.')
    const pasted = `clr_7Qp2mZ4k_${'a'.repeat(43)}`
    expect(ruleOf(parseKeg(pasted, 'keg'))).toBe('keg: The name must not contain an API key.')
  })

  test('a note has lines that end with LF', () => {
    expect(parseNote(' one\r\ntwo\n\nthree \r\n')).toEqual({ ok: true, value: 'one\ntwo\n\nthree' })
    expect(parseNote('')).toEqual({ ok: true, value: '' })
    expect(ruleOf(parseNote('one\rtwo'))).toBe('note: The note must not contain control characters.')
    expect(ruleOf(parseNote('n'.repeat(500)))).toBe('ok')
    expect(ruleOf(parseNote('n'.repeat(501)))).toBe('note: The note must be at most 500 characters.')
  })

  test('a cellar identifier is not trimmed', () => {
    expect(parseCellar(`'; rm -rf ~ #`)).toEqual({ ok: true, value: `'; rm -rf ~ #` })
    expect(ruleOf(parseCellar('cellar '))).toBe('cellar: The identifier must not begin or end with a space.')
    expect(ruleOf(parseCellar(''))).toBe('cellar: The identifier must not be blank: 1 to 128 characters.')
    expect(ruleOf(parseCellar('c'.repeat(129)))).toBe('cellar: The identifier must be at most 128 characters.')
  })

  test('an e-mail is one account in upper and lower case', () => {
    expect(parseEmail(' Ada@Example.ORG ')).toEqual({ ok: true, value: 'ada@example.org' })
    expect(ruleOf(parseEmail(`${'a'.repeat(242)}@example.org`))).toBe('ok')
    expect(ruleOf(parseEmail(`${'a'.repeat(243)}@example.org`))).toBe(
      'email: The e-mail must be at most 254 characters.',
    )
    for (const text of ['', 'ada', '@example.org', 'ada@', 'a@b@c', 'a b@c', 'a@b\u0000c', 'a\ud800@b']) {
      expect(ruleOf(parseEmail(text))).toBe('email: The e-mail must look like name@example.org.')
    }
  })

  test('a password has 12 characters to 512 bytes, and is not changed', () => {
    expect(parsePassword(` ${key.repeat(10)} `)).toEqual({ ok: true, value: ` ${key.repeat(10)} ` })
    expect(ruleOf(parsePassword(key.repeat(11)))).toBe('password: The password must be at least 12 characters.')
    expect(ruleOf(parsePassword(key.repeat(128)))).toBe('ok')
    expect(ruleOf(parsePassword(`${key.repeat(128)}a`))).toBe(
      'password: The password must be at most 512 bytes in UTF-8.',
    )
    expect(ruleOf(parsePassword(`${'a'.repeat(12)}\ud800`))).toBe('password: The password must be valid Unicode text.')
  })

  test('no refusal repeats what was typed', () => {
    const secret = 'hunter2'
    const long = secret.repeat(200)
    for (const parse of [parseTitle, parseLabel, parseReason, parseNote, parseCellar, parseEmail, parsePassword]) {
      for (const text of [long, `${secret}\0`, `${secret}\ud800`]) expect(ruleOf(parse(text))).not.toContain(secret)
    }
  })
})

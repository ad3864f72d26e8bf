import { seededNumbers } from '../support/seeded-entropy.ts'

/**
 * Makes bodies of batches as text in which each character is one byte, so that a body can be invalid UTF-8. Most bodies are
 * wrong in one or two places only. They are made without fast-check, which would take most of the time of the test.
 */
type Chance = () => number

/** The result makes another body at each call. The same seed gives the same bodies. */
export const batchBodies = (seed: number) => bodies(seed, (make) => make.body())

export const readingBodies = (seed: number) => bodies(seed, (make) => make.reading())

const bodies = (seed: number, textBy: (make: Maker) => string): ((cellar: string) => Uint8Array) => {
  const numbers = seededNumbers(seed)
  const chance = () => numbers() / 2 ** 32
  return (cellar) => {
    const make = new Maker(chance, cellar)
    const text = textBy(make)
    return Uint8Array.from(Buffer.from(make.isOneIn(10) ? make.mutated(text) : text, 'latin1'))
  }
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

const names = [
  // These names have equal hashes in the cache of names.
  ...['Aa', 'BB', 'AaAa', 'AaBB', 'BBAa', 'BBBB'],
  ...['r', 'k', 'rack-01', 'rack-02', 'keg-0001', 'keg-0002', 'keg-0003', 'a b', 'x'.repeat(128), '~', '{}[]:,', "'"],
  ...['Fäßchen', '🍷', '🍷'.repeat(128), '樽', 'é'.repeat(128), '\u2028', 'a\ufeffb', '\u202e', 'e\u0301'],
].map(bytesOf)
const namesToEscape = ['"', 'a"b', '\\', 'a\\b', '\n', '\t', '\u0000', '\u007f', '/', 'é', '🍷', '\ud800', 'a\udc00b']
const badNames = [
  ...['', ' ', ' a', 'a ', '\u00a0a', '\ufeffa', 'a\ufeff', 'x'.repeat(129), 'é'.repeat(129), '🍷'.repeat(129)],
  ...['\u007f', 'a\u0085b', '\u3000'],
].map(bytesOf)
const brokenNames = [
  '\xff',
  'a\xc3',
  '\xed\xa0\x80',
  '\xc0\xaf',
  '\xf4\x90\x80\x80',
  'a\nb',
  '\t',
  '\0',
  '\\x',
  '\\u12',
  '\\',
]

const numbers = [
  ...[
    '0',
    '-0',
    '0.0',
    '-0.0',
    '0.1',
    '1.50',
    '21.5',
    '-3.25',
    '1e2',
    '1E+2',
    '1e-7',
    '1e400',
    '-1e400',
    '1e-400',
    '5e-324',
  ],
  ...[
    '123456789012345',
    '1234567890123456',
    '12345678901234567',
    '12345678901234.5',
    '123456789012345.6',
    '0.12345678901234',
  ],
  ...[
    '0.123456789012345',
    '0.1234567890123456',
    '9007199254740993',
    '999999999999999',
    '9999999999999999',
    '4294967296',
  ],
  ...[
    '2147483648',
    '-2147483649',
    '0.30000000000000004',
    '1.7976931348623157e308',
    '1.7976931348623159e308',
    '0.000000000000001',
  ],
]
const brokenNumbers = [
  ...[
    '01',
    '-',
    '-01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '0x1',
    'NaN',
    '-Infinity',
    'Infinity',
    '1.2.3',
    '--1',
    '1_0',
    '00',
    '1.e1',
  ],
]

const timestamps = [
  ...[
    '2026-03-01T12:00:00Z',
    '2026-03-01T23:59:59Z',
    '2026-03-02T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ],
  ...['1969-12-31T23:59:59Z', '2024-02-29T12:00:00Z', '2000-02-29T00:00:00Z', '1970-01-01T00:00:00Z'],
  ...[
    '2026-03-01T12:00:00.5Z',
    '2026-03-01T12:00:00.123Z',
    '2026-03-01T12:00:00.123456789Z',
    '2026-03-01T12:00:00+00:00',
  ],
  ...['2026-03-01T12:00:00.123456789+00:00', '1969-12-31T23:59:59.999Z'],
]
const badTimestamps = [
  ...[
    '2026-02-29T12:00:00Z',
    '1900-02-29T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-00-01T12:00:00Z',
    '2026-01-00T12:00:00Z',
  ],
  ...[
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:60Z',
    '2026-03-01t12:00:00Z',
    '2026-03-01T12:00:00z',
  ],
  ...[
    '2026-03-01 12:00:00Z',
    '2026-03-01T12:00:00',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00.1234567890Z',
    'noon',
    '',
  ],
  ...[
    '2026-03-01T12:00:00-00:00',
    '2026-03-01T12:00:00+01:00',
    '2026-03-01T1a:00:00Z',
    '2026-03-01T12:0/:00Z',
    '2026-03-01',
  ],
  ...[
    '2026:03-01T12:00:00Z',
    '2026-03-01T12-00:00Z',
    '2026-3-001T12:00:00Z',
    '\xe9026-03-01T12:00:00Z',
    '2026-03-0:T12:00:00Z',
  ],
]

const otherValues = [
  ...[
    'null',
    'true',
    'false',
    '[]',
    '{}',
    '7',
    '"text"',
    '["r"]',
    '{"rack":"r"}',
    '"\\ud800"',
    '',
    'undefined',
    '"',
    "'r'",
  ],
]
const simpleValues = [
  ...['"C"', '""', '"{a}[b]:,"', 'true', 'false', 'null', '7', '-0.5', '1e3', '12345678901234567', '"~"'],
  ...['1e400', '01', 'tru', 'nulls', '"\x7f"', '"\xc3\xa9"', '"\xff"', '"a\\"b"', '"\t"', '-'],
].flatMap((value, index) => (index < 11 ? Array<string>(8).fill(value) : [value]))
const otherItems = [
  ...[
    'null',
    'true',
    '7',
    '-0',
    '"cellar"',
    '"a,b]"',
    '[]',
    '{}',
    '[[]]',
    '[7,{"a":[]}]',
    '{"a":"}"}',
    '{"a":"\\"}"}',
    '""',
  ],
  ...[
    'nul',
    '{',
    '{]',
    '[}',
    '}',
    '"\n"',
    '{"a":1,}',
    '{"a" 1}',
    '{1:1}',
    '[1,]',
    'NaN',
    '7 8',
    '"a" "b"',
    '/**/7',
    '\xef\xbb\xbf7',
  ],
]
const spaces = ['', '', ' ', '\n', '\t', '\r\n', '  ', '\n    ', ' \t\r\n']
const oddSpaces = ['\v', '\f', '\xa0', '\xc2\xa0', '\xef\xbb\xbf', '\0', '//', '\u0085']
const mutationBytes = '"\\{}[]:,-+.eE0159 \n\t\0\x7f\x80\xa0\xc3\xed\xff\xefTZcrkvtux'

type Style = { readonly comma: string; readonly colon: string; readonly edge: string; readonly isRandom: boolean }

const styles: readonly Style[] = [
  { comma: ',', colon: ':', edge: '', isRandom: false },
  { comma: ', ', colon: ': ', edge: '', isRandom: false },
  { comma: ',\n      ', colon: ': ', edge: '\n      ', isRandom: false },
  { comma: ',\r\n\t', colon: ':\t', edge: '\r\n\t', isRandom: false },
  { comma: ',', colon: ':', edge: '', isRandom: true },
]
const orders = [
  ['cellar', 'rack', 'keg', 'value', 'timestamp'],
  ['timestamp', 'value', 'keg', 'rack', 'cellar'],
  ['cellar', 'keg', 'rack', 'timestamp', 'value'],
] as const

class Maker {
  readonly #chance: Chance
  readonly #cellar: string
  readonly #style: Style
  readonly #order: readonly string[]
  /** One in this number of values is odd. In some bodies, all values are plain. */
  readonly #oddity: number
  /** Each item has up to this number of fields that a reading does not have. */
  readonly #otherFields: number

  constructor(chance: Chance, cellar: string) {
    this.#chance = chance
    this.#cellar = cellar
    this.#style = this.oneOf(styles)
    this.#order = this.isOneIn(5)
      ? [...orders[0]].toSorted(() => chance() - 0.5)
      : this.oneOf<readonly string[]>(orders)
    this.#oddity = this.oneOf([4, 20, 40, 100, 300, 1e9])
    this.#otherFields = this.oneOf([0, 0, 0, 1, 3, 12])
  }

  isOneIn(many: number): boolean {
    return this.#chance() * many < 1
  }

  below(end: number): number {
    return Math.floor(this.#chance() * end)
  }

  oneOf<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)]
    if (one === undefined) throw new Error('there is nothing to choose from')
    return one
  }

  body(): string {
    if (this.isOneIn(500)) return this.#largeBody()
    const items = Array.from({ length: this.isOneIn(30) ? 30 : this.below(5) }, () => this.#item())
    const list = `[${this.#space()}${items.join(`${this.#space()}${this.#style.comma}${this.#space()}`)}${this.#space()}]`
    if (!this.isOneIn(12)) return this.#framed('"readings"', list)
    return this.oneOf<() => string>([
      () => `\xef\xbb\xbf${this.#framed('"readings"', list)}`,
      () => this.#framed('"Readings"', list),
      () => this.#framed('"re\\u0061dings"', list),
      () => this.#framed('"sentBy":"fuzz","readings"', list),
      () => this.#framed('"readings":[],"readings"', list),
      () => this.#framed('"readings"', `${list},"readings":[7]`),
      () => this.#framed('"readings"', `${list},"unit":{"a":["b"]}`),
      () => this.#framed('"readings"', `${list}${this.oneOf([',', ']', '}', 'x', ':1'])}`),
      () => `${this.#framed('"readings"', list)}${this.oneOf(['x', '}', ' 7', '\0', '\xff', ...oddSpaces])}`,
      () => this.#framed('"readings"', list.replace(/\]$/, ',]')),
      () => this.#framed('"readings"', this.oneOf(otherValues)),
      () => `[${this.#framed('"readings"', list)}]`,
      () => list,
      () => this.oneOf(['', ' ', '\n', 'NaN', '{}', '[]', 'null', '{"readings"', '{"readings":', '{"readings":[']),
      () => this.#framed('"readings"', list).slice(0, this.below(list.length + 15)),
    ])()
  }

  /** The body of a single reading. */
  reading(): string {
    const item = `${this.#space()}${this.#item()}${this.#space()}`
    if (!this.isOneIn(12)) return item
    return this.oneOf<() => string>([
      () => `\xef\xbb\xbf${item}`,
      () => `${item}${this.oneOf(['x', '}', ',', ' 7', '\0', '\xff', ...oddSpaces])}`,
      () => `${item}${this.#item()}`,
      () => `[${item}]`,
      () => item.slice(0, this.below(item.length)),
    ])()
  }

  /** Changes one to three bytes, or drops some. */
  mutated(text: string): string {
    let changed = text
    for (let times = 1 + this.below(3); times > 0; times -= 1) {
      const at = this.below(changed.length + 1)
      const byte = this.isOneIn(2) ? this.oneOf([...mutationBytes]) : String.fromCharCode(this.below(256))
      changed = `${changed.slice(0, at)}${this.isOneIn(3) ? '' : byte}${changed.slice(at + this.below(3))}`
    }
    return changed
  }

  #framed(field: string, list: string): string {
    return `${this.#space()}{${this.#space()}${field}${this.#space()}${this.#style.colon}${this.#space()}${list}${this.#space()}}${this.#space()}`
  }

  /** A body at a bound of the whole body, or past it. */
  #largeBody(): string {
    const reading = { cellar: this.#cellar, rack: 'r', keg: 'k', value: 21.5, timestamp: '2026-03-01T12:00:00Z' }
    const plain = bytesOf(JSON.stringify(reading))
    const many = this.oneOf([998, 999, 1_000, 1_001])
    const items = Array.from({ length: many }, () => (this.isOneIn(300) ? this.#item() : plain))
    const list = this.oneOf<() => readonly string[]>([
      () => items,
      () =>
        Array<string>(this.oneOf([999, 1_000]))
          .fill(plain)
          .with(500, plain.replace('"rack"', '"rack":"a","rack"')),
      () => {
        const withZeros = (zeros: number) => plain.replace('{', `{"a":[${'0,'.repeat(zeros)}0],`)
        return [...Array<string>(16).fill(withZeros(1_900)), withZeros(1_318 + this.below(12))]
      },
    ])()
    return this.#framed('"readings"', `[${list.join(',')}]`)
  }

  #space(): string {
    if (this.isOneIn(this.#oddity * 20)) return this.oneOf(oddSpaces)
    return this.#style.isRandom ? this.oneOf(spaces) : ''
  }

  #isOdd(): boolean {
    return this.isOneIn(this.#oddity)
  }

  #item(): string {
    const fields = this.#order.map((field): [string, string] => [this.#fieldName(field), this.#value(field)])
    for (let others = this.below(this.#otherFields + 1); others > 0; others -= 1) {
      const name = this.isOneIn(9) ? this.#otherField() : `"unit${others}"`
      fields.splice(this.below(fields.length + 1), 0, [
        name,
        this.isOneIn(30) ? this.#otherValue() : this.oneOf(simpleValues),
      ])
    }
    if (!this.#isOdd()) return this.#object(fields)
    return this.oneOf<() => string>([
      () => this.oneOf(otherItems),
      () => this.#object(fields.toSpliced(this.below(5), 1)),
      () => this.#object(fields.toSpliced(this.below(6), 0, this.oneOf(fields))),
      () => this.#object(fields.toSpliced(this.below(6), 0, [`"${this.oneOf(orders[0])}"`, this.#value('rack')])),
      () => this.#object(fields.toSpliced(this.below(6), 0, [this.#otherField(), this.#otherValue()])),
      () => this.#object(fields).replace(this.oneOf([':', ',', '"', '{', '}']), this.oneOf(['', ';', ' ', "'"])),
      () => this.#object(fields).replace(/\}$/, ',}'),
    ])()
  }

  #object(fields: readonly (readonly [string, string])[]): string {
    const { comma, colon, edge } = this.#style
    const texts = fields.map(
      ([name, value]) => `${name}${this.#space()}${colon}${this.#space()}${value}${this.#space()}`,
    )
    return `{${edge}${this.#space()}${texts.join(`${comma}${this.#space()}`)}${edge}}`
  }

  #fieldName(field: string): string {
    if (!this.isOneIn(this.#oddity * 5)) return `"${field}"`
    const code = field.charCodeAt(1).toString(16).padStart(4, '0')
    return this.oneOf([
      `"${field[0]}\\u${code}${field.slice(2)}"`,
      `"${field.toUpperCase()}"`,
      `"${field} "`,
      field,
      `"${field}`,
    ])
  }

  #otherField(): string {
    return this.oneOf([
      '"unit"',
      '""',
      '"__proto__"',
      '"constructor"',
      '"Cellar"',
      '"kegs"',
      '"ra\\u0063k"',
      '"\\n"',
      '"valu"',
      '7',
    ])
  }

  #otherValue(): string {
    if (this.isOneIn(2)) return this.oneOf(otherValues)
    const levels = this.oneOf([1, 2, 5, 27, 28, 29, 30, 31, 32, 100])
    return this.isOneIn(2)
      ? `${'['.repeat(levels)}${']'.repeat(levels)}`
      : `${'{"a":'.repeat(levels)}"}"${'}'.repeat(levels)}`
  }

  #value(field: string): string {
    if (!this.#isOdd()) return this.#plain(field)
    if (this.isOneIn(4)) return this.oneOf(otherValues)
    switch (field) {
      case 'value':
        return this.isOneIn(3)
          ? this.oneOf(brokenNumbers)
          : this.isOneIn(2)
            ? this.oneOf(numbers)
            : this.#randomNumber()
      case 'timestamp':
        return this.isOneIn(4) ? this.#escaped(this.oneOf(timestamps)) : `"${this.oneOf(badTimestamps)}"`
      case 'cellar':
        return this.isOneIn(3)
          ? this.#escaped(this.#cellar)
          : `"${this.oneOf([...names, ...badNames, `${this.#cellar}x`, ...Array<string>(9).fill(bytesOf(this.#cellar))])}"`
      default:
        return this.#oddName()
    }
  }

  #oddName(): string {
    return this.oneOf<() => string>([
      () => `"${this.oneOf(badNames)}"`,
      () => `"${this.oneOf(brokenNames)}"`,
      () => this.#escaped(this.oneOf([...namesToEscape, 'rack-01'])),
      () => bytesOf(JSON.stringify(this.oneOf(namesToEscape))),
      () => `"${Array.from({ length: this.below(12) }, () => String.fromCharCode(this.below(256))).join('')}"`,
    ])()
  }

  /** Writes one or all characters as escapes like `\u0061`. */
  #escaped(text: string): string {
    const at = this.isOneIn(2) ? this.below(text.length) : -1
    const chars = Array.from({ length: text.length }, (_, index) => {
      const isEscaped = at < 0 || at === index || text.charCodeAt(index) > 0x7e
      return isEscaped ? `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}` : text.charAt(index)
    })
    return `"${chars.join('')}"`
  }

  #plain(field: string): string {
    switch (field) {
      case 'value':
        return this.isOneIn(2) ? this.#randomNumber() : this.oneOf(numbers.slice(0, 8))
      case 'timestamp':
        return `"${this.isOneIn(3) ? this.#randomTimestamp() : this.oneOf(timestamps)}"`
      case 'cellar':
        return bytesOf(JSON.stringify(this.#cellar))
      default:
        return `"${this.isOneIn(3) ? `keg-${this.below(5_000)}` : this.oneOf(names)}"`
    }
  }

  #randomTimestamp(): string {
    const two = (end: number) => String(this.below(end)).padStart(2, '0')
    return `20${two(100)}-${two(14)}-${two(33)}T${two(25)}:${two(61)}:${two(61)}${this.oneOf(['Z', 'Z', '.25Z', '+00:00'])}`
  }

  #randomNumber(): string {
    const digits = (count: number) => Array.from({ length: count }, () => this.below(10)).join('')
    const whole = this.isOneIn(3) ? '0' : `${1 + this.below(9)}${digits(this.below(this.oneOf([3, 8, 18])))}`
    const fraction = this.isOneIn(3) ? '' : `.${digits(1 + this.below(this.oneOf([3, 8, 18])))}`
    const exponent = this.isOneIn(8) ? `${this.oneOf(['e', 'E'])}${this.oneOf(['', '+', '-'])}${this.below(330)}` : ''
    return `${this.isOneIn(4) ? '-' : ''}${whole}${fraction}${exponent}`
  }
}

/**
 * Bodies within the size limits that cost the service as much as possible. Anybody with one valid key can send them, and anybody
 * the form.
 */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { visitorFormBodyBytesMax } from '../../src/http/dashboard/forms/read-form.ts'
import { batchStructuralCharsMax, jsonNestingMax, readingBodyBytesMax } from '../../src/http/http-bounds.ts'
import { packedBodyBytesMax } from '../../src/http/ingest/checks-after-the-key.ts'
import { batchBodyBytesMax } from '../../src/http/ingest/ingest-batch.ts'
import { batchNamesMax } from '../../src/http/ingest/json/json-structure.ts'
import { batchReadingsMax, nameCodePointsMax } from '../../src/limits.ts'

export type WorstBody = {
  readonly name: string
  readonly kind: 'reading' | 'batch' | 'form'
  /** The bytes as they are sent, so they are compressed if `encoding` is `gzip`. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly encoding: 'plain' | 'gzip'
  /** True if the body is sent in chunks of one byte. */
  readonly isInChunks: boolean
  readonly isValid: boolean
  /** True if the body keeps the bounds on structure: nesting, names, and the number of characters `{}[]:,`. */
  readonly isWithinStructure: boolean
}

/**
 * Some bodies have timestamps in the years 0001 and 9999, to cause the refusals of old and future timestamps. So the
 * cellar must have limits for both.
 */
export function* worstBodies(cellar: string): Generator<WorstBody> {
  yield* deepBodies(cellar)
  yield* flatBodies(cellar)
  yield* nameBodies(cellar)
  yield* itemNameBodies(cellar)
  yield* stringBodies(cellar)
  yield* numberBodies(cellar)
  yield* repeatedFieldBodies(cellar)
  yield* invalidItemBodies(cellar)
  yield* malformedBodies(cellar)
  yield* junkBodies(cellar)
  yield* packedBodies(cellar)
  yield* readingBodies(cellar)
  yield* chunkedBodies(cellar)
}

type Flags = { readonly isValid?: boolean; readonly isWithinStructure?: boolean }

const batch = (name: string, content: string | Uint8Array<ArrayBuffer>, flags: Flags = {}): WorstBody =>
  body('batch', name, content, flags)

const reading = (name: string, content: string | Uint8Array<ArrayBuffer>, flags: Flags = {}): WorstBody =>
  body('reading', name, content, flags)

const body = (
  kind: WorstBody['kind'],
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  { isValid = false, isWithinStructure = false }: Flags,
): WorstBody => {
  const bytes = typeof content === 'string' ? utf8(content) : content
  return { name, kind, bytes, encoding: 'plain', isInChunks: false, isValid, isWithinStructure }
}

const packed = (name: string, bytes: Uint8Array<ArrayBuffer>, isValid = false): WorstBody => ({
  name,
  kind: 'batch',
  bytes,
  encoding: 'gzip',
  isInChunks: false,
  isValid,
  isWithinStructure: true,
})

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)))

const listed = (unit: (index: number) => string, bytes: number, countMax = Number.POSITIVE_INFINITY): string => {
  const units: string[] = []
  for (let used = 0; units.length < countMax; ) {
    const next = unit(units.length)
    used += Buffer.byteLength(next) + 1
    if (used > bytes) break
    units.push(next)
  }
  return units.join(',')
}

const timestamp = '2026-03-01T12:00:00Z'

type Fields = {
  readonly cellar: string
  readonly rack?: string
  readonly keg?: string
  /** The number as JSON text, because one number can be written in many ways. */
  readonly value?: string
  readonly timestamp?: string
}

/** Inserts the names unchanged, so that a caller can write them with escapes such as `\u0041`. */
const item = ({ cellar, rack = 'rack-17', keg = 'temperature', value = '21.5', timestamp: at = timestamp }: Fields) =>
  `{"cellar":"${cellar}","rack":"${rack}","keg":"${keg}","value":${value},"timestamp":"${at}"}`

const items = (all: string): string => `{"readings":[${all}]}`

/** The body has one valid reading and a field `junk`. The service ignores this field, but must read it. */
const withJunk = (cellar: string, junk: string): string => `{"readings":[${item({ cellar })}],"junk":${junk}}`

const junkBytes = (cellar: string): number => batchBodyBytesMax - Buffer.byteLength(withJunk(cellar, ''))

/**
 * If each item has this size, a batch of `batchReadingsMax` items just fits into the body. The size does not include
 * the comma between items.
 */
const itemBytes = Math.floor((batchBodyBytesMax - items('').length) / batchReadingsMax) - 1

function* deepBodies(cellar: string): Generator<WorstBody> {
  const opened = 1_048_000
  yield batch('deep: 1,048,000 times [', '['.repeat(opened))
  yield batch('deep: arrays, closed', '['.repeat(opened / 2) + ']'.repeat(opened / 2))
  yield batch('deep: objects', filled('{"a":', batchBodyBytesMax))
  yield batch('deep: objects, closed', `${'{"a":'.repeat(174_000)}0${'}'.repeat(174_000)}`)
  yield batch('deep: objects in arrays', filled('[{"a":', batchBodyBytesMax))
  yield batch('deep: arrays where the readings are', `{"readings":${'['.repeat(opened)}`)
  const half = Math.floor(junkBytes(cellar) / 2)
  yield batch('deep: arrays beside a valid reading', withJunk(cellar, '['.repeat(half) + ']'.repeat(half)), {
    isValid: true,
  })
  const within = { isWithinStructure: true }
  yield batch('deep: 32 levels, 32,000 structural characters', atLevels(jsonNestingMax), within)
  yield batch('deep: 33 levels', items('['.repeat(31) + ']'.repeat(31)))
}

/**
 * Each item is a string inside nested arrays, so that the body reaches all bounds: depth, structural characters and
 * bytes.
 */
const atLevels = (levels: number): string => {
  const open = levels - 2
  const count = Math.floor((batchStructuralCharsMax - 5) / (2 * open + 1))
  const text = 'x'.repeat(Math.floor((batchBodyBytesMax - 20) / count) - 2 * open - 3)
  return items(
    Array<string>(count)
      .fill(`${'['.repeat(open)}"${text}"${']'.repeat(open)}`)
      .join(','),
  )
}

function* flatBodies(cellar: string): Generator<WorstBody> {
  const free = batchBodyBytesMax - items('').length
  yield batch('flat: empty objects', items(filled('{},', free - 2).concat('{}')))
  yield batch('flat: empty arrays', items(filled('[],', free - 2).concat('[]')))
  yield batch('flat: zeros', items(filled('0,', free - 1).concat('0')))
  yield batch('flat: empty strings', items(filled('"",', free - 2).concat('""')))
  yield batch('flat: zeros, no list of readings', `[${filled('0,', batchBodyBytesMax - 3)}0]`)
  yield batch('flat: commas', filled(',', batchBodyBytesMax))
  yield batch('flat: commas in a list', items(filled(',', free)))
  yield batch('flat: colons', filled(':', batchBodyBytesMax))
  yield batch('flat: closing brackets', filled(']', batchBodyBytesMax))
  const junk = junkBytes(cellar)
  yield batch('flat: zeros beside a valid reading', withJunk(cellar, `[${filled('0,', junk - 3)}0]`), { isValid: true })
  yield batch('flat: objects beside a valid reading', withJunk(cellar, `[${filled('{},', junk - 4)}{}]`), {
    isValid: true,
  })
  const within = { isValid: true, isWithinStructure: true }
  const left = batchStructuralCharsMax - structuralCharsOf(withJunk(cellar, '[]'))
  yield batch('flat: 32,000 structural characters, numbers', withJunk(cellar, longNumbers(left + 1, junk)), within)
  yield batch('flat: 32,000 structural characters, objects', withJunk(cellar, emptyObjects(left)), within)
  yield batch('flat: one structural character more', items(`${'0,'.repeat(batchStructuralCharsMax - 4)}0`))
}

const longNumbers = (count: number, bytes: number): string => {
  const digits = Math.floor((bytes - 2) / count) - 1
  return `[${Array<string>(count).fill('7'.repeat(digits)).join(',')}]`
}

/**
 * Returns an array with exactly this number of structural characters (`{}[]:,`). It holds `{}` and, at the end, zeros.
 */
const emptyObjects = (structuralChars: number): string => {
  const count = Math.floor((structuralChars + 1) / 3)
  return `[${Array<string>(count).fill('{}').join(',')}${',0'.repeat(structuralChars - (3 * count - 1))}]`
}

/**
 * Returns a different text for each index, but all have the same hash in the JavaScript engine. A hash table is slowest
 * with such names. The four fixed characters cancel the effect of the other characters on the hash.
 */
export const ofOneHash = (index: number): string => {
  const digits = index.toString(36).padStart(6, '0')
  return `${digits.slice(0, 2)}\uacc9\u962e\u4b93\u8bb8${digits.slice(2)}`
}

function* nameBodies(cellar: string): Generator<WorstBody> {
  const junk = junkBytes(cellar)
  const valid = { isValid: true }
  const within = { isValid: true, isWithinStructure: true }
  // Each name costs two structural characters: a colon and a comma.
  const count = Math.floor((batchStructuralCharsMax - structuralCharsOf(withJunk(cellar, '{}'))) / 2)
  const long = 'n'.repeat(Math.floor(junk / count) - 12)
  const object = (name: (index: number) => string, most?: number): string =>
    withJunk(cellar, `{${listed((index) => `"${name(index)}":0`, junk - 2, most)}}`)
  yield batch(
    'names: an object of 100,000 short ones',
    object((index) => index.toString(36)),
    valid,
  )
  yield batch(
    'names: an object of 16,000 long ones',
    object((index) => long + index, count),
    within,
  )
  yield batch(
    'names: 16,000 that are whole numbers, far apart',
    object((index) => `${4_294_000_000 - index * 65_537}`, count),
    within,
  )
  yield batch(
    'names: 16,000 of 4-byte characters',
    object((index) => `${'🍷'.repeat(12)}${index}`, count),
    within,
  )
  yield batch('names: 16,000 of one hash', object(ofOneHash, count), within)
  yield batch(
    'texts: 16,000 of one hash',
    withJunk(cellar, `[${listed((index) => `"${ofOneHash(index)}"`, junk - 2, count)}]`),
    within,
  )
  yield batch(
    'names: 3,000 racks of one hash beside a valid reading',
    withJunk(cellar, `[${listed((index) => `{"rack":"${ofOneHash(index)}"}`, junk - 2, batchNamesMax - 3)}]`),
    within,
  )
  yield batch(
    'names: 100,000 that are whole numbers, far apart',
    object((index) => `${4_294_000_000 - index * 37_171}`),
    valid,
  )
  yield batch(
    'names: objects of a shape each',
    withJunk(cellar, `[${listed((index) => `{"s${index}":0}`, junk - 2, 7_990)}]`),
    within,
  )
}

function* itemNameBodies(cellar: string): Generator<WorstBody> {
  const within = { isValid: true, isWithinStructure: true }
  yield batch(
    'names: each reading 9 fields of its own',
    items(listed((index) => manyFields(cellar, index), batchBodyBytesMax - 20, batchReadingsMax)),
    within,
  )
  const name = (index: number, letter: string): string =>
    `${letter.repeat(nameCodePointsMax - 4)}${String(index).padStart(4, '0')}`
  const each = (fields: (index: number) => Fields, most: number = batchReadingsMax): string =>
    items(listed((index) => item(fields(index)), batchBodyBytesMax - 20, most))
  yield batch(
    'names: 1,000 racks and kegs of one hash',
    each((index) => ({ cellar, rack: ofOneHash(index), keg: ofOneHash(index + batchReadingsMax) })),
    within,
  )
  yield batch(
    'names: 1,000 racks and kegs of 128 characters',
    each((index) => ({ cellar, rack: name(index, 'r'), keg: name(index, 'k') })),
    within,
  )
  yield batch(
    'names: 1,000 racks and kegs of 2-byte characters',
    each((index) => ({ cellar, rack: name(index, 'é'), keg: `${'ü'.repeat(60)}${index}` })),
    within,
  )
  yield batch(
    'names: 1,000 racks and kegs of 4-byte characters',
    each((index) => ({ cellar, rack: `${'🍷'.repeat(40)}${index}`, keg: `${'🛢'.repeat(40)}${index}` })),
    within,
  )
  yield batch(
    'names: 1 MiB of 4-byte characters, over the bytes of events',
    each((index) => ({ cellar, rack: `${'🍷'.repeat(120)}${index}`, keg: `${'🛢'.repeat(104)}${index}` })),
    { isWithinStructure: true },
  )
}

const manyFields = (cellar: string, index: number): string => {
  const more = Array.from({ length: 9 }, (_, field) => `"${'f'.repeat(70)}${index}-${field}":${field}`).join(',')
  return `${item({ cellar, rack: `rack-${index}` }).slice(0, -1)},${more}}`
}

function* stringBodies(cellar: string): Generator<WorstBody> {
  const junk = junkBytes(cellar) - 2
  const within = { isValid: true, isWithinStructure: true }
  const string = (unit: string): string => withJunk(cellar, `"${filled(unit, junk)}"`)
  yield batch('strings: 1 MiB of \\u0041', string('\\u0041'), within)
  yield batch('strings: 1 MiB of \\u20ac', string('\\u20ac'), within)
  yield batch('strings: 1 MiB of \\\\', string('\\\\'), within)
  yield batch('strings: 1 MiB of \\"', string('\\"'), within)
  yield batch('strings: 1 MiB of surrogate pairs', string('\\ud83d\\ude00'), within)
  yield batch('strings: 1 MiB of lone surrogates', string('\\ud800'), within)
  yield batch('strings: \\" unterminated', filled('"\\"', 3) + filled('\\"', batchBodyBytesMax - 3), {
    isWithinStructure: true,
  })
  yield batch('strings: unterminated', `"${'a'.repeat(batchBodyBytesMax - 1)}`, { isWithinStructure: true })
  yield batch('strings: unterminated escape at the end', `"${'a'.repeat(batchBodyBytesMax - 2)}\\`, {
    isWithinStructure: true,
  })
  yield batch('strings: nothing but opening quotes', filled('"', batchBodyBytesMax), { isWithinStructure: true })
  yield batch('strings: opening quotes in a list', items(filled('"', batchBodyBytesMax - 20)), {
    isWithinStructure: true,
  })
  const escaped = '\\u0041'.repeat(nameCodePointsMax)
  yield batch(
    'strings: 1,000 racks of escapes',
    items(
      Array<string>(batchReadingsMax)
        .fill(item({ cellar, rack: escaped }))
        .join(','),
    ),
    within,
  )
  yield batch(
    'strings: 1,000 readings with escaped field names',
    items(Array<string>(batchReadingsMax).fill(escapedNames(cellar)).join(',')),
    within,
  )
}

const escapedNames = (cellar: string): string =>
  item({ cellar }).replace(
    /"(cellar|rack|keg|value|timestamp)":/g,
    (_, name: string) =>
      `"${[...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}":`,
  )

/**
 * Returns a number just above the middle between two doubles. Only its last digit decides the rounding, so a parser
 * must read all digits.
 */
const halfWay = (digits: number): string => `9007199254740993.${'0'.repeat(digits - 17)}1`

function* numberBodies(cellar: string): Generator<WorstBody> {
  const within = { isWithinStructure: true }
  const digits = 1_000_000
  const one = (value: string): string => items(item({ cellar, value }))
  const thousand = (value: string): string =>
    items(Array<string>(batchReadingsMax).fill(item({ cellar, value })).join(','))
  yield batch('numbers: 1,000,000 digits', one('7'.repeat(digits)), within)
  yield batch('numbers: 0.000…1', one(`0.${'0'.repeat(digits)}1`), { ...within, isValid: true })
  yield batch('numbers: 1.000…1', one(`1.${'0'.repeat(digits)}1`), { ...within, isValid: true })
  yield batch('numbers: half-way, 1,000,000 digits', one(halfWay(digits)), { ...within, isValid: true })
  yield batch('numbers: an exponent of 1,000,000 digits', one(`1e-${'9'.repeat(digits)}`), { ...within, isValid: true })
  yield batch('numbers: 1,000 of 900 digits', thousand(`7.${'3'.repeat(900)}`), { ...within, isValid: true })
  yield batch('numbers: 1,000 half-way of 900 digits', thousand(halfWay(900)), { ...within, isValid: true })
  yield batch('numbers: 1,000 of the least double and 800 digits', thousand(`2.${'4703282292'.repeat(80)}e-324`), {
    ...within,
    isValid: true,
  })
  const junk = junkBytes(cellar)
  yield batch('numbers: 1 MiB of 1e400', withJunk(cellar, `[${listed(() => '1e400', junk - 2)}]`), { isValid: true })
  const left = batchStructuralCharsMax - structuralCharsOf(withJunk(cellar, '[]'))
  const each = Math.floor(junk / (left + 1)) - 2
  yield batch(
    'numbers: 32,000 half-way of 30 digits',
    withJunk(cellar, `[${listed(() => halfWay(each), junk - 2, left + 1)}]`),
    { ...within, isValid: true },
  )
  yield batch('numbers: minus signs', filled('-', batchBodyBytesMax), within)
}

function* repeatedFieldBodies(cellar: string): Generator<WorstBody> {
  const valid = { isValid: true }
  const lists = listed(() => `"readings":[${item({ cellar })}]`, batchBodyBytesMax - 2)
  yield batch('repeated: a list of readings, 8,000 times', `{${lists}}`, valid)
  const junk = junkBytes(cellar)
  yield batch('repeated: one name', withJunk(cellar, `{${listed(() => '"a":0', junk - 2)}}`), valid)
  yield batch('repeated: __proto__', withJunk(cellar, `{${listed(() => '"__proto__":{}', junk - 2)}}`), valid)
  const racks = listed(() => '"rack":"rack-17"', itemBytes - item({ cellar }).length, 9)
  const twice = `${item({ cellar }).slice(0, -1)},${racks}}`
  yield batch(
    'repeated: the rack of each reading, 10 times',
    items(Array<string>(batchReadingsMax).fill(twice).join(',')),
    {
      isValid: true,
      isWithinStructure: true,
    },
  )
}

/**
 * Returns invalid items for each refusal code. Their fault is in the place that the checks reach last, so the refusal
 * costs most.
 */
const invalidItems = (cellar: string): readonly (readonly [kind: string, item: string])[] => {
  const long = 'é'.repeat(nameCodePointsMax)
  return [
    ['invalid_body', '0'],
    ['missing_field, all', '{}'],
    ['missing_field, one', item({ cellar, rack: long, keg: long }).replace('"timestamp"', '"timestump"')],
    ['invalid_type', item({ cellar, rack: long, keg: long, value: '"1"' })],
    ['invalid_name, too long', item({ cellar, rack: long, keg: `${long}é` })],
    ['invalid_name, control character', item({ cellar, rack: long, keg: `${long.slice(1)}\\u0007` })],
    ['invalid_name, outer space', item({ cellar, rack: long, keg: `${long.slice(1)} ` })],
    ['invalid_name, lone surrogate', item({ cellar, rack: long, keg: `${long.slice(1)}\\ud800` })],
    ['invalid_name, blank', item({ cellar, rack: long, keg: ' '.repeat(nameCodePointsMax) })],
    ['invalid_value', item({ cellar, rack: long, keg: long, value: '1e400' })],
    ['invalid_timestamp, form', item({ cellar, rack: long, keg: long, timestamp: '2026-03-01T12:00:00,5Z' })],
    ['invalid_timestamp, no such', item({ cellar, rack: long, keg: long, timestamp: '2026-02-30T12:00:00Z' })],
    ['timestamp_too_old', item({ cellar, rack: long, keg: long, timestamp: '0001-01-01T00:00:00Z' })],
    ['timestamp_in_future', item({ cellar, rack: long, keg: long, timestamp: '9999-12-31T23:59:59Z' })],
    ['cellar_mismatch', item({ cellar: `${cellar}x`, rack: long, keg: long })],
  ]
}

function* invalidItemBodies(cellar: string): Generator<WorstBody> {
  for (const [kind, invalid] of invalidItems(cellar)) {
    const most = Array<string>(batchReadingsMax - 1)
      .fill(invalid)
      .join(',')
    yield batch(`invalid: 1,000 × ${kind}`, items(`${most},${invalid}`), { isWithinStructure: true })
    yield batch(`invalid: 999 × ${kind}`, items(most), { isWithinStructure: true })
    yield batch(`invalid: 1 valid, 999 × ${kind}`, items(`${item({ cellar })},${most}`), {
      isValid: true,
      isWithinStructure: true,
    })
  }
  const mixed = invalidItems(cellar).map(([, invalid]) => invalid)
  yield batch(
    'invalid: 1,000 of all kinds in turn',
    items(Array.from({ length: batchReadingsMax }, (_, index) => mixed[index % mixed.length]).join(',')),
    { isWithinStructure: true },
  )
}

function* malformedBodies(cellar: string): Generator<WorstBody> {
  const within = { isWithinStructure: true }
  const readings = Array<string>(batchReadingsMax)
    .fill(item({ cellar, rack: 'r'.repeat(nameCodePointsMax) }))
    .join(',')
  const spaces = (used: string): string => ' '.repeat(batchBodyBytesMax - Buffer.byteLength(used))
  const atEnd = (end: string): string => `{"readings":[${readings}${spaces(items(readings + end))}${end}`
  yield batch('malformed: NaN at the end of 1 MiB', atEnd(',NaN]}'), within)
  yield batch('malformed: Infinity at the end of 1 MiB', atEnd(',-Infinity]}'), within)
  yield batch('malformed: 1 MiB of N', filled('N', batchBodyBytesMax), within)
  yield batch('malformed: 1 MiB of Infinit', filled('Infinit', batchBodyBytesMax), within)
  yield batch('malformed: 1 MiB of spaces', filled(' ', batchBodyBytesMax), within)
  yield batch('malformed: 1 MiB of ideographic spaces', filled('\u3000', batchBodyBytesMax), within)
  yield batch('malformed: an x behind 1 MiB of spaces', `${' '.repeat(batchBodyBytesMax - 1)}x`, within)
  yield batch('malformed: trailing garbage', atEnd(']}x'), within)
  const broken = utf8(atEnd(']}x'))
  broken[broken.length - 1] = 0xff
  yield batch('malformed: not UTF-8 at the end', broken, within)
  const wine = utf8(`"${'🍷'.repeat(Math.floor((batchBodyBytesMax - 2) / 4))}"`)
  yield batch('malformed: 4-byte characters, the last one cut off', Uint8Array.from(wine.subarray(0, -2)), within)
}

function* junkBodies(cellar: string): Generator<WorstBody> {
  const within = { isValid: true, isWithinStructure: true }
  const free = junkBytes(cellar) - 2
  yield batch('junk: a valid reading and 1 MiB of ASCII', withJunk(cellar, `"${filled('j', free)}"`), within)
  yield batch(
    'junk: a valid reading and 1 MiB of 2-byte characters',
    withJunk(cellar, `"${filled('é', free)}"`),
    within,
  )
  yield batch(
    'junk: a valid reading and 1 MiB of 3-byte characters',
    withJunk(cellar, `"${filled('€', free)}"`),
    within,
  )
  yield batch(
    'junk: a valid reading and 1 MiB of 4-byte characters',
    withJunk(cellar, `"${filled('🍷', free)}"`),
    within,
  )
  yield batch('junk: a valid reading and 1 MiB of spaces', withJunk(cellar, `${filled(' ', free)}0`), within)
  const plain = Array.from({ length: batchReadingsMax }, (_, index) => item({ cellar, rack: `rack-${index}` }))
  yield batch('valid: 1,000 readings', items(plain.join(',')), within)
  const padded = plain.map((text) => `${text.slice(0, -1)},"junk":"${'j'.repeat(itemBytes - text.length - 10)}"}`)
  yield batch('valid: 1,000 readings with junk up to 1 MiB', items(padded.join(',')), within)
}

function* packedBodies(cellar: string): Generator<WorstBody> {
  yield packed('gzip: unpacks to 64 MiB', pack(new Uint8Array(64 * 1024 * 1024)))
  const empty = gzipSync('')
  yield packed('gzip: 128 KiB of empty members', repeated(empty, Math.floor(packedBodyBytesMax / empty.length)))
  const one = gzipSync(' ')
  const valid = utf8(items(item({ cellar })))
  const last = gzipSync(valid)
  const members = Math.floor((packedBodyBytesMax - last.length) / one.length)
  yield packed('gzip: 128 KiB of members of one byte', joined([repeated(one, members), last]), true)
  yield packed(emptyBlocksName, emptyBlocks(valid), true)
  const noise = utf8(items(item({ cellar })).concat(' '.repeat(packedBodyBytesMax - 1_000)))
  yield packed('gzip: stored, not compressed', pack(noise, 0), true)
  const cut = pack(utf8(withJunk(cellar, `"${randomText(180_000)}"`)))
  yield packed('gzip: cut off at the end', Uint8Array.from(cut.subarray(0, -9)))
  cut[cut.length - 5] = (cut[cut.length - 5] ?? 0) ^ 1
  yield packed('gzip: wrong checksum', cut)
}

export const emptyBlocksName = 'gzip: 128 KiB of empty dynamic-Huffman blocks'

/**
 * A block of deflate (RFC 1951, section 3.2.7) that gives no byte, as bits in the order of the file. Its code has all 257 symbols: 255
 * of 8 bits and two of 9. The table that is built for it costs more than other blocks of the same size that were tried.
 */
const emptyBlock = [
  '001', // Not the last block, and with a code of its own.
  '00000000001100', // 257 symbols, one distance, and 7 lengths for the code of the lengths.
  '100000000110010000110', // That code: "repeat" has 1 bit, "8 bits" has 2, "no symbol" and "9 bits" have 3.
  `10${'011'.repeat(42)}1010`, // "8 bits", 42 times "repeat 6 times", and "8 bits" twice.
  '111111', // "9 bits" twice.
  '110', // The distance: "no symbol".
  '111111111', // The end of the block.
].join('')

/** As many empty blocks as a packed body may have, and then the content. */
const emptyBlocks = (content: Uint8Array): Uint8Array<ArrayBuffer> => {
  const pair = bytesOfBits(emptyBlock.repeat(2))
  const head = gzipSync('').subarray(0, 10)
  const end = Buffer.alloc(8)
  end.writeUInt32LE(crc32(content))
  end.writeUInt32LE(content.length, 4)
  const last = deflateRawSync(content)
  const pairs = Math.floor((packedBodyBytesMax - head.length - last.length - end.length) / pair.length)
  return joined([head, repeated(pair, pairs), last, end])
}

/** The first bit is the lowest bit of the first byte. The number of bits must be a multiple of 8. */
const bytesOfBits = (bits: string): Uint8Array =>
  Uint8Array.from({ length: bits.length / 8 }, (_, at) =>
    Number.parseInt([...bits.slice(8 * at, 8 * at + 8)].reverse().join(''), 2),
  )

export const pack = (bytes: Uint8Array, level = 9): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(gzipSync(bytes, { level }))

const repeated = (bytes: Uint8Array, times: number): Uint8Array<ArrayBuffer> =>
  joined(Array<Uint8Array>(times).fill(bytes))

const joined = (pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.concat([...pieces]))

/** Looks random, so gzip cannot make it much smaller. Each call returns the same text, so runs can be compared. */
const randomText = (chars: number): string => {
  let state = 1
  let text = ''
  for (let count = 0; count < chars; count += 1) {
    state = (state * 48_271) % 2_147_483_647
    text += (state % 36).toString(36)
  }
  return text
}

function* readingBodies(cellar: string): Generator<WorstBody> {
  const within = { isWithinStructure: true }
  const free = readingBodyBytesMax - item({ cellar }).length - ',"junk":'.length
  const junky = (junk: string): string => `${item({ cellar }).slice(0, -1)},"junk":${junk}}`
  yield reading('reading: deep arrays', filled('[', readingBodyBytesMax))
  yield reading('reading: deep objects', filled('{"a":', readingBodyBytesMax))
  yield reading('reading: deep arrays beside its fields', junky('['.repeat(free / 2) + ']'.repeat(free / 2)), {
    isValid: true,
  })
  yield reading('reading: 32 levels', '['.repeat(16) + ']'.repeat(16), within)
  yield reading('reading: flat zeros', junky(`[${listed(() => '0', free - 2)}]`), { isValid: true })
  yield reading('reading: 2,000 names', junky(`{${listed((index) => `"${index.toString(36)}":0`, free - 2)}}`), {
    isValid: true,
  })
  yield reading(
    'reading: names that are whole numbers',
    junky(`{${listed((index) => `"${4_294_000_000 - index * 65_537}":0`, free - 2)}}`),
    { isValid: true },
  )
  yield reading('reading: 32 structural characters', junky(`[${'"j",'.repeat(17)}"j"]`), {
    isValid: true,
    isWithinStructure: true,
  })
  yield reading('reading: one structural character more', junky(`[${'"j",'.repeat(18)}"j"]`), { isValid: true })
  yield reading('reading: 16 KiB of \\u0041', junky(`"${filled('\\u0041', free - 2)}"`), {
    isValid: true,
    isWithinStructure: true,
  })
  yield reading('reading: 16 KiB of opening quotes', filled('"', readingBodyBytesMax), within)
  yield reading('reading: a value of 16,000 digits', item({ cellar, value: halfWay(16_000) }), {
    isValid: true,
    isWithinStructure: true,
  })
  yield reading('reading: 1e400', item({ cellar, value: '1e400' }), within)
  yield reading('reading: one name repeated', junky(`{${listed(() => '"a":0', free - 2)}}`), { isValid: true })
  yield reading('reading: NaN at the end of 16 KiB', `${' '.repeat(readingBodyBytesMax - 3)}NaN`, within)
  yield reading('reading: 16 KiB of N', filled('N', readingBodyBytesMax), within)
  yield reading('reading: trailing garbage', `${item({ cellar })}${' '.repeat(free)}x`, within)
  yield reading('reading: valid, and 16 KiB of junk', junky(`"${filled('j', free - 2)}"`), {
    isValid: true,
    isWithinStructure: true,
  })
  yield reading('reading: a rack of 16 KiB', item({ cellar, rack: 'r'.repeat(16_000) }), within)
  yield reading('reading: valid', item({ cellar }), { isValid: true, isWithinStructure: true })
}

export const chunkedFormName = 'chunks: a sign-in form in chunks of one byte'
export const chunkedBatchName = 'chunks: a batch of 400 kB in chunks of one byte'

function* chunkedBodies(cellar: string): Generator<WorstBody> {
  const form = body('form', chunkedFormName, 'email='.padEnd(visitorFormBodyBytesMax, 'x'), { isWithinStructure: true })
  yield { ...form, isInChunks: true }
  const within = { isValid: true, isWithinStructure: true }
  yield { ...batch(chunkedBatchName, items(item({ cellar })).padEnd(400_000), within), isInChunks: true }
}

/** Counts the structural characters: `{}[]:,` outside of strings. */
export const structuralCharsOf = (text: string): number => {
  let count = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') inString = !inString
    else if (inString && char === '\\') at += 1
    else if (!inString && '{}[]:,'.includes(char)) count += 1
  }
  return count
}

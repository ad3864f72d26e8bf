/**
 * Generates random bodies of readings and batches. Most bodies are wrong in one place only, so that each rule is tested
 * alone. In some bodies, bytes are changed, too.
 */
import fc from 'fast-check'
import { testCellar, validReading } from '../support/test-service.ts'

const hostileText = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '__proto__',
  'constructor',
  `"><img src=x onerror=alert(1)>`,
  "'; rm -rf ~ #",
  'x'.repeat(129),
  '🍷'.repeat(128),
)
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), hostileText)

const digits = (count: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: count, maxLength: count })
const timestampLike = fc
  .tuple(
    digits(4),
    digits(2),
    digits(2),
    digits(2),
    digits(2),
    digits(2),
    fc.constantFrom('Z', '.5Z', '+00:00', '+01:00', ''),
  )
  .map(([year, month, day, hour, minute, second, zone]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`)

const anyNumber = fc.constantFrom(
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '1E+2',
  '01',
  '.5',
  '5.',
  '+1',
  '0x1',
  'NaN',
  '-',
)
const raw = (text: fc.Arbitrary<string>) => text.map((value) => JSON.stringify(value))

const fieldValue = fc.oneof(
  raw(anyText),
  raw(timestampLike),
  anyNumber,
  fc.double({ noNaN: true }).map(String),
  fc.json(),
  fc.constantFrom('null', 'true', '[]', '{}', '"\\ud800"', '"\\x"', '"', ''),
)

const field = fc.tuple(
  fc.constantFrom('cellar', 'rack', 'keg', 'value', 'timestamp', 'Cellar', '__proto__', 'constructor', 'unit', ''),
  fieldValue,
)

const fields = new Map(Object.entries(validReading).map(([name, value]) => [name, JSON.stringify(value)]))

const objectText = (changes: readonly (readonly [string, string])[], without: readonly string[]): string => {
  const kept = [...fields].filter(([name]) => !without.includes(name))
  return `{${[...kept, ...changes].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

const nearlyValid = fc
  .tuple(fc.array(field, { maxLength: 2 }), fc.subarray([...fields.keys()], { maxLength: 2 }))
  .map(([changes, without]) => objectText(changes, without))

const oneFieldChanged = fc
  .tuple(fc.constantFrom(...fields.keys()), fieldValue)
  .map(([name, value]) => objectText([[name, value]], [name]))

const notFinite = fc
  .constantFrom('1e400', '-1e400', '9'.repeat(400))
  .map((value) => objectText([['value', value]], ['value']))

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat(3),
  insert: fc.uint8Array({ maxLength: 3 }),
})

const mutated = fc.tuple(nearlyValid, fc.array(mutation, { minLength: 1, maxLength: 3 })).map(([text, mutations]) => {
  let bytes = Buffer.from(text)
  for (const { at, remove, insert } of mutations) {
    const from = Math.floor(at * bytes.length)
    bytes = Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)])
  }
  return new Uint8Array(bytes)
})

const deep = fc
  .tuple(fc.constantFrom('[', '{"cellar":', '"', '{"a":[', '\\'), fc.integer({ min: 1, max: 3_000 }))
  .map(([part, times]) => part.repeat(times))

const tooLong = fc.integer({ min: 16_000, max: 20_000 }).map((length) => JSON.stringify(validReading).padEnd(length))

const valid = fc
  .record({
    rack: fc.string({ minLength: 1, maxLength: 100, unit: fc.constantFrom(...'abc-_.0🍷é') }),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    ms: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  })
  .map(({ rack, value, ms }) =>
    JSON.stringify({ cellar: testCellar, rack, keg: 'k', value, timestamp: new Date(ms).toISOString() }),
  )

const encoded = (text: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  text.map((body) => new TextEncoder().encode(body))

const item = fc.oneof(
  { arbitrary: valid, weight: 6 },
  { arbitrary: nearlyValid, weight: 3 },
  { arbitrary: oneFieldChanged, weight: 3 },
  { arbitrary: notFinite, weight: 1 },
  { arbitrary: fc.json(), weight: 1 },
)
const items = fc.oneof(
  { arbitrary: fc.array(item, { maxLength: 6 }), weight: 9 },
  {
    arbitrary: fc.integer({ min: 999, max: 1_002 }).map((count) => Array.from({ length: count }, () => '7')),
    weight: 1,
  },
)

const batch = fc
  .tuple(items, fc.constantFrom('readings', 'readings', 'readings', 'readings', 'Readings', '__proto__'))
  .map(([texts, name]) => `{"sentBy":"fuzz","${name}":[${texts.join(',')}]}`)

const anyBatchText = fc.oneof({ arbitrary: batch, weight: 8 }, { arbitrary: fc.json(), weight: 1 })

/** A batch is sent plain, packed with gzip, or packed and then cut short. */
export const anyBatch = fc.record({
  body: fc.oneof(
    { arbitrary: encoded(anyBatchText), weight: 9 },
    { arbitrary: fc.uint8Array({ maxLength: 400 }), weight: 1 },
  ),
  sent: fc.constantFrom('plain', 'plain', 'packed', 'cut'),
  cutBytes: fc.integer({ min: 1, max: 30 }),
})

export const anyBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  { arbitrary: mutated, weight: 5 },
  { arbitrary: encoded(nearlyValid), weight: 5 },
  { arbitrary: encoded(oneFieldChanged), weight: 5 },
  { arbitrary: encoded(notFinite), weight: 1 },
  { arbitrary: encoded(valid), weight: 1 },
  { arbitrary: encoded(fc.json()), weight: 1 },
  { arbitrary: encoded(deep), weight: 1 },
  { arbitrary: encoded(tooLong), weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 400 }), weight: 1 },
)

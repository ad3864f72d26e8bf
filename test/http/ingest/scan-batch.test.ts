import { describe, expect, spyOn, test } from 'bun:test'
import { BatchItems, type ParsedBatch } from '../../../src/domain/reading/judge-batch.ts'
import { NameCache } from '../../../src/domain/reading/name-cache.ts'
import { batchStructuralCharsMax, jsonNestingMax } from '../../../src/http/http-bounds.ts'
import { noWork } from '../../../src/http/ingest/api-call.ts'
import { batchNamesMax } from '../../../src/http/ingest/json/json-structure.ts'
import { BatchParser } from '../../../src/http/ingest/parse-batch.ts'
import {
  BatchScanner,
  batchItemsPerOddItem,
  batchOddItemsMax,
  oddItemBytesMax,
} from '../../../src/http/ingest/scan-batch.ts'
import { scannedNumberBytesMax, scannedOtherFieldsMax } from '../../../src/http/ingest/scan-reading.ts'
import { batchReadingsMax, nameCodePointsMax } from '../../../src/limits.ts'

const names = new NameCache()
const scanner = new BatchScanner(new BatchItems(names), names)
const scan = (text: string, cellar = 'wine'): ParsedBatch | null => scanner.scan(Buffer.from(text), cellar)

const reading = { cellar: 'wine', rack: 'r', keg: 'Fäßchen', value: 21.5, timestamp: '2026-03-01T12:00:00Z' }
const json = JSON.stringify(reading)
const bodyOf = (...items: readonly string[]): string => `{"readings":[${items.join(',')}]}`
const readingsOf = (batch: ParsedBatch | null) =>
  Array.from({ length: batch?.readings.count ?? 0 }, (_, index) => batch?.readings.readingAt(index))

/** True if the scanner reads such an item without `JSON.parse`. It would parse only a few items of this batch alone. */
const isPlain = (item: string): boolean => scan(bodyOf(...Array<string>(100).fill(item))) !== null

const besidePlain = (item: string): ParsedBatch | null => scan(bodyOf(json, item))

describe('the scanner of batches', () => {
  test('reads what encoders write, without JSON.parse', () => {
    const readings = Array.from({ length: 1_000 }, (_, value) => ({ ...reading, keg: `k${value % 70}`, value }))
    const compact = JSON.stringify({ readings })
    const spaced = JSON.stringify({ readings }, null, 1).replaceAll(/\n */g, ' ')
    const tabs = JSON.stringify({ readings }, null, '\t').replaceAll('\n', '\r\n')
    for (const text of [compact, spaced, tabs, JSON.stringify({ readings }, null, 2), ` \t\r\n${compact}\n`]) {
      expect(readingsOf(scan(text))).toEqual(readings)
    }
  })

  test('reads the fields in any order', () => {
    const { cellar, rack, keg, value, timestamp } = reading
    expect(isPlain(JSON.stringify({ timestamp, value, keg, rack, cellar }))).toBe(true)
    expect(isPlain(JSON.stringify({ keg, cellar, timestamp, rack, value }))).toBe(true)
  })

  test('reads numbers as JSON.parse does', () => {
    const texts = [
      ...['0', '-0', '0.5', '1.50', '-21.25', '0.1', '123456789012345', '0.12345678901234', '-0.0', '12345678901234.5'],
      ...['1234567890123456', '0.30000000000000004', '1e5', '1E-7', '-2.5e+3', '5e-324', '9007199254740993', '1e-400'],
    ]
    for (const text of texts) {
      const item = json.replace('21.5', text)
      expect(isPlain(item), text).toBe(true)
      expect(scan(bodyOf(item))?.readings.values[0], text).toBe(Number(JSON.parse(text)))
    }
    for (const [digits, isRead] of [
      [scannedNumberBytesMax, true],
      [scannedNumberBytesMax + 1, false],
    ] as const) {
      expect(isPlain(json.replace('21.5', '1'.repeat(digits)))).toBe(isRead)
    }
    for (const text of ['01', '-', '1.', '.5', '+1', '1e', '1.5.5', '-01', 'NaN', '00', '0x1', '1e+']) {
      expect(besidePlain(json.replace('21.5', text)), text).toBeNull()
    }
    expect(besidePlain(json.replace('21.5', '1e400'))?.rejected).toEqual([
      { index: 1, refusal: { kind: 'invalid_value' } },
    ])
  })

  test('keeps the text of a timestamp with a fraction or an offset', () => {
    for (const text of ['2026-03-01T12:00:00.5Z', '2026-03-01T12:00:00+00:00', '2026-03-01T12:00:00.123456789+00:00']) {
      const item = json.replace(reading.timestamp, text)
      expect(isPlain(item), text).toBe(true)
      const batch = scan(bodyOf(json, item, json))
      expect(batch?.readings.texts).toEqual([null, text, null])
      expect(readingsOf(batch)).toEqual([reading, { ...reading, timestamp: text }, reading])
    }
    expect(scan(bodyOf(json))?.readings.texts).toBeNull()
  })

  test('gives an odd item to the rules for one item', () => {
    const wine = Buffer.from('wine').toString('hex').replaceAll(/../g, '\\u00$&')
    for (const item of [
      json.replace('"wine"', `"${wine}"`),
      json.replace('"r"', '"\\u0072"'),
      json.replace('{', '{"unit":"°C",'),
      json.replace('{', '{"value":7,'),
      json.replace('"rack"', '"r\\u0061ck"'),
    ]) {
      expect(readingsOf(besidePlain(item)), item).toEqual([reading, reading])
    }
    expect(
      scan(bodyOf('7', json, '{}', '"a,b]"', json.replace('wine', 'beer'), json.replace('"r"', '" r"'))),
    ).toMatchObject({
      readings: { count: 1 },
      rejected: [
        { index: 0, refusal: { kind: 'invalid_body', what: 'item' } },
        { index: 2, refusal: { kind: 'missing_field' } },
        { index: 3, refusal: { kind: 'invalid_body', what: 'item' } },
        { index: 4, refusal: { kind: 'cellar_mismatch', cellar: 'wine' } },
        { index: 5, refusal: { kind: 'invalid_name', field: 'rack', fault: 'outer_space' } },
      ],
    })
  })

  test('compares the cellar of an item byte by byte', () => {
    for (const cellar of ['Fäßer', 'a"b', 'a\\b', 'w']) {
      expect(scan(bodyOf(JSON.stringify({ ...reading, cellar })), cellar)?.readings.count, cellar).toBe(1)
      expect(scan(bodyOf(JSON.stringify({ ...reading, cellar: `${cellar}x` })), cellar)?.rejected.length, cellar).toBe(
        1,
      )
    }
    expect(scan(bodyOf(json.replace('wine', 'a"b')), 'a"b')).toBeNull()
  })

  test('overwrites unused texts of an odd item before JSON.parse, but not in the body', () => {
    const body = Buffer.from(bodyOf(json.replace('{', '{"unit":["bar"],')))
    const before = body.toString()
    const parse = spyOn(JSON, 'parse')
    scanner.scan(body, 'wine')
    const texts = parse.mock.calls.map(([text]) => text)
    parse.mockRestore()
    expect(texts).toEqual([json.replace('{', '{"xxxx":["xxx"],')])
    expect(body.toString()).toBe(before)
  })

  test('passes over other fields with simple values, without JSON.parse', () => {
    const values = ['"bar"', '""', '"{[:,"', 'true', 'false', 'null', '7', '-0.5e3', '12345678901234567', '0']
    const others = values.map((value, index) => `"other${index}":${value}`).join(',')
    const parse = spyOn(JSON, 'parse')
    const scanned = [`{${others},${json.slice(1)}`, `${json.slice(0, -1)},${others}}`].map((item) => scan(bodyOf(item)))
    const calls = parse.mock.calls.length
    const withMore = scan(bodyOf(`{"one more":1,${others},${json.slice(1)}`))
    expect([calls, parse.mock.calls.length]).toEqual([0, 1])
    parse.mockRestore()
    for (const parsed of [...scanned, withMore]) expect(parsed?.readings.readingAt(0)).toEqual(JSON.parse(json))
  })

  test('counts other fields for the bound on structural characters', () => {
    const others = Array.from({ length: scannedOtherFieldsMax }, (_, index) => `"other${index}":1`)
    const full = `{${others.join(',')},${json.slice(1)}`
    // The body has 5 around its items. Each item has 11, two for each other field, and one behind it, but for the last.
    const each = 11 + 2 * scannedOtherFieldsMax + 1
    const fit = Math.floor((batchStructuralCharsMax - 5 + 1) / each)
    expect(scan(bodyOf(...Array<string>(fit).fill(full)))?.readings.count).toBe(fit)
    expect(scan(bodyOf(...Array<string>(fit + 1).fill(full)))).toBeNull()
  })

  test('leaves another form of the body to JSON.parse', () => {
    const body = bodyOf(json)
    const forms = [
      ...['', ' ', '[]', '{}', 'null', '{"readings":[]}', `\ufeff${body}`, bodyOf(`\ufeff${json}`), `\v${body}`],
      ...[
        `[${body}]`,
        `${body}x`,
        `${body}}`,
        body.slice(0, -1),
        body.slice(0, -2),
        bodyOf(json, ''),
        bodyOf('', json),
      ],
      ...[body.replace('readings', 'Readings'), body.replace('{', '{"a":1,'), body.replace(/\}$/, ',"a":1}')],
      ...[bodyOf(`${json}${json}`), bodyOf(`${json}:7`), bodyOf('"a":7'), bodyOf('{'), bodyOf('{]'), bodyOf('7 8')],
      ...[bodyOf(json.replace(',', ',,')), bodyOf(json.replace(':', '')), bodyOf(json.replace('"r"', '"r\n"'))],
    ]
    for (const text of forms) expect(scan(text), text).toBeNull()
    expect(scanner.scan(Buffer.from(bodyOf(json.replace('"r"', '"\xff"')), 'latin1'), 'wine')).toBeNull()
  })

  test('is not confused by the end of the body at any byte', () => {
    const body = Buffer.from(JSON.stringify({ readings: [reading, 7, { ...reading, unit: '\\"' }] }, null, 1))
    for (let end = 0; end < body.length; end += 1)
      expect(scanner.scan(body.subarray(0, end), 'wine'), `${end}`).toBeNull()
    expect(scanner.scan(body, 'wine')?.readings.count).toBe(2)
  })
})

describe('the scanner leaves to JSON.parse a batch', () => {
  const plain = (count: number): readonly string[] => Array<string>(count).fill(json)

  test('with more than the most readings', () => {
    expect(scan(bodyOf(...plain(batchReadingsMax)))?.readings.count).toBe(batchReadingsMax)
    expect(scan(bodyOf(...plain(batchReadingsMax + 1)))).toBeNull()
  })

  test('with more than the most names', () => {
    const twoRacks = json.replace('{', '{"rack":"a",')
    expect(scan(bodyOf(...plain(batchReadingsMax - 2), twoRacks))?.readings.count).toBe(batchNamesMax / 3 - 1)
    expect(scan(bodyOf(...plain(batchReadingsMax - 1), twoRacks))).toBeNull()
    expect(scan(bodyOf(twoRacks, ...plain(batchReadingsMax - 1)))).toBeNull()
  })

  test('with more than the most structural characters', () => {
    // The body has 5 around its items and 1 between them; the readings have 11 each, and the sixth field has 4 without zeros.
    // A list of zeros takes a place of a field, and each odd item is short enough to be parsed alone.
    const withZeros = (zeros: number): string => json.replace('{', `{"a":[${'0,'.repeat(zeros)}0],`)
    const [zeros, items] = [1_900, 16]
    // The body has 5 around its items. An odd item has 11, 4 beside its zeros, and 1 for each zero. Commas are between the items.
    const rest = batchStructuralCharsMax - 5 - items * (11 + 4 + zeros) - items
    const last = withZeros(rest - 11 - 4)
    const most = [...Array<string>(items).fill(withZeros(zeros)), last]
    expect(scan(bodyOf(...most))?.readings.count).toBe(items + 1)
    expect(scan(bodyOf(...most.with(-1, withZeros(rest - 11 - 4 + 1))))).toBeNull()
  })

  test('with an odd item that is longer than the longest', () => {
    const padded = (bytes: number): string =>
      json.replace('{', '{"a":[""],').replace('""', `"${'x'.repeat(bytes - Buffer.byteLength(json) - 9)}"`)
    expect(Buffer.byteLength(padded(oddItemBytesMax))).toBe(oddItemBytesMax)
    expect(scan(bodyOf(json, padded(oddItemBytesMax)))?.readings.count).toBe(2)
    expect(scan(bodyOf(json, padded(oddItemBytesMax + 1)))).toBeNull()
    expect(scan(bodyOf(json, '7'.repeat(oddItemBytesMax + 100)))).toBeNull()
  })

  test('with more than the most levels of nesting', () => {
    const withLists = (lists: number): string => json.replace('{', `{"a":${'['.repeat(lists)}${']'.repeat(lists)},`)
    expect(scan(bodyOf(json, withLists(jsonNestingMax - 3)))?.readings.count).toBe(2)
    expect(scan(bodyOf(json, withLists(jsonNestingMax - 2)))).toBeNull()
  })

  test('with too many odd items for its length', () => {
    const odd = (count: number): readonly string[] => Array<string>(count).fill('7')
    // Odd items count as items, too, so each of them allows a part of a further one.
    const most = Math.floor((batchOddItemsMax * batchItemsPerOddItem - 1) / (batchItemsPerOddItem - 1))
    expect(scan(bodyOf(...odd(most)))).not.toBeNull()
    expect(scan(bodyOf(...odd(most + 1)))).toBeNull()
    const more = plain(batchItemsPerOddItem - 1)
    expect(scan(bodyOf(...more, ...odd(most + 1)))).not.toBeNull()
    expect(scan(bodyOf(...more, ...odd(most + 2)))).toBeNull()
  })

  test('with a date of NUL bytes, also as its first date', () => {
    const zeros = json.replace('2026-03-01', '\0\0\0\0-\0\0-\0\0')
    const fresh = new NameCache()
    expect(new BatchScanner(new BatchItems(fresh), fresh).scan(Buffer.from(bodyOf(zeros)), 'wine')).toBeNull()
  })

  test('with a name that is longer than the longest in UTF-8', () => {
    const longest = '🍷'.repeat(nameCodePointsMax)
    const named = (rack: string): string => JSON.stringify({ ...reading, rack })
    expect(isPlain(named(longest))).toBe(true)
    expect(isPlain(named(`${longest}x`))).toBe(false)
  })

  test('and its bytes count once either way', () => {
    const work = noWork()
    const parser = new BatchParser()
    const scanned = bodyOf(json, '7')
    expect(parser.parse(Buffer.from(scanned), 'wine', work).ok).toBe(true)
    expect(work).toEqual({ ...noWork(), bytesLookedAt: Buffer.byteLength(scanned), bodiesParsed: 1 })
    const other = scanned.replace('{', '{"unit":"°C",')
    expect(parser.parse(Buffer.from(other), 'wine', work).ok).toBe(true)
    expect(work).toEqual({
      ...noWork(),
      bytesLookedAt: Buffer.byteLength(scanned) + Buffer.byteLength(other),
      bodiesParsed: 2,
    })
  })
})

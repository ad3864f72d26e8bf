import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { answerOf, expectRefusal } from '../../support/answers.ts'
import { rawExchange } from '../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())
// Refused bodies use up the cost budget of their key, so each test has its own key.
beforeEach(async () => {
  key = (await service.createKey()).key
})

const gzip = { 'Content-Encoding': 'gzip' }
const valid = JSON.stringify(validReading)
const valueAt = valid.indexOf('21.5')
const ofReading = async (body: string | Uint8Array, headers = {}) =>
  expectRefusal(await answerOf(await service.post(body, key, headers)), 400, 'MALFORMED_JSON')
const ofBatch = async (body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
  expectRefusal(await answerOf(await service.postBatch(body, key, headers)), 400, 'MALFORMED_JSON')

const noNumber = ', which has no NaN and no Infinity: skip the reading if it has no value.'
const likeNumber = ', whose numbers look like 21.5 or 2.15e1: send such a number, or put a text in double quotes.'

/** Each value is sent instead of 21.5. `offset` is where the fault is in this value. */
const values: readonly (readonly [value: string, offset: number, words: string])[] = [
  ['nan', 0, noNumber],
  ['-nan', 1, noNumber],
  ['NAN', 0, noNumber],
  ['NaN', 0, noNumber],
  ['nan(0x8000000000000)', 0, noNumber],
  ['-nan(ind)', 1, noNumber],
  ['inf', 0, noNumber],
  ['+inf', 0, noNumber],
  ['-inf', 1, noNumber],
  ['INF', 0, noNumber],
  ['infinity', 0, noNumber],
  ['Infinity', 0, noNumber],
  ['-Infinity', 1, noNumber],
  ['1.#QNAN', 2, noNumber],
  ['-1.#IND', 3, noNumber],
  ['21,5', 3, ', which has a dot in a number and no comma: send 21.5, not 21,5.'],
  ['-1,234.5', 3, ', which has a dot in a number and no comma: send 21.5, not 21,5.'],
  ['+21.5', 0, ', which has no plus sign before a number: send 21.5, not +21.5.'],
  ['021.5', 1, ', which has no leading zero in a number: send 21.5, not 021.5.'],
  ['-021.5', 2, ', which has no leading zero in a number: send 21.5, not 021.5.'],
  ['.5', 0, ', which has a digit before the dot of a number: send 0.5, not .5.'],
  ['-.5', 1, ', which has a digit before the dot of a number: send 0.5, not .5.'],
  ['21.', 3, ', which has a digit after the dot of a number: send 21 or 21.0.'],
  ['0x15', 1, likeNumber],
  ['21.5C', 4, likeNumber],
  ['1e', 2, likeNumber],
  ['-', 1, likeNumber],
  ['2026-03-01', 4, likeNumber],
  ['', 0, ', which has a value after each colon: skip the reading if it has no value.'],
  ['True', 0, ', whose only words without quotes are true, false and null: put a text in double quotes.'],
  ["'21.5'", 0, ', which has double quotes (") around each name and text: send these quotes.'],
  ['“21.5”', 0, ', which has double quotes (") around each name and text: send these quotes.'],
  ['"a\nb"', 2, ', whose texts have no control characters: send \\n for a line break, or remove it.'],
  [
    '"C:\\x"',
    4,
    ', which has only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX: send \\\\ for a backslash.',
  ],
  ['"a\0b"', 2, ', which has no NUL byte: send only the bytes of the JSON, not the whole buffer.'],
  ['21.5 21.5', 5, ', which has a comma or the matching closing bracket after each value: send it.'],
  ['[21.5}', 5, ', which has a comma or the matching closing bracket after each value: send it.'],
  ['[21.5,]', 6, ', which has a comma only between two values: remove the other comma.'],
  ['[}', 1, ': send one JSON object.'],
  ['°', 0, ': send one JSON object.'],
]

/** Each body is a broken reading. `byte` is where the fault is. */
const bodies: readonly (readonly [body: string, byte: number, words: string])[] = [
  [`${valid.slice(0, -1)},}`, valid.length, ', which has a comma only between two values: remove the other comma.'],
  [valid.replaceAll('"', "'"), 1, ', which has double quotes (") around each name and text: send these quotes.'],
  [valid.replaceAll('"', ''), 1, ', which has double quotes (") around each name and text: send these quotes.'],
  [valid.replace(':', '='), 9, ', which has a colon after the name of a field: send the colon.'],
  [valid.replace(',', ' '), 24, ', which has a comma or the matching closing bracket after each value: send it.'],
  [valid.replace(',', '\0'), 23, ', which has no NUL byte: send only the bytes of the JSON, not the whole buffer.'],
]

const around: readonly (readonly [body: string, byte: number, words: string])[] = [
  [`${valid}\0`, valid.length, ', but a NUL byte follows the JSON: do not send the end of the C string.'],
  [`${valid}\r\n\0\0`, valid.length + 2, ', but a NUL byte follows the JSON: do not send the end of the C string.'],
  [`${valid}x`, valid.length, ', but other bytes follow the JSON: send one JSON object and nothing after it.'],
  [
    `${valid}\n${valid}`,
    valid.length + 1,
    ', but other bytes follow the JSON: send one JSON object and nothing after it.',
  ],
  [
    `\ufeff${valid}}`,
    valid.length + 3,
    ', but other bytes follow the JSON: send one JSON object and nothing after it.',
  ],
  ['cellar=wine&rack=1', 0, ': send one JSON object.'],
  [`'${valid}'`, 0, ': send one JSON object.'],
]

describe('a broken reading', () => {
  test.each(values)('with the value %j is told the fault and the byte', async (value, offset, words) => {
    expect(await ofReading(valid.replace('21.5', value))).toBe(
      `body must be valid JSON${words} It breaks at byte ${valueAt + offset} (counted from 0).`,
    )
  })

  test.each([...bodies, ...around])('%j is told the fault and the byte', async (body, byte, words) => {
    expect(await ofReading(body)).toBe(`body must be valid JSON${words} It breaks at byte ${byte} (counted from 0).`)
  })

  test('counts the bytes of the unpacked body, not its characters', async () => {
    const body = valid.replace('rack-17', 'Fäßchen').replace('21.5', 'nan')
    const words = `body must be valid JSON${noNumber} It breaks at byte ${valueAt + 2} (counted from 0).`
    expect(await ofReading(body)).toBe(words)
    expect(await ofReading(new Uint8Array(gzipSync(body)), gzip)).toBe(words)
  })

  test('names no item, whatever fields it has', async () => {
    expect(await ofReading('{"readings":[nan]}')).toEndWith('It breaks at byte 13 (counted from 0).')
  })

  test('does not come back in the answer', async () => {
    for (const body of ['{"cellar": SECRET-WORD', '{"cellar":"SECRET-WORD', '{"SECRET-WORD"}', 'SECRET-WORD']) {
      expect(await ofReading(body)).not.toContain('SECRET')
    }
  })
})

describe('a broken item of a batch', () => {
  const head = '{"sentBy":[1,2],"readings":['
  const batchOf = (broken: string): string => `${head}${valid}, ${valid},${broken},${valid}]}`
  const itemAt = head.length + 2 * valid.length + 3

  test.each(values)('with the value %j is told by the same words and its index', async (value, offset, words) => {
    expect(await ofBatch(batchOf(valid.replace('21.5', value)))).toBe(
      `body must be valid JSON${words} It breaks at byte ${itemAt + valueAt + offset}, in readings[2] (counted from 0).`,
    )
  })

  test.each(bodies)('%j is told by the same words and its index', async (body, byte, words) => {
    expect(await ofBatch(batchOf(body))).toBe(
      `body must be valid JSON${words} It breaks at byte ${itemAt + byte}, in readings[2] (counted from 0).`,
    )
  })

  test("is told by the text in the device makers' guide", async () => {
    const guide = await Bun.file('docs/devices.md').text()
    expect(guide).toContain(`"${await ofBatch(`{"readings":[${valid},${valid.replace('21.5', 'nan')}]}`)}"`)
  })

  test('is the last of the list if a comma follows it', async () => {
    expect(await ofBatch(`{"readings":[${valid},${valid},]}`)).toEndWith('in readings[1] (counted from 0).')
  })

  test('is not named if the fault is outside of the list', async () => {
    for (const body of [
      '{"readings":nan}',
      `{"readings":[${valid}],}`,
      `{"readings":[${valid}]}\0`,
      '{"readings":[}',
    ]) {
      expect(await ofBatch(body)).toMatch(/It breaks at byte \d+ \(counted from 0\)\.$/)
    }
    for (const body of ['{"a":[{"readings":[nan]}]}', '[{"readings":0},[nan]]', '{"readings":[],"a":[nan]}']) {
      expect(await ofBatch(body)).not.toContain('readings[')
    }
  })

  test('is named if its bytes are not UTF-8', async () => {
    const latin1 = Buffer.from(batchOf(valid.replace('rack-17', 'Faß')), 'latin1')
    expect(await ofBatch(new Uint8Array(latin1))).toBe(
      `body must be UTF-8: encode the JSON in UTF-8. It breaks at byte ${itemAt + 34}, in readings[2] (counted from 0).`,
    )
  })
})

describe('a body that ends too early', () => {
  test.each([
    [valid.slice(0, -1), 'an object'],
    ['{', 'an object'],
    ['{"a":', 'an object'],
    [valid.slice(0, -3), 'a text'],
    ['{"a":"\\u00', 'a text'],
    ['{"a":"\\', 'a text'],
    ['{"a":-', 'a number'],
    ['{"a":21.', 'a number'],
    ['{"a":2e', 'a number'],
    ['{"a":nul', 'a word'],
    ['{"a":[1,', 'a list'],
  ])('%j is told to look at its Content-Length', async (body, part) => {
    expect(await ofReading(body)).toBe(
      `body must be valid JSON, but it ends at byte ${body.length}, in the middle of ${part}: is Content-Length (${body.length}) too small?`,
    )
  })

  test('names the item of a batch', async () => {
    const body = `{"readings":[${valid},${valid}`
    const lengthWords = `is Content-Length (${body.length - 3}) too small?`
    expect(await ofBatch(body.slice(0, -3))).toBe(
      `body must be valid JSON, but it ends at byte ${body.length - 3}, in the middle of a text in readings[1]: ${lengthWords}`,
    )
    expect(await ofBatch('{"readings":[')).toContain('in the middle of a list: is Content-Length (13)')
  })

  test('is not told about Content-Length if that is another number, or absent', async () => {
    const words = 'body must be valid JSON, but it ends at byte 5, in the middle of an object: send the whole JSON.'
    expect(await ofReading(new Uint8Array(gzipSync('{"a":')), gzip)).toBe(words)
    const chunked = `POST /api/v1/ingest HTTP/1.1\r\n${headers()}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n0\r\n\r\n`
    expect(await ofRaw(chunked)).toBe(words)
  })
})

describe('a request without a body', () => {
  test.each(['/api/v1/ingest', '/api/v1/ingest/batch'])(
    'to %s is told that Content-Length is missing',
    async (path) => {
      const words =
        'Content-Length is missing, so the body was not read: send that header with the number of bytes in the body.'
      expect(await ofRaw(`POST ${path} HTTP/1.1\r\n${headers()}\r\n`)).toBe(words)
      // For HTTP, the bytes behind the head are the next request.
      expect(await ofRaw(`POST ${path} HTTP/1.1\r\n${headers()}\r\n${valid}`)).toBe(words)
    },
  )

  test('is told that the body is empty if its length is declared', async () => {
    const words = 'body must not be empty: send one JSON object.'
    expect(await ofRaw(`POST /api/v1/ingest HTTP/1.1\r\n${headers()}Content-Length: 0\r\n\r\n`)).toBe(words)
    const chunked = 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    expect(await ofRaw(`POST /api/v1/ingest HTTP/1.1\r\n${headers()}${chunked}`)).toBe(words)
  })
})

const headers = (): string => `Host: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`

const ofRaw = async (request: string): Promise<string> => {
  const [answer] = await rawExchange(service.url, request)
  const { status, error, code } = { status: answer?.status, ...JSON.parse(answer?.body ?? '{}') }
  expect([answer?.status, status, code]).toEqual([400, 'error', 'MALFORMED_JSON'])
  return error
}

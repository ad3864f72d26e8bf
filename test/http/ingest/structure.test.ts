import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { limitStructure } from '../../../src/http/ingest/json/json-structure.ts'
import { answerOf, expectAccepted, expectBatch, expectRefusal } from '../../support/answers.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

// Refused bodies use up the cost budget of their key, so each test has its own key.
let key: string
beforeEach(async () => {
  key = (await service.createKey()).key
})

const gzip = { 'Content-Encoding': 'gzip' }
const post = async (body: unknown) => answerOf(await service.post(body, key))
const postBatch = async (body: string) => answerOf(await service.postBatch(body, key))
const postPacked = async (body: string) => answerOf(await service.postBatch(new Uint8Array(gzipSync(body)), key, gzip))

/** The text that the service passes to `JSON.parse`. */
const limited = (text: string | Uint8Array): string => {
  const body = typeof text === 'string' ? Buffer.from(text) : text
  expect(limitStructure(body, 32_000)).toBe(body.byteLength)
  return Buffer.from(body).toString()
}

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const json = JSON.stringify(validReading)
const withField = (value: string): string => `${json.slice(0, -1)},"extra":${value}}`
/** A JSON list with `many` zeros. It has `many` + 1 structural characters. */
const zeros = (many: number): string => `[${'0,'.repeat(many - 1)}0]`

const parsedBy = async (send: () => Promise<unknown>): Promise<number> => {
  const before = service.work.bodiesParsed
  await send()
  return service.work.bodiesParsed - before
}

describe('the structure of a reading', () => {
  const tooDeep = 'body must have at most 32 levels of nesting: send each reading as a plain JSON object.'
  const tooMany =
    'body must have at most 32 of the characters {}[]:, outside strings: send one reading, without other data.'

  test('may have 32 structural characters, and no more', async () => {
    // The structural characters are `{}[]:,`. The five fields have 11 of them, the sixth field 2, and the list of 18 zeros 19.
    expectAccepted(await post(withField(zeros(18))))
    expect(
      await parsedBy(async () =>
        expect(expectRefusal(await post(withField(zeros(19))), 400, 'INVALID_BODY')).toBe(tooMany),
      ),
    ).toBe(0)
  })

  test('does not count characters inside strings', async () => {
    expectAccepted(await post({ ...validReading, rack: '{}[]:,'.repeat(20), keg: `\\"${'[{":,'.repeat(10)}\\` }))
  })

  test('may not be deep', async () => {
    expect(
      await parsedBy(async () =>
        expect(expectRefusal(await post('['.repeat(16_000)), 400, 'INVALID_BODY')).toBe(tooMany),
      ),
    ).toBe(0)
    expect(expectRefusal(await postBatch(nested(33)), 400, 'INVALID_BODY')).toBe(tooDeep)
  })
})

describe('the structure of a batch', () => {
  const batchWith = (value: string): string => `{"readings":[${json}],"extra":${value}}`

  test('may have 32 levels of nesting, and no more', async () => {
    expectBatch(await postBatch(batchWith(nested(31))), 200)
    expect(await parsedBy(async () => expectRefusal(await postBatch(batchWith(nested(32))), 400, 'INVALID_BODY'))).toBe(
      0,
    )
  })

  test('may have 32,000 structural characters, and no more', async () => {
    // Of the characters `{}[]:,`, the reading has 11, a list of n zeros has n + 1, and the body around both has 7.
    const most = 32_000 - 7 - 11 - 1
    expectBatch(await postBatch(batchWith(zeros(most))), 200)
    const refused = async () =>
      expect(expectRefusal(await postBatch(batchWith(zeros(most + 1))), 400, 'BATCH_TOO_LARGE')).toBe(
        'readings must have at most 32000 of the characters {}[]:, outside strings in one batch: send them in several batches.',
      )
    expect(await parsedBy(refused)).toBe(0)
  })

  test('may have 3,000 names, and no more', async () => {
    const full = `{"readings":[${Array(1_000).fill(json).join(',')}]}`
    expectBatch(await postBatch(full), 200)
    const refused = async () =>
      expect(expectRefusal(await postBatch(full.replace('"rack"', '"rack":"a","rack"')), 400, 'BATCH_TOO_LARGE')).toBe(
        'readings must be at most 1000 in one batch: send them in several batches.',
      )
    expect(await parsedBy(refused)).toBe(0)
  })

  test('is checked once, to its end', async () => {
    const body = `{"readings":[${Array(1_000).fill(json).join(',')}]}`
    const before = service.work.bytesLookedAt
    expectBatch(await postBatch(body), 200)
    expect(service.work.bytesLookedAt - before).toBe(body.length)
  })

  test('is checked only up to two strings side by side', async () => {
    const before = service.work.bytesLookedAt
    expectRefusal(await postBatch('"'.repeat(batchBodyBytesMax)), 400, 'MALFORMED_JSON')
    expect(service.work.bytesLookedAt - before).toBe(2)
  })

  test('is refused at the 33rd of many packed brackets', async () => {
    const before = { ...service.work }
    expectRefusal(await postPacked('['.repeat(batchBodyBytesMax)), 400, 'INVALID_BODY')
    expectRefusal(await postPacked('{"a":'.repeat(batchBodyBytesMax / 5)), 400, 'INVALID_BODY')
    expect(service.work.bodiesParsed).toBe(before.bodiesParsed)
    expect(service.work.bytesLookedAt).toBe(before.bytesLookedAt)
  })
})

describe('unused texts', () => {
  test('are overwritten before the body is parsed', () => {
    const body = `{"unit" : "°C", "value":"21.5","timestamp":"soon","rack":"r","keg":["a",{"b":"c"}],"g\\u00fc":"\\n"}`
    expect(limited(body)).toBe(
      '{"xxxx" : "xxx", "value":"xxxx","timestamp":"xxxx","rack":"r","keg":["x",{"x":"x"}],"xxxxxxx":"xx"}',
    )
  })

  test('are not in the five fields, also with escaped names', () => {
    for (const body of [json, json.replaceAll(':"', ' \n: "'), json.replace('cellar', 'c\\u0065ll\\u0061r')]) {
      expect(limited(body)).toBe(body)
    }
  })

  test('stay as they are in invalid JSON', async () => {
    for (const text of ['a\\x', 'a\\u00g0', 'a\nb', '\\']) {
      const body = withField(`"${text}"`)
      expect(limited(body)).toEndWith(`:"${text}"}`)
      expectRefusal(await post(body), 400, 'MALFORMED_JSON')
    }
    const [before = '', after = ''] = withField('"?"').split('?')
    const latin1 = Buffer.concat([Buffer.from(before), Buffer.from([0xe9]), Buffer.from(after)])
    expect(expectRefusal(await post(latin1), 400, 'MALFORMED_JSON')).toStartWith('body must be UTF-8')
  })

  test('do not change the stored reading', async () => {
    const escaped = json.replace('cellar', 'c\\u0065llar').replace('rack-17', '\\u0072ack-17')
    expectAccepted(await post(withField('{"größe":"ü","rack":"other","\\u0072ack":1}')))
    expectAccepted(await post(escaped))
    const stored = await service.log.readAll({ direction: 'backwards', limit: 2 })
    expect(stored.map(({ data }) => data)).toEqual([validReading, validReading])
  })
})

/** Sends each example of `/openapi.json` to the service, and compares the answer with the document. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020.js'
import { bodyGraceMs, bodyReservedBytesMin, readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { openApiDocument } from '../../../src/http/openapi/openapi-document.ts'
import { openApiPath } from '../../../src/http/openapi/openapi-routes.ts'
import { bodyHeartbeatMs, keyBodiesBytesMax } from '../../../src/http/unfinished-bodies.ts'
import { batchReadingsMax, keyLimitDefault } from '../../../src/limits.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { faultyLog } from '../../support/logs/faulty-log.ts'
import { onlyAnswer, type RawConnection, rawConnect } from '../../support/raw-http.ts'
import { startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'

type Request = {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
type Example = { readonly value: object; readonly 'x-request'?: Request }
type Documented = {
  readonly headers: object
  readonly content: {
    readonly 'application/json': { readonly schema: object; readonly examples: Readonly<Record<string, Example>> }
  }
}
type Operation = {
  readonly operationId: string
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: object } } }
  readonly responses: Readonly<Record<string, Documented>>
}

const text = JSON.stringify(openApiDocument('/'))
const document = JSON.parse(text)

/** Puts what a `$ref` means in its place, but for schemas. */
const inPlace = (_: string, part: unknown): unknown => {
  const ref = Reflect.get(Object(part), '$ref')
  if (typeof ref !== 'string' || ref.startsWith('#/components/schemas/')) return part
  const [, , section = '', name = ''] = ref.split('/')
  return JSON.parse(JSON.stringify(document.components[section][name]), inPlace)
}
const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = JSON.parse(text, inPlace).paths

const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(document, 'document')
const fits = (schema: object, value: unknown): boolean =>
  ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')), value) === true

const startWorld = async (operation: { readonly method: string; readonly path: string; readonly example: object }) => {
  const log = faultyLog(await openFreshLog())
  const schedule = drivenSchedule()
  const service = await startService({ log, bodySchedule: schedule })
  const expiresAt = service.clock.now() + 86_400_000
  const { key } = await service.createKey({ expiresAt })
  await service.core.cellars.changePolicy(
    testCellar,
    { readingAgeMsMax: 7 * 86_400_000, readingAheadMsMax: 600_000 },
    testAsker,
  )
  const connections: RawConnection[] = []
  const valid = JSON.stringify(operation.example)
  return {
    ...{ log, schedule, service, key, expiresAt, valid, path: operation.path },
    connect: async () => {
      const connection = await rawConnect(service.url)
      connections.push(connection)
      return connection
    },
    send: ({ method = operation.method, path = operation.path, headers, body = valid }: Request = {}) =>
      fetch(service.url + path, {
        method,
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers },
        ...(method !== 'GET' && { body }),
      }),
    end: async () => {
      for (const connection of connections) connection.drop()
      log.comeBack()
      await service.stop()
      await log.close()
    },
  }
}
type World = Awaited<ReturnType<typeof startWorld>>

/** For examples whose request is not enough. `send` sends that request. */
const circumstances: Readonly<Record<string, (world: World, send: () => Promise<Response>) => Promise<Response>>> = {
  stored_again: async (_, send) => {
    await send()
    return send()
  },
  KEY_EXPIRED: ({ service, expiresAt }, send) => {
    service.clock.set(expiresAt)
    return send()
  },
  PAYLOAD_TOO_LARGE: ({ send, valid }) =>
    send({ body: valid.padEnd(1 + (valid.includes('readings') ? batchBodyBytesMax : readingBodyBytesMax)) }),
  BATCH_TOO_LARGE: ({ send }) =>
    send({ body: JSON.stringify({ readings: Array(batchReadingsMax + 1).fill(validReading) }) }),
  RATE_LIMITED: async ({ service, key }, send) => {
    for (let sent = 0; sent < keyLimitDefault.readings; sent += batchReadingsMax)
      await service.postBatch(Array(batchReadingsMax).fill(validReading), key)
    return send()
  },
  IDEMPOTENCY_KEY_REUSED: async ({ service, key, send }) => {
    await service.post({ ...validReading, value: 7 }, key, { 'Idempotency-Key': 'used' })
    return send({ headers: { 'Idempotency-Key': 'used' } })
  },
  IDEMPOTENCY_IN_PROGRESS: async ({ log, send }) => {
    const held = log.hold('before')
    const running = send({ headers: { 'Idempotency-Key': 'running' } })
    await until(() => held.waiting > 0)
    const answer = await send({ headers: { 'Idempotency-Key': 'running' } })
    held.release()
    await running
    return answer
  },
  INTERNAL_ERROR: ({ service }, send) => {
    Object.defineProperty(service.core, 'keys', {
      get: () => {
        throw new Error('a bug')
      },
    })
    return send()
  },
  STORE_UNAVAILABLE: ({ log }, send) => {
    log.goAway()
    return send()
  },
  no: ({ log }, send) => {
    log.goAway()
    return send()
  },
  STORAGE_FULL: ({ log }, send) => {
    Object.defineProperty(log, 'refusesReadings', { value: true })
    return send()
  },
  REQUEST_TIMEOUT: async ({ service, schedule, key, path, connect }) => {
    const connection = await connect()
    await connection.send(`${headOf(path, key, 'Transfer-Encoding: chunked')}1\r\n{\r\n`)
    await until(() => service.bodies.count === 1)
    await schedule.advance(bodyGraceMs + 2 * bodyHeartbeatMs)
    const { status, headers, body } = await onlyAnswer(connection)
    return new Response(body, { status, headers: [...headers] })
  },
  OVERLOADED: async ({ service, key, connect, send, valid }) => {
    const heads = Array.from({ length: keyBodiesBytesMax / batchBodyBytesMax }, async () =>
      (await connect()).send(headOf('/api/v1/ingest/batch', key, `Content-Length: ${batchBodyBytesMax}`)),
    )
    await Promise.all(heads)
    await until(() => service.bodies.count === heads.length)
    return send({ body: valid.padEnd(bodyReservedBytesMin + 1) })
  },
}

const headOf = (path: string, key: string, line: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${line}\r\n\r\n`

/** HTTP itself says what these mean, and OpenAPI ignores them. */
const ofHttp = new Set(['content-type', 'content-length', 'date'])

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { requestBody, responses }]) => ({
    ...{ method: method.toUpperCase(), path, responses },
    example: requestBody?.content['application/json'].example ?? {},
  })),
)

describe.each(operations)('$method $path', ({ responses, ...operation }) => {
  let usual: World
  beforeAll(async () => {
    usual = await startWorld(operation)
  })
  afterAll(() => usual.end())

  test.each(Object.entries(responses))('answers %s as the document says', async (status, documented) => {
    const { schema, examples } = documented.content['application/json']
    const seen = new Set<string>()
    for (const [name, { value, 'x-request': request }] of Object.entries(examples)) {
      const circumstance = circumstances[name]
      const world = circumstance === undefined ? usual : await startWorld(operation)
      const send = () => world.send(request)
      const answer = await (circumstance?.(world, send) ?? send())
      const body: unknown = await answer.json()
      expect({ name, status: answer.status, body }).toEqual({ name, status: Number(status), body: value })
      expect([name, fits(schema, body)]).toEqual([name, true])
      for (const header of answer.headers.keys()) if (!ofHttp.has(header)) seen.add(header)
      if (world !== usual) await world.end()
    }
    const described = Object.keys(documented.headers).map((name) => name.toLowerCase())
    expect([...seen].toSorted()).toEqual(described.toSorted())
  })
})

const object = (required: object, optional: object = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
})
const words = { type: 'string', minLength: 1 }
const listOf = (items: object) => ({ type: 'array', items })
const mapOf = (part: object, names = '^[\\w.-]+$') => ({
  type: 'object',
  minProperties: 1,
  propertyNames: { pattern: names },
  additionalProperties: part,
})

/** Of https://spec.openapis.org/oas/v3.1.0, what the document uses. */
const schemaRule = { type: 'object', minProperties: 1 }
const requestRule = object({}, { method: words, path: words, headers: mapOf({ type: 'string' }), body: words })
const exampleRule = object({ value: {} }, { 'x-request': requestRule })
const headerRule = object({ description: words, schema: schemaRule, example: words })
const contentRule = object({
  'application/json': {
    oneOf: [object({ schema: schemaRule, example: {} }), object({ schema: schemaRule, examples: mapOf(exampleRule) })],
  },
})
const responseRule = object({ description: words, headers: mapOf(headerRule), content: contentRule })
const operationRule = object(
  { operationId: words, summary: words, responses: mapOf(responseRule, '^[2-5]\\d\\d$') },
  {
    security: listOf({ type: 'object' }),
    parameters: listOf(object({ name: words, in: { const: 'header' }, description: words, schema: schemaRule })),
    requestBody: object({ required: { const: true }, content: contentRule }),
  },
)
const rules = object({
  openapi: { const: '3.1.0' },
  info: object({ title: words, version: words, description: words }),
  externalDocs: object({ description: words, url: words }),
  servers: listOf(object({ url: words })),
  security: listOf(mapOf({ type: 'array' })),
  paths: mapOf(object({}, { get: operationRule, post: operationRule }), '^/'),
  components: object({
    securitySchemes: mapOf(object({ type: { const: 'apiKey' }, in: { const: 'header' }, name: words })),
    schemas: mapOf(schemaRule),
    responses: mapOf(responseRule),
    headers: mapOf(headerRule),
    examples: mapOf(exampleRule),
  }),
})

describe('the document', () => {
  test('has the parts that OpenAPI 3.1 wants, and no others', () => {
    const strict = new Ajv({ allErrors: true })
    expect([strict.validate(rules, JSON.parse(text, inPlace)), strict.errors]).toEqual([true, null])
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(operations.length)
  })

  test('has valid JSON schemas, without words that JSON Schema does not know', () => {
    const { schemas } = document.components
    const $defs = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'))
    const anyOf = Object.keys(schemas).map((name) => ({ $ref: `#/$defs/${name}` }))
    const strict = new Ajv({ formats: { double: true, 'date-time': true } })
    expect(() => strict.compile({ $defs, anyOf })).not.toThrow()
  })

  test('has each code of the guide, which links to it, and no other', async () => {
    const guide = await Bun.file('docs/devices.md').text()
    expect(guide).toContain(`](${openApiPath})`)
    const [, table = ''] = guide.split('## When it is refused')
    const codes = table
      .split('\n')
      .flatMap((line) => (/^\| [45]\d\d /.test(line) ? (line.match(/`[A-Z_]+`/g) ?? []) : []))
    const bodies: readonly Example[] = Object.values(document.components.examples)
    const documented = new Set(bodies.flatMap(({ value }) => Reflect.get(value, 'code') ?? []))
    expect([...documented].toSorted()).toEqual(codes.map((code) => code.slice(1, -1)).toSorted())
  })
})

describe('GET /openapi.json', () => {
  const look = async (init: RequestInit & { readonly publicUrl?: string } = {}) => {
    const service = await startService({ web: { publicUrl: init.publicUrl ?? null } })
    const response = await fetch(`${service.url}/openapi.json`, init)
    const body = await response.text()
    await service.stop()
    return { status: response.status, headers: response.headers, body }
  }

  test('needs no key, and caches ask whether it has changed', async () => {
    const { status, headers, body } = await look({ headers: { 'Accept-Encoding': 'identity' } })
    expect([status, body, headers.get('Content-Encoding')]).toEqual([200, text, null])
    expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8')
    expect(headers.get('Cache-Control')).toBe('no-cache')
    const again = await look({ headers: { 'If-None-Match': headers.get('ETag') ?? '' } })
    expect([again.status, again.body, again.headers.get('ETag')]).toEqual([304, '', headers.get('ETag')])
    expect((await look({ headers: { 'If-None-Match': 'W/"other"' } })).status).toBe(200)
  })

  test('is packed for a client that takes gzip', async () => {
    const { headers, body } = await look({ headers: { 'Accept-Encoding': 'gzip' } })
    expect([body, headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([text, 'gzip', 'Accept-Encoding'])
    expect(Number(headers.get('Content-Length'))).toBeLessThan(8_000)
  })

  test('answers HEAD without a body, and refuses other methods', async () => {
    const head = await look({ method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })
    expect([head.status, head.body, head.headers.get('Content-Length')]).toEqual([
      200,
      '',
      String(Buffer.byteLength(text)),
    ])
    const post = await look({ method: 'POST' })
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('names PUBLIC_URL as the address of the service', async () => {
    const { body } = await look({ publicUrl: 'https://cellar.example' })
    expect(JSON.parse(body).servers).toEqual([{ url: 'https://cellar.example' }])
  })
})

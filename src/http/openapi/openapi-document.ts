/**
 * The devices' interface, for their tools. Fields, statuses, headers and texts come from the code that answers, so this
 * document cannot differ from it.
 */
import { batchCheckPath, batchPath, ingestPath, readingCheckPath } from '../ingest/api-routes.ts'
import {
  acceptedAnswers,
  type Endpoint,
  type ExampleAnswer,
  exampleReadings,
  liveAnswers,
  readyAnswers,
  refusedAnswers,
} from './example-answers.ts'
import { contentEncoding, headerMeanings, idempotencyKey, schemas } from './openapi-schemas.ts'
import { exampleReading } from './refusal-examples.ts'

const description = `For programs that send readings of devices. After any 2xx, drop the readings that you sent. After 408, 409, 429, 500, 502, 503, 504 or no answer, send the same request again later, with the same Idempotency-Key. Every other answer is final.

The example of an answer can have \`x-request\`: how its request differs from the example of the operation. A request that is not valid HTTP gets an answer without a body. So does one that waits for a 100 Continue in vain (417).`

/** `url` is where devices reach the service, or `/`. */
export const openApiDocument = (url: string) => {
  const shared = new SharedParts()
  return {
    openapi: '3.1.0',
    info: { title: 'Cellarbook', version: 'v1', description },
    externalDocs: { description: 'The device guide', url: '/docs/devices' },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: {
      [ingestPath]: ingest(shared, { of: 'reading', isCheck: false }),
      [batchPath]: ingest(shared, { of: 'batch', isCheck: false }),
      [readingCheckPath]: ingest(shared, { of: 'reading', isCheck: true }),
      [batchCheckPath]: ingest(shared, { of: 'batch', isCheck: true }),
      '/livez': look(shared, 'isAlive', liveAnswers),
      '/readyz': look(shared, 'isReady', readyAnswers),
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas,
      ...shared.components,
    },
  }
}

const json = 'application/json'

const ingest = (shared: SharedParts, endpoint: Endpoint) => {
  const { of, isCheck } = endpoint
  const isBatch = of === 'batch'
  const content = {
    schema: schemaRef(isBatch ? 'Batch' : 'Reading'),
    example: isBatch ? { readings: exampleReadings } : exampleReading,
  }
  return {
    post: {
      operationId: `${isCheck ? 'check' : 'store'}${isBatch ? 'Batch' : 'Reading'}`,
      summary: `${isCheck ? 'Check' : 'Store'} ${isBatch ? 'many readings' : 'a reading'}`,
      parameters: isCheck ? [contentEncoding] : [contentEncoding, idempotencyKey],
      requestBody: { required: true, content: { [json]: content } },
      responses: shared.responses([...acceptedAnswers(endpoint), ...refusedAnswers(endpoint)]),
    },
  }
}

const look = (shared: SharedParts, operationId: string, answers: readonly ExampleAnswer[]) => ({
  get: { operationId, summary: 'Say yes or no', security: [], responses: shared.responses(answers) },
})

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Most answers of the endpoints are the same, so the document has each of them once. */
class SharedParts {
  readonly components: Record<'responses' | 'headers' | 'examples', Record<string, unknown>> = {
    responses: {},
    headers: {},
    examples: {},
  }
  readonly #texts = new Map<string, string>()

  responses(answers: readonly ExampleAnswer[]): object {
    const byStatus = Map.groupBy(answers, ({ status }) => status)
    return Object.fromEntries([...byStatus].map(([status, same]) => [status, this.#response(status, same)]))
  }

  #response(status: number, answers: readonly ExampleAnswer[]): object {
    const names = new Set(answers.map(({ schema }) => schema))
    const [first, ...others] = [...names].map(schemaRef)
    const examples = answers.map(({ name, body, request }) => {
      const value = { value: JSON.parse(body), 'x-request': request }
      return [name, this.#once('examples', name, value)]
    })
    return this.#once('responses', String(status), {
      description: answers.map(({ name }) => name).join(', '),
      headers: this.#headers(answers),
      content: {
        [json]: {
          schema: others.length === 0 ? first : { anyOf: [first, ...others] },
          examples: Object.fromEntries(examples),
        },
      },
    })
  }

  /** OpenAPI ignores `Content-Type` here, because it is the name of the content. */
  #headers(answers: readonly ExampleAnswer[]): object {
    const all = Object.assign({}, ...answers.map(({ headers }) => headers))
    const described = Object.entries(all).filter(([name]) => name !== 'Content-Type')
    return Object.fromEntries(
      described.map(([name, example]) => {
        const header = { description: headerMeanings[name], schema: { type: 'string' }, example }
        return [name, this.#once('headers', name, header)]
      }),
    )
  }

  /** Another part of the same name gets a number. */
  #once(section: keyof SharedParts['components'], name: string, part: object): { readonly $ref: string } {
    const text = JSON.stringify(part)
    let free = name
    for (let number = 2; (this.#texts.get(`${section}/${free}`) ?? text) !== text; number += 1) {
      free = `${name}-${number}`
    }
    this.#texts.set(`${section}/${free}`, text)
    this.components[section][free] = part
    return { $ref: `#/components/${section}/${free}` }
  }
}

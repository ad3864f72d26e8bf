import { expect } from 'bun:test'
import type { RecordedEvent } from '../../src/domain/events.ts'
import type { EventLog } from '../../src/log/event-log.ts'

/** The common form of a `Response` and of an answer of `rawConnect`, so one check serves both. */
export type Answer = { readonly status: number; readonly body: string; header(name: string): string | null }

export const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: await response.text(),
  header: (name) => response.headers.get(name),
})

/** The body of a check as the storing endpoint words it (docs/contract.md, "Check without storing"). */
export const asIfStored = ({ body }: Answer): string => body.replace(' would be stored', ' stored')

const expectGuarded = (answer: Answer): void => {
  expect(answer.header('X-Content-Type-Options')).toBe('nosniff')
  expect(answer.header('Cache-Control')).toBe('no-store')
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Checks the whole body (docs/contract.md, "One reading"). Returns its error text. */
export const expectRefusal = (answer: Answer, status: number, code: string): string => {
  const body: unknown = JSON.parse(answer.body)
  expect({ status: answer.status, body }).toEqual({
    status,
    body: { status: 'error', error: expect.any(String), code },
  })
  expect(answer.header('Content-Type')).toBe('application/json; charset=utf-8')
  expect(answer.header('X-Request-Id')).toMatch(uuid)
  expect(answer.header('X-Receipt')).toBeNull()
  expectGuarded(answer)
  return Reflect.get(Object(body), 'error')
}

/** Checks the answer byte for byte, because docs/contract.md promises these bytes (sections 5 and 7). */
export const expectUnauthorized = (answer: Answer, error: string): void => {
  expect(answer.status).toBe(401)
  expect(answer.body).toBe(`{"error":"${error}","status":401}`)
  expect(answer.header('WWW-Authenticate')).toBe('ApiKey realm="cellarbook"')
  expect(answer.header('Content-Type')).toBe('application/json; charset=utf-8')
  expect(answer.header('X-Request-Id')).toMatch(uuid)
  expect(answer.header('RateLimit')).toBeNull()
  expect(answer.header('RateLimit-Policy')).toBeNull()
  expect(answer.header('X-API-Key-Expires-At')).toBeNull()
  expectGuarded(answer)
}

export type BatchBody = {
  readonly status: string
  readonly accepted: number
  readonly rejected: number
  readonly message: string
  readonly timestamp: string
  readonly error?: string
  readonly code?: string
  readonly errors: readonly { readonly index: number; readonly code: string; readonly error: string }[]
}

/** Checks that the body has these fields and no others (docs/contract.md, "Many readings"). Returns the body. */
export const expectBatch = (answer: Answer, status: 200 | 207 | 400): BatchBody => {
  const body: BatchBody = JSON.parse(answer.body)
  expect({ status: answer.status, body }).toEqual({
    status,
    body: {
      status: status === 200 ? 'success' : status === 207 ? 'partial' : 'error',
      message: expect.stringMatching(/^[^{}]+\.$/),
      accepted: expect.any(Number),
      rejected: body.errors.length,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      errors: body.errors.map(() => ({
        index: expect.any(Number),
        code: expect.stringMatching(/^[A-Z_]+$/),
        error: expect.any(String),
      })),
      ...(status === 400 && { error: expect.any(String), code: 'BATCH_REJECTED' }),
    },
  })
  expect(body.rejected === 0).toBe(status === 200)
  expect(body.accepted === 0).toBe(status === 400)
  expect(answer.header('Content-Type')).toBe('application/json; charset=utf-8')
  expect(answer.header('X-Request-Id')).toMatch(uuid)
  if (status === 400) expect(answer.header('X-Receipt')).toBeNull()
  else expect(answer.header('X-Receipt')).toMatch(/^readings-\w{8}@\d+-\d+$/)
  expectGuarded(answer)
  return body
}

/** Checks that the body has these fields and no others (docs/contract.md, section 4.1). */
export const expectAccepted = (answer: Answer): void => {
  expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
    status: 200,
    body: {
      status: 'success',
      message: expect.any(String),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    },
  })
  expect(answer.header('Content-Type')).toBe('application/json; charset=utf-8')
  expect(answer.header('X-Request-Id')).toMatch(uuid)
  expectGuarded(answer)
}

/** Returns all accepted readings in the order of the log. It reads only one page, and fails if the log is longer. */
export const acceptedReadings = async (log: EventLog): Promise<readonly RecordedEvent<'ReadingAccepted'>[]> => {
  const events = await log.readAll({ limit: 1_000 })
  expect(events.length).toBeLessThan(1_000)
  return events.filter((event) => event.type === 'ReadingAccepted')
}

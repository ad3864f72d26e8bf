import { afterEach, expect } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import type { EventData, RecordedEvent } from '../../../../src/domain/events.ts'
import { exportsStream } from '../../../../src/domain/stream-names.ts'
import { exportRows, type RowsWanted } from '../../../../src/export/export-page.ts'
import { readsOf } from '../../../support/ask/reads-of.ts'
import { type RawConnection, rawConnect } from '../../../support/raw-http.ts'
import { type Service, validReading } from '../../../support/test-service.ts'
import { startWithOperators, type Visitor } from '../visitor.ts'

/** Starts services whose exports search without `ask.db`. After each test, runs `cleanUp` from its end to its beginning. */
export const exportTests = () => {
  const cleanUp: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of cleanUp.splice(0).toReversed()) await end()
  })
  const start = async (options: Parameters<typeof startWithOperators>[0] = {}): Promise<Service> => {
    const service = await startWithOperators({ isDerived: false, ...options })
    cleanUp.push(() => service.stop())
    return service
  }
  return { cleanUp, start }
}

export const fastLimit = { readings: 1_000_000, windowMs: 60_000 }

export const postReadings = async (service: Service, key: string, count: number): Promise<void> => {
  for (let from = 0; from < count; from += 1_000) {
    const readings = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => ({
      ...validReading,
      value: from + index,
    }))
    expect((await service.postBatch(readings, key)).status).toBe(200)
  }
}

export const allOf = async (service: Service, stream: string): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const page = await service.log.read(stream, { from: events.length, limit: 1_000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}

export const exportsOf = async (service: Service): Promise<readonly RecordedEvent<'LogExported'>[]> =>
  (await allOf(service, exportsStream)).flatMap((event) => (event.type === 'LogExported' ? [event] : []))

const formOf = async (person: Visitor, fields: Readonly<Record<string, string>>) => {
  const csrf = /name="_csrf" value="([^"]*)"/.exec((await person.get('/cellars')).body)?.[1] ?? ''
  return {
    headers: {
      Cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    },
    body: new URLSearchParams({ _csrf: csrf, format: 'ndjson', ...fields }).toString(),
  }
}

/** Sends the form and does not read the answer. */
export const download = async (service: Service, person: Visitor, fields: Readonly<Record<string, string>>) => {
  const leave = new AbortController()
  const answer = fetch(`${service.url}/exports`, {
    method: 'POST',
    ...(await formOf(person, fields)),
    signal: leave.signal,
  }).then((response) => response.text())
  // A test that expects a broken download looks at the promise later.
  answer.catch(() => {})
  return { answer, leave }
}

/** Gives the core questions that await `before` before each page of an export. `passedMs` can end each page early. */
export const pausing =
  (before: () => Promise<void>, passedMs = (): number => performance.now()) =>
  (core: Core): Core => {
    const ask = async (_name: string, wanted: RowsWanted) => {
      await before()
      const answer = await exportRows(readsOf({ log: core.log, ask: null, passedMs }), wanted)
      return { kind: 'answered', answer, asOf: null, isBehind: false }
    }
    return { ...core, questions: { ask, close: async () => {} } as Core['questions'] }
  }

/** Lets `pages` pages through, then holds all exports. */
export const holdAfter = (pages: number) => {
  let left = pages
  let heldCount = 0
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const wrapCore = pausing(async () => {
    if (left === 0) {
      heldCount += 1
      await held
    } else left -= 1
  })
  return { wrapCore, release: () => release(), held: () => heldCount }
}

export const lastEnd = async (service: Service): Promise<EventData<'LogExported'> | undefined> =>
  (await exportsOf(service)).at(-1)?.data

/** Sends the form over a connection that reads nothing. */
export const downloadUnread = async (
  service: Service,
  person: Visitor,
  fields: Readonly<Record<string, string>>,
): Promise<RawConnection> => {
  const { headers, body } = await formOf(person, fields)
  const lines = Object.entries({ Host: new URL(service.url).host, ...headers, 'Content-Length': body.length })
  const connection = await rawConnect(service.url)
  connection.pause()
  await connection.send(
    `POST /exports HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  return connection
}

/** The revisions of the events in an export as JSON lines. */
export const revisionsIn = (body: string): readonly number[] =>
  body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).revision]))

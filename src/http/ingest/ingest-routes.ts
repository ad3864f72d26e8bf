import { Elysia } from 'elysia'
import { refused } from '../../domain/refusal.ts'
import { type ApiDeps, type ApiRoute, answerApi } from './api.ts'
import { ingestBatch } from './ingest-batch.ts'
import { ingestReading } from './ingest-reading.ts'

export type RequestHandler = (request: Request) => Response | Promise<Response>

export const ingestPath = '/api/v1/ingest'
export const batchPath = '/api/v1/ingest/batch'

/** The routes that take readings, each a function of the request alone: the server may call them without Elysia on the way. */
export type IngestHandlers = { readonly reading: RequestHandler; readonly batch: RequestHandler }

export const ingestHandlers = (deps: ApiDeps): IngestHandlers => {
  const reading = ingestReading(deps)
  const batch = ingestBatch(deps)
  return {
    reading: (request) => answerApi(deps, request, reading),
    batch: (request) => answerApi(deps, request, batch),
  }
}

/**
 * Everything under `/api/`. Every route asks for the key by itself, in its handler: a guard that compared paths would let
 * through whatever the router takes for the same path and it does not. `parse: 'none'`: nobody reads a body before the key.
 */
export const apiRoutes = (deps: ApiDeps, ingest: IngestHandlers) => {
  const api = (route: ApiRoute) => {
    return ({ request }: { readonly request: Request }) => answerApi(deps, request, route)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post(ingestPath, ({ request }) => ingest.reading(request), unread)
    .all(ingestPath, api(onlyPost), unread)
    .post(batchPath, ({ request }) => ingest.batch(request), unread)
    .all(batchPath, api(onlyPost), unread)
    .all('/api', api(unknownPath), unread)
    .all('/api/*', api(unknownPath), unread)
}

const onlyPost: ApiRoute = () => refused({ kind: 'method_not_allowed', allow: ['POST'] })
const unknownPath: ApiRoute = () => refused({ kind: 'not_found' })

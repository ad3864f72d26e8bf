import { Elysia } from 'elysia'
import { NameCache } from '../../domain/reading/name-cache.ts'
import { refused } from '../../domain/refusal.ts'
import { isUnderApi, meantPath } from '../path-spelling.ts'
import { answerApiRequest } from './answer-api-request.ts'
import type { ApiDeps, ApiRoute } from './api-call.ts'
import { ingestBatch } from './ingest-batch.ts'
import { ingestReading } from './ingest-reading.ts'

export type RequestHandler = (request: Request) => Response | Promise<Response>

export const ingestPath = '/api/v1/ingest'
export const batchPath = '/api/v1/ingest/batch'
const readingCheckPath = '/api/v1/ingest/check'
const batchCheckPath = '/api/v1/ingest/batch/check'
const endpointPaths = [ingestPath, batchPath, readingCheckPath, batchCheckPath]

/** The server calls `reading` and `batch` without Elysia, which is faster (`serve.ts`). The two checks go through Elysia. */
export type IngestHandlers = Readonly<Record<'reading' | 'batch' | 'readingCheck' | 'batchCheck', RequestHandler>>

export const ingestHandlers = (deps: ApiDeps): IngestHandlers => {
  const names = new NameCache()
  const reading = ingestReading(deps, names)
  const batch = ingestBatch(deps, names)
  return {
    reading: (request) => answerApiRequest(deps, request, reading.store),
    batch: (request) => answerApiRequest(deps, request, batch.store),
    readingCheck: (request) => answerApiRequest(deps, request, reading.check),
    batchCheck: (request) => answerApiRequest(deps, request, batch.check),
  }
}

/**
 * Each handler checks the API key itself. A check in front of the router would compare paths, and could miss a path that the
 * router accepts. With `parse: 'none'`, Elysia does not read the body, so the key is checked before the body is read.
 */
export const apiRoutes = (deps: ApiDeps, ingest: IngestHandlers) => {
  const api = (route: ApiRoute) => {
    return ({ request }: { readonly request: Request }) => answerApiRequest(deps, request, route)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post(ingestPath, ({ request }) => ingest.reading(request), unread)
    .all(ingestPath, api(onlyPost), unread)
    .post(batchPath, ({ request }) => ingest.batch(request), unread)
    .all(batchPath, api(onlyPost), unread)
    .post(readingCheckPath, ({ request }) => ingest.readingCheck(request), unread)
    .all(readingCheckPath, api(onlyPost), unread)
    .post(batchCheckPath, ({ request }) => ingest.batchCheck(request), unread)
    .all(batchCheckPath, api(onlyPost), unread)
    .all('/api', api(unknownPath), unread)
    .all('/api/*', api(unknownPath), unread)
}

const onlyPost: ApiRoute = () => refused({ kind: 'method_not_allowed', allow: ['POST'] })
const unknownPath: ApiRoute = ({ request }) =>
  refused({ kind: 'not_found', meant: meantPath(request.url, endpointPaths) })

/**
 * Answers a path such as `//api/v1/ingest` or `/API/v1/ingest`. The router does not find it under `/api`, but a device sent it,
 * and a device cannot read a page. Returns `null` for all other paths.
 */
export const answerMisspeltPath =
  (deps: ApiDeps) =>
  (request: Request): Promise<Response> | null =>
    isUnderApi(request.url) ? answerApiRequest(deps, request, unknownPath) : null

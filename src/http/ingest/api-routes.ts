import { Elysia } from 'elysia'
import { NameCache } from '../../domain/reading/name-cache.ts'
import { refused } from '../../domain/refusal.ts'
import { isUnderApi, meantPath } from '../path-spelling.ts'
import { answerApiRequest } from './answer-api-request.ts'
import type { ApiDeps, ApiRoute } from './api-call.ts'
import { ingestBatch } from './ingest-batch.ts'
import { ingestReading } from './ingest-reading.ts'

const ingestPath = '/api/v1/ingest'
export const batchPath = '/api/v1/ingest/batch'
const readingCheckPath = '/api/v1/ingest/check'
const batchCheckPath = '/api/v1/ingest/batch/check'
export const endpointPaths: readonly string[] = [ingestPath, batchPath, readingCheckPath, batchCheckPath]

/**
 * Each handler checks the API key itself, before the body is read: hence `parse: 'none'`
 * (docs/decisions/018-authentication-and-cost-budgets.md).
 */
export const apiRoutes = (deps: ApiDeps) => {
  const names = new NameCache()
  const reading = ingestReading(deps, names)
  const batch = ingestBatch(deps, names)
  const api = (route: ApiRoute) => {
    return ({ request }: { readonly request: Request }) => answerApiRequest(deps, request, route)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post(ingestPath, api(reading.store), unread)
    .post(batchPath, api(batch.store), unread)
    .post(readingCheckPath, api(reading.check), unread)
    .post(batchCheckPath, api(batch.check), unread)
    .all('/api', api(unknownPath), unread)
    .all(
      '/api/*',
      ({ request, path }) => answerApiRequest(deps, request, endpointPaths.includes(path) ? onlyPost : unknownPath),
      unread,
    )
}

const onlyPost: ApiRoute = () => refused({ kind: 'method_not_allowed', allow: ['POST'] })
const unknownPath: ApiRoute = ({ request }) =>
  refused({ kind: 'not_found', meant: meantPath(request.url, endpointPaths) })

/**
 * The router does not find `//api/v1/ingest` or `/API/v1/ingest` under `/api`. Without this, a device would get a page for
 * people. `null` for all other paths.
 */
export const answerMisspeltPath =
  (deps: ApiDeps) =>
  (request: Request): Promise<Response> | null =>
    isUnderApi(request.url) ? answerApiRequest(deps, request, unknownPath) : null

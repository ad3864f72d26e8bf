import { Elysia } from 'elysia'
import { NameCache } from '../../domain/reading/name-cache.ts'
import { refused } from '../../domain/refusal.ts'
import { isUnderApi, meantPath } from '../path-spelling.ts'
import { answerApiRequest } from './answer-api-request.ts'
import type { ApiDeps, ApiRoute } from './api-call.ts'
import { ingestBatch } from './ingest-batch.ts'
import { ingestReading } from './ingest-reading.ts'

export const ingestPath = '/api/v1/ingest'
export const batchPath = '/api/v1/ingest/batch'
export const readingCheckPath = '/api/v1/ingest/check'
export const batchCheckPath = '/api/v1/ingest/batch/check'
const storingPaths: ReadonlySet<string> = new Set([ingestPath, batchPath])
export const endpointPaths: readonly string[] = [ingestPath, batchPath, readingCheckPath, batchCheckPath]

/**
 * Each handler checks the API key itself, before the body is read: hence `parse: 'none'`
 * (docs/decisions/018-authentication-and-cost-budgets.md).
 */
export const apiRoutes = (deps: ApiDeps) => {
  const names = new NameCache()
  const reading = ingestReading(deps, names)
  const batch = ingestBatch(deps, names)
  const api = (path: string, route: ApiRoute) => {
    const asked = { route, isStoring: storingPaths.has(path), codes: deps.requests.know(path) }
    return ({ request }: { readonly request: Request }) => answerApiRequest(deps, request, asked)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post(ingestPath, api(ingestPath, reading.store), unread)
    .post(batchPath, api(batchPath, batch.store), unread)
    .post(readingCheckPath, api(readingCheckPath, reading.check), unread)
    .post(batchCheckPath, api(batchCheckPath, batch.check), unread)
    .all('/api', api('/api', unknownPath), unread)
    .all(
      '/api/*',
      ({ request, path }) => {
        const isKnown = endpointPaths.includes(path)
        const codes = deps.requests.know(isKnown ? path : '/api/*')
        return answerApiRequest(deps, request, { route: isKnown ? onlyPost : unknownPath, isStoring: false, codes })
      },
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
    isUnderApi(request.url)
      ? answerApiRequest(deps, request, { route: unknownPath, isStoring: false, codes: deps.requests.know('/api/*') })
      : null

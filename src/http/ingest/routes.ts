import { Elysia } from 'elysia'
import { refused } from '../../domain/refusal.ts'
import { type ApiDeps, type ApiRoute, answerApi } from './api.ts'
import { ingestReading } from './ingest-reading.ts'

export type RequestHandler = (request: Request) => Response | Promise<Response>

export const ingestPath = '/api/v1/ingest'

/** `POST /api/v1/ingest` as a function of the request alone: the server may call it without Elysia on the way. */
export const ingestHandler = (deps: ApiDeps): RequestHandler => {
  const route = ingestReading(deps.core, deps.refusalWindows)
  return (request) => answerApi(deps, request, route)
}

/**
 * Everything under `/api/`. Every route asks for the key by itself, in its handler: a guard that compared paths would let
 * through whatever the router takes for the same path and it does not. `parse: 'none'`: nobody reads a body before the key.
 */
export const apiRoutes = (deps: ApiDeps, ingest: RequestHandler) => {
  const api = (route: ApiRoute) => {
    return ({ request }: { readonly request: Request }) => answerApi(deps, request, route)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post(ingestPath, ({ request }) => ingest(request), unread)
    .all(ingestPath, api(onlyPost), unread)
    .all('/api', api(unknownPath), unread)
    .all('/api/*', api(unknownPath), unread)
}

const onlyPost: ApiRoute = () => refused({ kind: 'method_not_allowed', allow: ['POST'] })
const unknownPath: ApiRoute = () => refused({ kind: 'not_found' })

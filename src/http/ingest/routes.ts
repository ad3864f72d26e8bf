import { Elysia } from 'elysia'
import { refused } from '../../domain/refusal.ts'
import { type ApiDeps, type ApiRoute, answerApi } from './api.ts'
import { ingestReading } from './ingest-reading.ts'

/**
 * Everything under `/api/`. Every route asks for the key by itself, in its handler: a guard that compared paths would let
 * through whatever the router takes for the same path and it does not. `parse: 'none'`: nobody reads a body before the key.
 */
export const apiRoutes = (deps: ApiDeps) => {
  const api = (route: ApiRoute) => {
    return ({ request }: { readonly request: Request }): Promise<Response> => answerApi(deps, request, route)
  }
  const unread = { parse: 'none' } as const
  return new Elysia({ name: 'api' })
    .post('/api/v1/ingest', api(ingestReading(deps.core, deps.refusalWindows)), unread)
    .all('/api/v1/ingest', api(onlyPost), unread)
    .all('/api', api(unknownPath), unread)
    .all('/api/*', api(unknownPath), unread)
}

const onlyPost: ApiRoute = () => refused({ kind: 'method_not_allowed', allow: ['POST'] })
const unknownPath: ApiRoute = () => refused({ kind: 'not_found' })

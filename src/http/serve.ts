import type { AnyElysia } from 'elysia'
import { hasTwoHosts, withPlainUrl } from './host-header.ts'
import { problemOf, problemResponse } from './problem.ts'
import { serverOptions, tlsOptions } from './server-options.ts'
import type { UnfinishedBodies } from './unfinished-bodies.ts'

export type Address = {
  readonly hostname: string
  /** 0: any free port. */
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export type App = {
  readonly bodies: UnfinishedBodies
  readonly routes: AnyElysia
  /** Routes that Bun calls without Elysia: a reading costs a twentieth less. */
  readonly straight: Readonly<Record<string, { readonly POST: (request: Request) => Response | Promise<Response> }>>
}

/**
 * Elysia's `app.listen` would hand `.all` routes to Bun's router without context, and leave a listener on the process.
 * @throws if the address is not available; the error's `code` says why (`EADDRINUSE`).
 */
export const serve = ({ routes, straight, bodies }: App, { tls, ...address }: Address): Bun.Server<unknown> => {
  const handlers = handlersOf((request) => routes.fetch(request))
  const server = Bun.serve({
    ...serverOptions,
    ...address,
    ...(tls !== undefined && { tls: { ...tls, ...tlsOptions } }),
    ...handlers,
    routes: { ...handlers.routes, ...straight },
  })
  routes.server = server
  bodies.servedBy(server)
  return server
}

/** From now on every answer has `Connection: close`. */
export const askToCloseConnections = (server: Bun.Server<unknown>, { routes }: App): void => {
  const answer = async (request: Request): Promise<Response> => {
    const response = await routes.fetch(request)
    response.headers.set('Connection', 'close')
    return response
  }
  server.reload({ ...serverOptions, ...handlersOf(answer) })
}

type Handler = (request: Request) => Response | Promise<Response>

/**
 * Bun closes the connection of an unknown method, unless a route is `false`. Then such a request reaches `fetch` as a GET. So
 * every real GET has a route here. A path that begins with `//` also reaches `fetch`, but no page has such a path.
 */
const handlersOf = (answer: Handler) => {
  const guarded: Handler = (request) =>
    hasTwoHosts(request.headers) ? problemResponse(twoHosts) : answer(withPlainUrl(request))
  const look = { GET: guarded }
  return {
    routes: { '/*': toFetch, '/': look, '/:first': look, '/:first/*': look },
    fetch: (request: Request) => guarded(request.method === 'GET' ? withUnknownMethod(request) : request),
    error: answerToBug,
  }
}

const toFetch: false = false

/** No route takes this method. */
const withUnknownMethod = (request: Request): Request => Object.defineProperty(request, 'method', { value: 'UNKNOWN' })

const twoHosts = problemOf({ kind: 'ambiguous_host' })

const answerToBug = (): Response => problemResponse(problemOf({ kind: 'internal_error' }))

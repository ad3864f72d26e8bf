import type { AnyElysia } from 'elysia'
import { hasTwoHosts } from './host-header.ts'
import { problemOf, problemResponse } from './problem.ts'
import { serverOptions, tlsOptions } from './server-options.ts'
import type { UnfinishedBodies } from './unfinished-bodies.ts'

export type Address = {
  readonly hostname: string
  /** 0: any that is free. */
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export type App = {
  /** What its routes read bodies with. */
  readonly bodies: UnfinishedBodies
  /** Every route there is. */
  readonly routes: AnyElysia
  /**
   * Of those, the ones that the server calls by itself, without Elysia on the way: by exact path and method. All others,
   * and the same path by another method, go through `routes`. It saves a twentieth of what a reading costs.
   */
  readonly straight: Readonly<Record<string, { readonly POST: (request: Request) => Response | Promise<Response> }>>
}

/**
 * Listens. Not by `app.listen`: that hands `.all` routes to Bun's own router, which calls them without their context, and
 * leaves a listener on the process for every server.
 * @throws when the address can't be had; the error's `code` says why (`EADDRINUSE`).
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

/**
 * From now on every answer asks its client to let go of the connection. The handler is exchanged for that, so that it
 * costs nothing before.
 */
export const letGoOfConnections = (server: Bun.Server<unknown>, { routes }: App): void => {
  const answer = async (request: Request): Promise<Response> => {
    const response = await routes.fetch(request)
    response.headers.set('Connection', 'close')
    return response
  }
  server.reload({ ...serverOptions, ...handlersOf(answer) })
}

type Handler = (request: Request) => Response | Promise<Response>

/**
 * Bun knows about 35 methods. For any other it closes the connection without an answer, unless a route is `false`. With such a
 * route, the request reaches `fetch` and claims to be a GET. So every real GET has a route here, and a "GET" in `fetch` has an
 * unknown method. A path that begins with `//` also reaches `fetch`, and has no page in any case.
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

/** No route takes this method, so each gives its usual answer to a wrong method. */
const withUnknownMethod = (request: Request): Request => Object.defineProperty(request, 'method', { value: 'UNKNOWN' })

const twoHosts = problemOf({ kind: 'ambiguous_host' })

const answerToBug = (): Response => problemResponse(problemOf({ kind: 'internal_error' }))

/**
 * Elysia takes the path of a request to begin at the first `/` from the twelfth character of its URL. With a short host and
 * no port (`http://nas/api/…`) that is the second one, and the device would get a 404; a request without a host (HTTP/1.0)
 * has no URL but its path. Here both get a URL that is read right. The `Host` header stays as it was sent.
 * A CONNECT names a host and no path, and gets the path `/`.
 */
const withPlainUrl = (request: Request): Request => {
  const { url } = request
  const hasHost = url.charCodeAt(0) !== slash
  if (hasHost && url.indexOf('/', pathFromMin) >= pathFromElysia) return request
  return Object.defineProperty(request, 'url', { value: plainUrl(url, hasHost) })
}

const plainUrl = (url: string, hasHost: boolean): string => {
  if (!hasHost) return `http://localhost${url}`
  return /^https?:\/\//.test(url) ? withPort(url) : 'http://localhost/'
}

const slash = 47
/** Past the `//` of either scheme. */
const pathFromMin = 8
const pathFromElysia = 11

const withPort = (url: string): string => {
  const pathFrom = url.indexOf('/', pathFromMin)
  const port = url.startsWith('https:') ? ':443' : ':80'
  return `${url.slice(0, pathFrom)}${port}${url.slice(pathFrom)}`
}

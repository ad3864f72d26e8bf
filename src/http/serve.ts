import type { AnyElysia } from 'elysia'
import { hasTwoHosts, withPlainUrl } from './host-header.ts'
import { problemOf, problemResponse } from './problem.ts'
import { serverOptions, tlsOptions } from './server-options.ts'
import type { UnfinishedBodies } from './unfinished-bodies.ts'

export type Address = {
  readonly hostname: string
  /** 0 means any free port. */
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export type App = {
  readonly bodies: UnfinishedBodies
  readonly routes: AnyElysia
  /** Bun calls these routes without Elysia, which saves a twentieth of a reading's processor time. */
  readonly straight: Readonly<Record<string, { readonly POST: (request: Request) => Response | Promise<Response> }>>
}

/**
 * Starts the server without Elysia's `app.listen`, which breaks `.all` routes: Bun's router calls them without their context.
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

/** Adds `Connection: close` to every answer from now on, so that clients leave before the server stops. */
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
 * Answers requests with an unknown method (`FOO`). Bun closes their connection, unless a route is `false`: then `fetch` gets them
 * as a GET. Real GETs have routes here, so a GET in `fetch` had an unknown method. Only a GET of a path that begins with `//`
 * also comes there, and no page has such a path.
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

/** Sets a method that no route accepts, so that the answer is a 404 or a 405. */
const withUnknownMethod = (request: Request): Request => Object.defineProperty(request, 'method', { value: 'UNKNOWN' })

const twoHosts = problemOf({ kind: 'ambiguous_host' })

const answerToBug = (): Response => problemResponse(problemOf({ kind: 'internal_error' }))

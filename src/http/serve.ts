import type { AnyElysia } from 'elysia'
import type { Downloads } from './dashboard/exports/downloads.ts'
import { closeIfBodyIsAwaited, expectation } from './expect-header.ts'
import { withPlainUrl } from './host-header.ts'
import { problemOf, problemResponse } from './problem.ts'
import { serverOptions, tlsOptions } from './server-options.ts'
import type { UnfinishedBodies } from './unfinished-bodies.ts'

export type Address = {
  readonly hostname: string
  /** 0: the operating system chooses a free one. */
  readonly port: number
}

export type ServerSettings = Address & {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Another server of this process listens there, too. */
  readonly hasSharedPort?: boolean
}

export type App = {
  readonly bodies: UnfinishedBodies
  /** Close these first: the server's stop waits for open downloads. */
  readonly downloads: Pick<Downloads, 'servedBy' | 'count' | 'close'>
  readonly routes: AnyElysia
}

/**
 * Not Elysia's `app.listen`, which gives routes to Bun's own router: Bun would call a route of `.all` without Elysia's
 * context. @throws if the address is not available; the error's `code` says why, for instance `EADDRINUSE`.
 */
export const serve = (app: App, settings: ServerSettings): Bun.Server<unknown> => {
  const server = openServer(app, settings)
  useServer(app, server)
  return server
}

export const openServer = (
  { routes }: App,
  { tls, hasSharedPort = serverOptions.reusePort, ...address }: ServerSettings,
): Bun.Server<unknown> =>
  Bun.serve({
    ...serverOptions,
    ...address,
    reusePort: hasSharedPort,
    ...(tls !== undefined && { tls: { ...tls, ...tlsOptions } }),
    ...handlersOf((request) => routes.fetch(request)),
  })

/** For addresses and timers of requests. Bun answers for those of other servers, too. */
export const useServer = ({ routes, bodies, downloads }: App, server: Bun.Server<unknown>): void => {
  routes.server = server
  bodies.servedBy(server)
  downloads.servedBy(server)
}

/** From then on, each answer asks the client to close its connection, so that the server can stop soon. */
export const askToCloseConnections = (server: Bun.Server<unknown>, { routes }: App): void => {
  const answer = async (request: Request): Promise<Response> => {
    const response = await routes.fetch(request)
    response.headers.set('Connection', 'close')
    response.headers.delete('Keep-Alive')
    return response
  }
  server.reload({ ...serverOptions, ...handlersOf(answer) })
}

type Handler = (request: Request) => Response | Promise<Response>

/**
 * Sends unknown methods, such as `FOO`, to `fetch` (docs/decisions/026-what-holds-for-every-answer.md). A GET that reaches
 * `fetch` has an unknown method, or its path begins with `//`, which no page has.
 */
const handlersOf = (answer: Handler) => {
  const guarded: Handler = (request) => {
    const response = answer(withPlainUrl(request))
    // Awaiting every response would take a turn of the microtask queue for each reading.
    return expectation(request.headers) === 'met' ? response : closeIfBodyIsAwaited(request, response)
  }
  const look = { GET: guarded }
  return {
    routes: { '/*': toFetch, '/': look, '/:first': look, '/:first/*': look },
    fetch: (request: Request) => guarded(request.method === 'GET' ? withUnknownMethod(request) : request),
    error: answerToBug,
  }
}

const toFetch: false = false

/** A method that no route accepts, so that the answer is a 404 or a 405 and not a page. */
const withUnknownMethod = (request: Request): Request => Object.defineProperty(request, 'method', { value: 'UNKNOWN' })

const answerToBug = (): Response => problemResponse(problemOf({ kind: 'internal_error' }))

import { problemOf, problemResponse } from '../problem.ts'
import { onlyLook } from './ops-routes.ts'

export type Metrics = { readonly contentType: string; print(): Promise<string> }

/** A socket of its own, so that no device reaches it. @throws if the address is not available */
export const serveMetrics = (
  { contentType, print }: Metrics,
  address: { readonly hostname: string; readonly port: number },
): Bun.Server<unknown> =>
  Bun.serve({
    ...address,
    reusePort: false,
    development: false,
    routes: {
      '/metrics': async ({ method }) =>
        method === 'GET' || method === 'HEAD'
          ? new Response(await print(), { headers: { 'Content-Type': contentType } })
          : onlyLook(),
    },
    fetch: () => problemResponse(problemOf({ kind: 'not_found', meant: '/metrics' })),
  })

import { problemOf, problemResponse } from '../problem.ts'

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
      '/metrics': { GET: async () => new Response(await print(), { headers: { 'Content-Type': contentType } }) },
    },
    fetch: () => problemResponse(problemOf({ kind: 'not_found', meant: null })),
  })

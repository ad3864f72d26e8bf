import { Elysia } from 'elysia'
import type { Core } from './actors/core-interface.ts'
import { thrownError } from './domain/error-message.ts'
import { cameFrom } from './http/client-address.ts'
import { type DashboardParts, dashboardRoutes } from './http/dashboard/dashboard-routes.tsx'
import type { WebConfig } from './http/dashboard/door/origin.ts'
import type { Traces } from './http/dashboard/door/refusal-traces.ts'
import { Downloads, type DownloadTiming } from './http/dashboard/exports/downloads.ts'
import type { LivePush } from './http/dashboard/live/live-push.ts'
import { type IngestWork, noChecks, noWork } from './http/ingest/api-call.ts'
import { answerMisspeltPath, apiRoutes } from './http/ingest/api-routes.ts'
import { CostBudgets } from './http/ingest/cost-budgets.ts'
import { LastRefusals } from './http/ingest/last-refusals.ts'
import type { RefusalLines } from './http/ingest/refusal-lines.ts'
import { openApiRoutes } from './http/openapi/openapi-routes.ts'
import { opsRoutes } from './http/ops/ops-routes.ts'
import { problemOf, problemResponse } from './http/problem.ts'
import { RequestFigures } from './http/request-figures.ts'
import type { RequestLines } from './http/request-lines.ts'
import type { App } from './http/serve.ts'
import { traceContextOf } from './http/trace-context.ts'
import { UnfinishedBodies } from './http/unfinished-bodies.ts'
import type { Schedule } from './schedule.ts'

export type AppDeps = {
  readonly core: Core
  readonly lines: RequestLines
  /** For readings of every kind, and not stopping. `/readyz` gives this answer. */
  readonly isReady: () => boolean
  readonly reasons: DashboardParts['reasons']
  readonly facts: DashboardParts['facts']
  readonly settings: DashboardParts['settings']
  readonly web: WebConfig
  /** Close it before the server, which waits for open live pages. */
  readonly live: LivePush
  /** Close both after the last answer, so that their log lines count every refusal. */
  readonly refusalLines: RefusalLines
  readonly traces: Traces
  /** For tests: the work that each request causes. */
  readonly work?: IngestWork
  readonly bodySchedule?: Schedule
  /** Default: rests between pages, and system timers. */
  readonly exportTiming?: DownloadTiming
}

/**
 * Elysia applies the error hook only to routes that are added after it. The dashboard comes last, because it answers all
 * other paths.
 */
export const createApp = (deps: AppDeps): App & { readonly requests: RequestFigures } => {
  const { core, lines, isReady, reasons, web, live, refusalLines, traces, work = noWork(), bodySchedule } = deps
  const { exportTiming, facts, settings } = deps
  const lastRefusals = new LastRefusals()
  const lastChecks = noChecks()
  const addressOf = (request: Request): string =>
    cameFrom(request.headers, routes.server?.requestIP(request)?.address ?? null, web.trustedProxies).address
  const bodies = new UnfinishedBodies(bodySchedule)
  const downloads = new Downloads(core, lines, exportTiming)
  const costBudgets = new CostBudgets()
  const requests = new RequestFigures()
  const api = { core, lastRefusals, lastChecks, costBudgets, work, lines, refusalLines, addressOf, bodies, requests }
  const devices = apiRoutes(api)
  const dashboard = dashboardRoutes(
    { core, lastRefusals, lastChecks, lines, traces, reasons, facts, settings, web, live, downloads, bodies, requests },
    answerMisspeltPath(api),
  )
  for (const { path } of [...devices.routes, ...dashboard.routes]) requests.know(path)
  const routes = new Elysia({ strictPath: true })
    .onError(({ error, request }) => {
      lines.error('request failed', { ...traceContextOf(request.headers), error: thrownError(error) })
      return problemResponse(problemOf({ kind: 'internal_error' }))
    })
    .use(opsRoutes(isReady))
    .use(openApiRoutes(web.publicUrl))
    .use(devices)
    .use(dashboard)
  return { routes, bodies, downloads, requests }
}

/**
 * Puts together the routes of pages, forms, live streams and assets. `door/door.tsx` checks each request and reads its form.
 */
import { Elysia } from 'elysia'
import { pageTurnBounds } from '../../limits.ts'
import { loadAssets } from './assets.ts'
import { answerDashboard, type RoutedRequest } from './door/door.tsx'
import { OperatorTurns } from './door/operator-turns.ts'
import { SignInThrottle } from './door/sign-in-throttle.ts'
import { liveRoutes } from './live/live-routes.tsx'
import { accountRoutes } from './pages/account-routes.tsx'
import { cellarRoutes } from './pages/cellar-routes.tsx'
import { cellarThenRoutes } from './pages/cellar-then-routes.tsx'
import { exportRoutes } from './pages/export-routes.tsx'
import { guideRoutes } from './pages/guide-routes.tsx'
import { keyListRoutes } from './pages/key-list-routes.tsx'
import { keyRoutes } from './pages/key-routes.tsx'
import { linkRoutes } from './pages/link-routes.tsx'
import { logRoutes } from './pages/log-routes.tsx'
import { operatorRoutes } from './pages/operator-routes.tsx'
import { rotateRoutes } from './pages/rotate-routes.tsx'
import { settingsRoutes } from './pages/settings-routes.tsx'
import { signInRoutes } from './pages/sign-in-routes.tsx'
import { RecentReadings } from './show/listed-readings.ts'
import type { DashboardDeps, Route } from './visit.ts'

export type DashboardParts = Pick<
  DashboardDeps,
  | 'core'
  | 'lastRefusals'
  | 'lastChecks'
  | 'lines'
  | 'traces'
  | 'reasons'
  | 'logCheck'
  | 'web'
  | 'live'
  | 'downloads'
  | 'bodies'
>

/** Returns every route of the dashboard except `anyOtherPath`, which answers all unknown paths. */
export const dashboardTable = (
  parts: DashboardParts,
): { readonly deps: DashboardDeps; readonly routes: readonly Route[] } => {
  const assets = loadAssets()
  const deps: DashboardDeps = {
    ...parts,
    assets: assets.urls,
    recentReadings: new RecentReadings(),
    throttle: new SignInThrottle(),
    turns: new OperatorTurns(pageTurnBounds),
  }
  const routes = [
    ...cellarRoutes(deps),
    ...settingsRoutes(deps),
    ...cellarThenRoutes(deps),
    ...keyListRoutes(deps),
    ...keyRoutes(deps),
    ...rotateRoutes(deps),
    ...logRoutes(deps),
    ...accountRoutes(deps),
    ...operatorRoutes(deps),
    ...exportRoutes(deps),
    ...signInRoutes(deps),
    ...linkRoutes(deps),
    ...guideRoutes(),
    ...liveRoutes(deps),
    ...assets.routes,
  ]
  return { deps, routes }
}

/** Matches every path that has no page. `door.tsx` answers such a path with 404. */
const anyOtherPath: Route = { path: '/*' }

type Context = {
  readonly request: Request
  readonly params: RoutedRequest['params']
  readonly server: Bun.Server<unknown> | null
}

/** `notForPages` is asked first about each path that has no page. It returns `null` if the page for unknown paths is right. */
export const dashboardRoutes = (parts: DashboardParts, notForPages: (request: Request) => Promise<Response> | null) => {
  const { deps, routes } = dashboardTable(parts)
  const app = new Elysia({ name: 'dashboard', strictPath: true })
  const answer = (route: Route, { request, params, server }: Context): Promise<Response> =>
    answerDashboard(deps, route, { request, params, peerAddress: server?.requestIP(request)?.address ?? null })
  const unread = { parse: 'none' } as const
  for (const route of routes) app.all(route.path, (context) => answer(route, context), unread)
  app.all(anyOtherPath.path, (context) => notForPages(context.request) ?? answer(anyOtherPath, context), unread)
  return app
}

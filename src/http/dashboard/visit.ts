import type { SettingView } from '../../../views/health/health-types.ts'
import { nameOfSegment } from '../../../views/paths.ts'
import type { AssetUrls, HealthReason, Shell } from '../../../views/types.ts'
import type { Asker, Core, Session } from '../../actors/core-interface.ts'
import type { CellarState } from '../../domain/cellar.ts'
import type { KeyState } from '../../domain/key.ts'
import type { FactSources } from '../../facts/declare-fact.ts'
import type { LastChecks } from '../ingest/api-call.ts'
import type { LastRefusals } from '../ingest/last-refusals.ts'
import type { RequestFigures } from '../request-figures.ts'
import type { RequestLines } from '../request-lines.ts'
import { traceContextOf } from '../trace-context.ts'
import type { UnfinishedBodies } from '../unfinished-bodies.ts'
import type { OperatorTurns } from './door/operator-turns.ts'
import type { Origin, WebConfig } from './door/origin.ts'
import type { RefusedVisitor, Traces } from './door/refusal-traces.ts'
import type { SignInThrottle } from './door/sign-in-throttle.ts'
import type { Downloads } from './exports/downloads.ts'
import type { ChangeRuns } from './forms/change-runs.ts'
import type { FormFields } from './forms/read-form.ts'
import type { LivePush } from './live/live-push.ts'
import type { NoticeName } from './notice.ts'
import type { RecentReadings } from './show/listed-readings.ts'

export type DashboardDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly lastChecks: LastChecks
  readonly lines: RequestLines
  readonly reasons: () => readonly HealthReason[]
  readonly facts: () => FactSources
  readonly settings: readonly SettingView[]
  readonly web: WebConfig
  readonly live: LivePush
  readonly downloads: Downloads
  readonly changes: ChangeRuns
  readonly recentReadings: RecentReadings
  readonly turns: OperatorTurns
  readonly assets: AssetUrls
  readonly throttle: SignInThrottle
  readonly traces: Traces
  readonly bodies: UnfinishedBodies
  readonly requests: RequestFigures
}

/** `door.tsx` has checked it before a page gets it. */
export type Visit = {
  readonly request: Request
  readonly requestId: string
  readonly nowMs: number
  readonly origin: Origin
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string>>
  readonly form: FormFields
  readonly session: OpenSession | null
  readonly shell: Shell
  readonly notice: NoticeName | null
  /** Elysia sets this status when it sends the answer: until then, it says 200. */
  readonly show: (page: JSX.Element, status: number) => Promise<Response>
  /** A new `visitor` cookie, if the browser has neither this cookie nor a session. */
  readonly cookies: readonly string[]
}

export type OpenSession = Session & { readonly secret: string }
export type SignedInVisit = Visit & { readonly session: OpenSession }

export const askerOf = ({ session, requestId }: SignedInVisit): Asker => {
  const { email, id, linkMadeBy } = session
  return { by: { kind: 'operator', email, session: { id, linkMadeBy } }, requestId }
}

export const cellarInPath = ({ core }: DashboardDeps, { params }: Visit): CellarState | null => {
  const segment = params['cellar']
  return segment === undefined ? null : core.projections.cellars.get(nameOfSegment(segment))
}

export const keyInPath = ({ core }: DashboardDeps, { params }: Visit): KeyState | null => {
  const keyId = params['keyId']
  return keyId === undefined ? null : core.projections.keys.get(keyId)
}

export const refusedVisitor = ({ origin, request, requestId }: Visit, email: string | null): RefusedVisitor => ({
  email,
  address: origin.clientAddress,
  requestId,
  ...traceContextOf(request.headers),
})

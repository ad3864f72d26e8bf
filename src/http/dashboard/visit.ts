import type { AssetUrls, HealthReason, Shell } from '../../../views/types.ts'
import type { Asker, Core, Session } from '../../actors/core.ts'
import type { BodiesInFlight } from '../bodies-in-flight.ts'
import type { LastRefusals } from '../ingest/last-refusals.ts'
import type { RequestLines } from '../request-lines.ts'
import type { Origin, WebConfig } from './door/origin.ts'
import type { RefusedVisitor, Traces } from './door/refusal-traces.ts'
import type { SignInThrottle } from './door/sign-in-throttle.ts'
import type { FormFields } from './forms/read-form.ts'
import type { LivePages } from './live/live-pages.ts'
import type { NoticeName } from './notice.ts'

export type DashboardDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly lines: RequestLines
  readonly reasons: () => readonly HealthReason[]
  readonly web: WebConfig
  readonly live: LivePages
  readonly assets: AssetUrls
  readonly throttle: SignInThrottle
  readonly traces: Traces
  readonly bodies: BodiesInFlight
}

/** A request that has come through the door (`door.tsx`): whatever its route asks for has been checked. */
export type Visit = {
  readonly request: Request
  readonly requestId: string
  readonly nowMs: number
  readonly origin: Origin
  readonly path: string
  readonly query: URLSearchParams
  /** Named parts of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Empty unless it is a POST. */
  readonly form: FormFields
  readonly session: OpenSession | null
  readonly shell: Shell
  /** What the shell says in words. */
  readonly notice: NoticeName | null
  /** For whatever page answers. */
  readonly cookies: readonly string[]
}

export type OpenSession = Session & { readonly secret: string }
export type SignedInVisit = Visit & { readonly session: OpenSession }

export type Answer = Response | Promise<Response>

/** Who may: everyone, whoever is signed in, or admins only. There is no default. */
export type Action =
  | { readonly access: 'public'; readonly answer: (visit: Visit) => Answer }
  | { readonly access: 'operator' | 'admin'; readonly answer: (visit: SignedInVisit) => Answer }

export type Route = { readonly path: string; readonly get?: Action; readonly post?: Action }

/** Who an operator's commands are recorded as. */
export const askerOf = ({ session, requestId }: SignedInVisit): Asker => {
  const { email, id, linkMadeBy } = session
  return { by: { kind: 'operator', email, session: { id, linkMadeBy } }, requestId }
}

/** `email`: of an existing account, or `null`. */
export const refusedVisitor = ({ origin, requestId }: Visit, email: string | null): RefusedVisitor => ({
  email,
  address: origin.clientAddress,
  requestId,
})

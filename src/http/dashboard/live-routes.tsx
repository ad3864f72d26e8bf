import type { AcceptedReading } from '../../../projections/queries.ts'
import { CellarList } from '../../../views/cellars.tsx'
import { KeyPush } from '../../../views/key.tsx'
import { FirstReading } from '../../../views/key-created.tsx'
import { KeyList } from '../../../views/keys.tsx'
import { CellarReadings } from '../../../views/readings.tsx'
import { cellarListOf } from './cellar-views.ts'
import { watchedHistory } from './key-history.ts'
import { keyListOf, keyListQuery, keyViewOf } from './key-views.ts'
import { askAgain, eventStreamType } from './live-answers.ts'
import type { LivePage } from './live-pages.ts'
import { cellarOf, keyOf } from './named.ts'
import { askedPage } from './paging.ts'
import { readingsOf, readingsQuery, readingView } from './reading-views.ts'
import type { DashboardDeps, Route, SignedInVisit } from './visit.ts'

/** Streams of fragments: each the same function as on its page, so that both always show the same. */
export const liveRoutes = (deps: DashboardDeps): readonly Route[] => {
  const { core } = deps
  const now = (): number => core.clock.now()
  const live = (pageOf: (visit: SignedInVisit) => Omit<LivePage, 'name'> | null) =>
    ({ access: 'operator', answer: (visit: SignedInVisit) => watch(deps, visit, pageOf(visit)) }) as const

  return [
    {
      path: '/live/cellars',
      get: live((visit) => {
        const page = askedPage(visit.query)
        return {
          topic: 'all',
          render: async () => (
            <CellarList {...(await cellarListOf(deps, page, now()))} nowMs={now()} isAdmin={isAdmin(visit)} />
          ),
        }
      }),
    },
    {
      path: '/live/cellars/:cellar/readings',
      get: live((visit) => {
        const cellar = cellarOf(deps, visit)?.cellar
        if (cellar === undefined) return null
        const query = readingsQuery(visit.query)
        return {
          topic: { cellar },
          render: async () => (
            <CellarReadings {...readingsOf(deps, cellar, query, now())} nowMs={now()} isAdmin={isAdmin(visit)} />
          ),
        }
      }),
    },
    {
      path: '/live/cellars/:cellar/keys',
      get: live((visit) => {
        const cellar = cellarOf(deps, visit)?.cellar
        if (cellar === undefined) return null
        const query = keyListQuery(visit.query)
        return {
          topic: { cellar },
          render: async () => (
            <KeyList {...(await keyListOf(deps, cellar, query, now()))} nowMs={now()} isAdmin={isAdmin(visit)} />
          ),
        }
      }),
    },
    {
      path: '/live/keys/:keyId',
      get: live((visit) => {
        const key = keyOf(deps, visit)
        if (key === null) return null
        const history = watchedHistory(core, key.keyId, askedPage(visit.query))
        return {
          topic: { keyId: key.keyId },
          render: async () => {
            const known = core.projections.keys.get(key.keyId) ?? key
            const [apiKey, told] = [await keyViewOf(deps, known, now()), await history()]
            return <KeyPush apiKey={apiKey} history={told} nowMs={now()} isAdmin={isAdmin(visit)} />
          },
        }
      }),
    },
    {
      path: '/live/keys/:keyId/first-reading',
      get: live((visit) => {
        const key = keyOf(deps, visit)
        if (key === null) return null
        return {
          topic: { keyId: key.keyId },
          render: async () => {
            const reading = await firstReading(deps, key.keyId)
            return reading === null ? null : <FirstReading keyId={key.keyId} reading={readingView(deps, reading)} />
          },
        }
      }),
    },
  ]
}

/** From the log, since many can come before the next push; where a fence came first, the last one will do. */
const firstReading = async ({ core }: DashboardDeps, keyId: string): Promise<AcceptedReading | null> => {
  const last = core.projections.readings.usage(keyId)?.last
  if (last === undefined || last.revision === 0) return last ?? null
  const [first] = await core.log.read(last.stream, { limit: 1 })
  if (first?.type !== 'ReadingAccepted') return last
  const { stream, revision, position, recordedAt, data } = first
  return { ...data, stream, revision, position, recordedAt, keyId, clockSkew: false, repeatOf: null }
}

const isAdmin = (visit: SignedInVisit): boolean => visit.session.role === 'admin'

/** No cellar and no key is ever deleted: one that is not there may be one of another node's that this one has yet to hear of. */
const watch = (deps: DashboardDeps, visit: SignedInVisit, page: Omit<LivePage, 'name'> | null): Response => {
  if (page === null) return askAgain()
  if (visit.request.method === 'HEAD') return new Response(null, { headers: eventStreamType })
  const { secret, role } = visit.session
  const body = deps.live.open({
    page: { ...page, name: `${role} ${visit.path}?${visit.query}` },
    // A page is made for a role: with another one it has to be opened again.
    isAllowed: () => deps.core.operators.session(secret)?.role === role,
    signal: visit.request.signal,
  })
  return body === null ? askAgain() : new Response(body, { headers: eventStreamType })
}

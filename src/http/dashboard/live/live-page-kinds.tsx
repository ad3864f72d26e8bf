import { AttentionPush } from '../../../../views/attention/attention-page.tsx'
import { CellarList } from '../../../../views/cellars/cellars-page.tsx'
import { CellarReadings } from '../../../../views/cellars/readings-page.tsx'
import { HealthFacts } from '../../../../views/health/health-facts.tsx'
import { KegPush } from '../../../../views/kegs/keg-page.tsx'
import { RackPush } from '../../../../views/kegs/rack-page.tsx'
import { FirstReading } from '../../../../views/keys/key-created.tsx'
import { KeyPush } from '../../../../views/keys/key-page.tsx'
import { KeyList } from '../../../../views/keys/keys-page.tsx'
import { ChangeRun, UnknownChange } from '../../../../views/keys/several/change-run-page.tsx'
import { LogPush } from '../../../../views/log/list/log-page.tsx'
import type { LogQuery } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { anyEvent } from '../../../domain/search/event-filter.ts'
import { pagesOf } from '../../../domain/search/page-of-list.ts'
import { operatorStream } from '../../../domain/stream-names.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { logListOf } from '../ask/log-list.ts'
import { keyIdIn, logQueryOf } from '../ask/read-log-query.ts'
import { mayPack } from '../gzip-answers.ts'
import { attentionQueryOf, attentionView } from '../pages/attention/attention-pages.tsx'
import { webhookViews } from '../pages/attention/webhook-pages.tsx'
import { cellarListOf, cellarsPerPageMax, foundCellars } from '../show/cellar-views.ts'
import { changeRunView } from '../show/change-run-view.ts'
import { healthView } from '../show/health-view.ts'
import { askHistory, requestedHistory, watchedHistory } from '../show/history-views.ts'
import { kegInPath, kegQueryOf } from '../show/keg-query.ts'
import { kegPageOf } from '../show/keg-views.ts'
import { keyListOf, keyPageNumber, keyQueryOf, type ShownKeys } from '../show/key-list.ts'
import { keyViewOf } from '../show/key-views.ts'
import { requestedPage } from '../show/paging.ts'
import { waitForTurn } from '../show/pauses.ts'
import { rackPageOf } from '../show/rack-views.ts'
import { kegPageNumber, readingsOf, readingsQuery, readingView } from '../show/reading-views.ts'
import { rotatedOf } from '../show/rotation-views.ts'
import { cellarInPath, type DashboardDeps, keyInPath, type SignedInVisit } from '../visit.ts'
import type { Topic } from './live-changes.ts'
import type { LivePage } from './live-push.ts'
import { askAgain, eventStreamType, pollLater, tooManyStreams } from './server-sent-events.ts'

/**
 * `watch` adds the role, because roles see different pages. What does not change the page is not in the name, so that one
 * rendering serves more browsers.
 */
type PageWithoutRole = Omit<LivePage, 'name' | 'questionsMs'> & { readonly name: readonly (string | number)[] }

type WatchedPage = PageWithoutRole & Pick<LivePage, 'questionsMs'>

type PageOf = (deps: DashboardDeps, visit: SignedInVisit) => PageWithoutRole | null | Promise<PageWithoutRole | null>

export const live =
  (pageOf: PageOf) =>
  async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
    let questionsMs = 0
    const onTook = (ms: number): void => {
      questionsMs += ms
    }
    const { core } = deps
    const questions: Core['questions'] = {
      ask: (name, parameters, options) => core.questions.ask(name, parameters, { ...options, onTook }),
      close: () => core.questions.close(),
    }
    const page = await pageOf({ ...deps, core: { ...core, questions } }, visit)
    return watch(deps, visit, page === null ? null : { ...page, questionsMs: () => questionsMs })
  }

export const liveAttention = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole => ({
  name: [paths.liveAttention(attentionQueryOf(deps.core, visit.query))],
  topic: 'no readings',
  // What needs attention changes with records.
  listsEvents: true,
  render: async () => {
    await deps.core.attention.load()
    const attention = attentionView(deps.core, attentionQueryOf(deps.core, visit.query))
    const health = healthView(deps.facts(), deps.settings)
    const nowMs = deps.core.clock.now()
    const webhooks = webhookViews(deps.core)
    return <AttentionPush {...{ attention, health, webhooks, nowMs }} isAdmin={isAdmin(visit)} />
  },
})

/** Its figures are those of the next heartbeat: most change without an event. */
export const liveHealth = ({ facts, settings, core }: DashboardDeps): PageWithoutRole => ({
  name: ['health'],
  topic: 'no readings',
  listsEvents: false,
  render: async () => <HealthFacts health={healthView(facts(), settings)} nowMs={core.clock.now()} />,
})

export const liveCellars = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole => {
  const { clock } = deps.core
  const { words, page: asked } = readingsQuery(visit.query)
  const page = Math.min(asked, pagesOf(foundCellars(deps, words).length, cellarsPerPageMax))
  return {
    name: ['cellars', page, ...words],
    topic: 'all',
    listsEvents: false,
    render: async (pause) => {
      const nowMs = clock.now()
      const list = await cellarListOf(deps, { words, page }, { nowMs, pause })
      await pause()
      return <CellarList {...list} nowMs={nowMs} isAdmin={isAdmin(visit)} />
    },
  }
}

export const liveReadings = async (deps: DashboardDeps, visit: SignedInVisit): Promise<PageWithoutRole | null> => {
  const cellar = cellarInPath(deps, visit)?.cellar
  if (cellar === undefined) return null
  const owner = visit.session.email
  const { words, order, page: asked } = readingsQuery(visit.query)
  const query = { cellar, words, order }
  const wanted = { ...query, page: await kegPageNumber(deps, { ...query, page: asked }, owner) }
  return {
    name: ['readings', paths.liveReadings(cellar, words.join(' '), wanted.page, order)],
    topic: { cellar },
    listsEvents: false,
    render: async (pause) => {
      const nowMs = deps.core.clock.now()
      const shown = await readingsOf(deps, wanted, { nowMs, owner })
      await pause()
      return <CellarReadings {...shown} nowMs={nowMs} isAdmin={isAdmin(visit)} />
    },
  }
}

export const liveKeg = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole | null => {
  const cellar = cellarInPath(deps, visit)?.cellar
  if (cellar === undefined) return null
  const name = kegInPath(visit)
  const query = { ...kegQueryOf(visit.query, name), find: '', table: 0, isPaused: false }
  return {
    name: [paths.liveKeg(cellar, name.rack, name.keg, query)],
    topic: { cellar },
    listsEvents: false,
    render: async (pause) => {
      const nowMs = deps.core.clock.now()
      const page = await kegPageOf(deps, { cellar, name, query }, { nowMs, owner: visit.session.email })
      await pause()
      return page === null ? null : <KegPush cellar={cellar} page={page} nowMs={nowMs} />
    },
  }
}

export const liveRack = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole | null => {
  const cellar = cellarInPath(deps, visit)?.cellar
  if (cellar === undefined) return null
  const { rack } = kegInPath(visit)
  const { range, from, to } = kegQueryOf(visit.query, { rack, keg: '' })
  const asked = { cellar, rack, range: { range, from, to, isPaused: false }, page: requestedPage(visit.query) }
  return {
    name: [paths.liveRack(cellar, rack, asked.range, asked.page)],
    topic: { cellar },
    listsEvents: false,
    render: async (pause) => {
      const nowMs = deps.core.clock.now()
      const page = await rackPageOf(deps, asked, { nowMs, owner: visit.session.email })
      await pause()
      return page === null ? null : <RackPush cellar={cellar} page={page} nowMs={nowMs} turn={pause} />
    },
  }
}

export const liveKeys = (deps: DashboardDeps, visit: SignedInVisit): Promise<PageWithoutRole> | null => {
  const cellar = cellarInPath(deps, visit)?.cellar
  return cellar === undefined ? null : keyList(deps, visit, cellar)
}

export const liveAllKeys = (deps: DashboardDeps, visit: SignedInVisit): Promise<PageWithoutRole> =>
  keyList(deps, visit, null)

const keyList = async (deps: DashboardDeps, visit: SignedInVisit, cellar: string | null): Promise<PageWithoutRole> => {
  const owner = visit.session.email
  const asked = { ...keyQueryOf(visit.query, cellar), isPaused: false }
  const query = { ...asked, page: await keyPageNumber(deps, asked, { owner, pause: waitForTurn }) }
  let loads: ShownKeys['loads'] | undefined
  return {
    name: ['keys', cellar === null ? paths.liveAllKeys(query) : paths.liveKeys(cellar, query)],
    topic: cellar === null ? 'all' : { cellar },
    listsEvents: false,
    render: async (pause) => {
      const found = await keyListOf(deps, query, { owner, pause, loads })
      loads = found.loads
      await pause()
      return <KeyList list={found.list} cellar={cellar} nowMs={deps.core.clock.now()} isAdmin={isAdmin(visit)} />
    },
  }
}

export const liveKey = async (deps: DashboardDeps, visit: SignedInVisit): Promise<PageWithoutRole | null> => {
  const { core } = deps
  const key = keyInPath(deps, visit)
  if (key === null) return null
  const asked = requestedHistory(visit.query)
  const parts = { core, owner: visit.session.email, nowMs: visit.nowMs }
  // Page 1 always exists, so the log is not read.
  const page = asked.page === 1 ? 1 : ((await askHistory(parts, key.keyId, asked))?.page ?? asked.page)
  const history = watchedHistory(parts, key.keyId, { ...asked, page })
  return {
    name: ['key', key.keyId, page, asked.isEverything ? 'all' : 'some'],
    // What racks send with another key of its rotation is shown with the next heartbeat.
    topic: { keyId: key.keyId },
    listsEvents: false,
    render: async (pause) => {
      const nowMs = core.clock.now()
      const known = core.projections.keys.get(key.keyId) ?? key
      const [apiKey, told] = [await keyViewOf(deps, known, nowMs), await history()]
      const rotated = await rotatedOf(deps, known, { nowMs, owner: parts.owner })
      await pause()
      const { position } = core.projections
      const now = { nowMs, position }
      return <KeyPush apiKey={apiKey} rotated={rotated} history={told} {...now} isAdmin={isAdmin(visit)} />
    },
  }
}

/** Only the newest page is live. The name of the page has no unknown kind, so its list must not depend on one. */
export const liveLog = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole => {
  const { core } = deps
  const query: LogQuery = { ...logQueryOf(visit.query), before: null, after: null, at: '', unknownKind: '' }
  return {
    name: ['log', paths.log(query)],
    topic: readingsShown(query),
    listsEvents: true,
    render: async (pause) => {
      const nowMs = core.clock.now()
      const list = await logListOf({ core, nowMs, owner: visit.session.email, pause }, query)
      await pause()
      return <LogPush list={list} nowMs={nowMs} />
    },
  }
}

const readingsShown = ({ kind, type, cellar, key }: LogQuery): Topic => {
  const isAboutReadings = kind === null || kind === 'readings' || kind === 'refusals'
  if (!isAboutReadings || (type !== '' && type !== 'ReadingAccepted')) return 'no readings'
  if (key !== '') return { keyId: keyIdIn(key) }
  return cellar === '' ? 'all' : { cellar }
}

/** A change that is not known can have been under way when the service was restarted. */
export const liveKeysChange = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole | null => {
  const { id = '' } = visit.params
  const { email } = visit.session
  if (!isUuid(id)) return null
  return {
    name: ['change', id, email, visit.shell.csrf],
    topic: 'no readings',
    listsEvents: false,
    render: async (pause) => {
      await pause()
      const run = deps.changes.get(id, email)
      if (run === null) return <UnknownChange id={id} by={deps.changes.operatorOf(id)} />
      return <ChangeRun run={changeRunView(deps, run)} shell={visit.shell} />
    },
  }
}

export const liveFirstReading = (deps: DashboardDeps, visit: SignedInVisit): PageWithoutRole | null => {
  const key = keyInPath(deps, visit)
  if (key === null) return null
  return {
    name: ['first-reading', key.keyId],
    topic: { keyId: key.keyId },
    listsEvents: false,
    render: async (pause) => {
      const reading = await firstReading(deps, key.keyId, visit.session.email)
      await pause()
      return reading === null ? null : <FirstReading keyId={key.keyId} reading={readingView(deps, reading)} />
    },
  }
}

const firstReading = async ({ core }: DashboardDeps, key: string, owner: string) => {
  if (core.projections.readings.usage(key) === null) return null
  const page = { direction: 'forwards', from: null, limit: 1 } as const
  const wanted = { filter: { ...anyEvent, key, type: 'ReadingAccepted' } as const, page }
  const [first] = answerOf(await core.questions.ask('findEvents', wanted, { owner, isAtOnce: true })).events
  return first?.type === 'ReadingAccepted' ? first : null
}

const isAdmin = (visit: SignedInVisit): boolean => visit.session.role === 'admin'

/**
 * `page` is `null` for an unknown cellar or key. Another node can have created it a moment ago, so the browser asks again.
 */
const watch = (deps: DashboardDeps, visit: SignedInVisit, page: WatchedPage | null): Response => {
  if (page === null) return askAgain()
  if (visit.request.method === 'HEAD') return new Response(null, { headers: eventStreamType })
  const { secret, role, email } = visit.session
  const isPacked = mayPack(visit)
  const body = deps.live.open({
    page: { ...page, name: JSON.stringify([role, ...page.name]) },
    viewer: {
      sessionSecret: secret,
      operatorStream: operatorStream(email),
      // Admins see other things than auditors.
      isAllowed: () => deps.core.operators.session(secret)?.role === role,
    },
    signal: visit.request.signal,
    isPacked,
  })
  if (body === 'full') return tooManyStreams()
  if (body === 'polling') return pollLater()
  if (body === 'closed') return askAgain()
  return new Response(body, { headers: { ...eventStreamType, ...(isPacked && { 'Content-Encoding': 'gzip' }) } })
}

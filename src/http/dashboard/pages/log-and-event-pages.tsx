import { EventPage } from '../../../../views/log/event-page.tsx'
import { FoundPage } from '../../../../views/log/list/found-page.tsx'
import { LogPage } from '../../../../views/log/list/log-page.tsx'
import { RefusalPage } from '../../../../views/log/refusal-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import { categories, categoryOf } from '../../../domain/stream-names.ts'
import { Outage, StillSearching } from '../../../log/event-log.ts'
import { eventPageView } from '../ask/event-page-view.ts'
import { explainRefusal } from '../ask/explain-refusal.ts'
import { findByText } from '../ask/find-by-text.ts'
import { logListOf } from '../ask/log-list.ts'
import type { LogListParts } from '../ask/log-list-parts.ts'
import { logQueryCharsMax, logQueryOf, positionOf } from '../ask/read-log-query.ts'
import { htmlPage, notFound, problemPage, seeOther } from '../page-answers.tsx'
import type { DashboardDeps, SignedInVisit } from '../visit.ts'

type Search = (deps: DashboardDeps, visit: SignedInVisit) => Promise<Response>

const search =
  (answer: Search): Search =>
  async (deps, visit) => {
    try {
      return await answer(deps, visit)
    } catch (error) {
      if (error instanceof StillSearching) return problemPage(visit, { problem: 'still_searching', status: 503 })
      if (error instanceof Outage && (await hasNoPosition(deps, visit))) return notFound(visit)
      throw error
    }
  }

const hasNoPosition = async ({ core }: DashboardDeps, { query, session }: SignedInVisit): Promise<boolean> => {
  const position = positionOf(query.get('before') ?? '') ?? positionOf(query.get('after') ?? '')
  if (position === null) return false
  return answerOf(await core.questions.ask('isNoPosition', position, { owner: session.email, isAtOnce: true }))
}

const partsOf = ({ core }: DashboardDeps, { nowMs, session }: SignedInVisit): LogListParts => ({
  core,
  nowMs,
  owner: session.email,
})

export const showLog = search(async (deps, visit) => {
  const list = await logListOf(partsOf(deps, visit), logQueryOf(visit.query))
  const isRefused = Object.keys(list.faults).length > 0
  return htmlPage(visit, <LogPage shell={visit.shell} list={list} />, isRefused ? 422 : 200)
})

export const findInLog = search(async (deps, visit) => {
  const typed = [...(visit.query.get('what') ?? '')].slice(0, logQueryCharsMax).join('')
  if (typed.trim() === '') return seeOther(visit, paths.log())
  const found = await findByText(partsOf(deps, visit), typed, positionOf(visit.query.get('after') ?? ''))
  const [only, ...others] = found.choices
  if (only !== undefined && others.length === 0) return seeOther(visit, only.href)
  return htmlPage(visit, <FoundPage shell={visit.shell} found={found} />, only === undefined ? 404 : 200)
})

/** The address of an event is its receipt. If it has no event, the answer says why, as the box does. */
export const showEvent = search(async (deps, visit) => {
  const { core } = deps
  const { stream = '', revision = '' } = visit.params
  if (!categories.includes(categoryOf(stream)) || !/^\d{1,15}$/.test(revision)) return notFound(visit)
  const place = { stream, revision: Number(revision) }
  const asker = { owner: visit.session.email, isAtOnce: true }
  const event = answerOf(await core.questions.ask('eventInContext', place, asker))
  if (event === null) {
    const found = await findByText(partsOf(deps, visit), `${stream}@${revision}`)
    return htmlPage(visit, <FoundPage shell={visit.shell} found={found} />, 404)
  }
  return htmlPage(visit, <EventPage shell={visit.shell} event={eventPageView(core, event)} />)
})

export const explainRequest = search(async (deps, visit) => {
  const requestId = (visit.params['requestId'] ?? '').toLowerCase()
  const explained = await explainRefusal(partsOf(deps, visit), requestId, positionOf(visit.query.get('after') ?? ''))
  const status = explained.kind === 'sample' || explained.kind === 'summaries' ? 200 : 404
  return htmlPage(visit, <RefusalPage shell={visit.shell} explained={explained} />, status)
})

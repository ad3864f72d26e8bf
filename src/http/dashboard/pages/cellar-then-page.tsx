import { CellarThenPage } from '../../../../views/cellars/cellar-then.tsx'
import { keyLimitDefault } from '../../../limits.ts'
import { htmlPage, notFound } from '../page-answers.tsx'
import { cellarThen } from '../show/cellar-at-instant.ts'
import { cellarView } from '../show/cellar-views.ts'
import { requestedPage } from '../show/paging.ts'
import { pastInstant, typedTime } from '../show/typed-instant.ts'
import { cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'

export const showCellarThen = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const typed = typedTime(visit.query)
  const at = typed === '' ? null : pastInstant(typed, visit.nowMs)
  const answer =
    at?.ok === true
      ? await cellarThen(deps.core, cellar, {
          at: at.value,
          page: requestedPage(visit.query),
          owner: visit.session.email,
        })
      : null
  const refused = at?.ok === false ? { typed, rule: at.refusal.rule } : null
  return htmlPage(
    visit,
    <CellarThenPage
      shell={visit.shell}
      cellar={cellarView(cellar)}
      answer={answer}
      refused={refused}
      defaultLimit={keyLimitDefault}
    />,
    refused === null ? 200 : 422,
  )
}

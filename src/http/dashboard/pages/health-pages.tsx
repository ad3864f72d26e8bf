import { HealthPage } from '../../../../views/health/health-page.tsx'
import { htmlPage } from '../page-answers.tsx'
import { healthView } from '../show/health-view.ts'
import type { DashboardDeps, SignedInVisit } from '../visit.ts'

export const showHealth = ({ facts, settings }: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, <HealthPage shell={visit.shell} health={healthView(facts(), settings)} />)

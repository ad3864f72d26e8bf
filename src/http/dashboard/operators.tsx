import { OperatorLinkPage, OperatorsPage } from '../../../views/operators.tsx'
import { paths } from '../../../views/paths.ts'
import type { Role } from '../../domain/events.ts'
import { htmlPage, refusedPage } from './answers.tsx'
import { type Faults, noFaults, placedFaults } from './forms.ts'
import { askerOf, type DashboardDeps, type Route, type SignedInVisit } from './visit.ts'

export const operatorRoutes = (deps: DashboardDeps): readonly Route[] => [
  {
    path: paths.operators,
    get: {
      access: 'admin',
      answer: (visit) => htmlPage(visit, operatorsPage(deps, visit, { email: '', role: 'auditor' })),
    },
  },
  { path: paths.operatorLinks, post: { access: 'admin', answer: (visit) => issueLink(deps, visit) } },
]

/** Shown in the answer to the form, under no address, as a new key is. */
const issueLink = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const values = { email: visit.form('email'), role: visit.form('role') }
  const back = { href: paths.operators, words: 'To the operators' }
  const again = (faults: Faults) => operatorsPage(deps, visit, values, faults)
  const role = roleOf(values.role)
  if (role === null) return htmlPage(visit, again({ role: 'Choose admin or auditor.' }), 422)
  const issued = await deps.core.operators.issueLink({ email: values.email, role }, askerOf(visit))
  if (!issued.ok) return refusedPage(visit, issued.refusal, { back, again })
  const { secret, expiresAt } = issued.value
  return htmlPage(
    visit,
    <OperatorLinkPage
      shell={visit.shell}
      email={values.email.trim().toLowerCase()}
      url={`${visit.origin.baseUrl}${paths.link(secret)}`}
      expiresAt={expiresAt}
    />,
    201,
  )
}

const roleOf = (text: string): Role | null => (text === 'admin' || text === 'auditor' ? text : null)

const operatorsPage = (
  { core }: DashboardDeps,
  visit: SignedInVisit,
  values: { readonly email: string; readonly role: string },
  faults = noFaults,
): JSX.Element => {
  const operators = core.projections.operators
    .list()
    .map(({ email, role, addedAt }) => ({ email, role, addedAt, isYou: email === visit.session.email }))
  return (
    <OperatorsPage shell={visit.shell} operators={operators} form={{ values, faults: placedFaults(values, faults) }} />
  )
}

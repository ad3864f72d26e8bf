import { type AccessChange, ConfirmAccessPage } from '../../../../views/operators/operator-confirm.tsx'
import { OperatorLinkPage, OperatorsPage } from '../../../../views/operators/operators-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { Form, LinkField, OperatorRow } from '../../../../views/types.ts'
import type { Role } from '../../../domain/events.ts'
import type { CommandRefusal } from '../../../domain/refusal.ts'
import { passwordClient } from '../door/browser.ts'
import { tooManyAttempts, withOwnPassword } from '../door/password-attempt.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'

export const showOperators = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, operatorsPage(deps, visit, { values: linkValues(visit), faults: noFaults }))

/** No page may contain a password. */
const linkValues = ({ form }: SignedInVisit): Form<LinkField>['values'] => ({
  email: form('email'),
  role: form('role') || 'auditor',
  own_password: '',
})

const emailOf = ({ params }: SignedInVisit): string => (params['email'] ?? '').toLowerCase()

/** The form holds the new role, so sending or opening it again does not change the role back. */
export const confirmRole = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
  const role = deps.core.projections.operators.get(emailOf(visit))?.role
  const asked = roleOf(visit.form('role'))
  if (asked !== null && asked === role) return seeOther(visit, paths.operators, { notice: 'role_was_set' })
  return confirmPage(deps, visit, asked ?? (role === 'admin' ? 'auditor' : 'admin'))
}

export const setRole = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const role = roleOf(visit.form('role'))
  if (role === null) return confirmRole(deps, visit)
  const changed = await deps.core.operators.setRole(emailOf(visit), role, askerOf(visit))
  if (!changed.ok) return confirmAgain(deps, visit, { change: role, refusal: changed.refusal })
  return seeOther(visit, paths.operators, { notice: 'role_changed' })
}

/** The invited person can have joined after the confirmation page. Then the notice says that the operator is removed. */
export const removeOperator = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const wasInvited = isInvited(deps, visit)
  const removed = await deps.core.operators.remove(emailOf(visit), askerOf(visit))
  if (!removed.ok) return confirmAgain(deps, visit, { change: 'remove', refusal: removed.refusal })
  if (emailOf(visit) === visit.session.email) return seeOther(visit, paths.signIn, { notice: 'gave_up_access' })
  return seeOther(visit, paths.operators, { notice: wasInvited ? 'invitation_withdrawn' : 'operator_removed' })
}

/** Except the session that the admin uses now. */
export const endSessions = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const allBut = emailOf(visit) === visit.session.email ? visit.session.secret : null
  const ended = await deps.core.operators.endSessions(emailOf(visit), { allBut }, askerOf(visit))
  if (!ended.ok) return confirmAgain(deps, visit, { change: 'end_sessions', refusal: ended.refusal })
  return seeOther(visit, paths.operators, { notice: allBut === null ? 'sessions_ended' : 'other_sessions_ended' })
}

export const confirmChange =
  (change: RequestedChange) =>
  (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
    confirmPage(deps, visit, change)

type RequestedChange = Exclude<AccessChange, 'withdraw' | 'end_other_sessions'>

const confirmPage = (deps: DashboardDeps, visit: SignedInVisit, change: RequestedChange): Promise<Response> => {
  const confirmation = confirmationOf(deps, visit, change)
  if (confirmation === null) return notFound(visit)
  return htmlPage(visit, <ConfirmAccessPage shell={visit.shell} {...confirmation} fault={undefined} />)
}

type Refused = { readonly change: RequestedChange; readonly refusal: CommandRefusal }

const confirmAgain = (deps: DashboardDeps, visit: SignedInVisit, { change, refusal }: Refused): Promise<Response> => {
  const confirmation = confirmationOf(deps, visit, change)
  if (confirmation === null) return notFound(visit)
  const back = { href: paths.operators, words: 'Back to operators' }
  const again = (faults: Faults): JSX.Element => (
    <ConfirmAccessPage shell={visit.shell} {...confirmation} fault={faults['form']} />
  )
  return refusedPage(visit, refusal, { back, again })
}

/** Without an account, only an invitation can be withdrawn. `null` if the change is not possible. */
const confirmationOf = (deps: DashboardDeps, visit: SignedInVisit, requested: RequestedChange) => {
  const email = emailOf(visit)
  const operator = { email, isYou: email === visit.session.email }
  if (deps.core.projections.operators.get(email) !== null) {
    return {
      operator,
      change: operator.isYou && requested === 'end_sessions' ? ('end_other_sessions' as const) : requested,
    }
  }
  return requested === 'remove' && isInvited(deps, visit) ? { operator, change: 'withdraw' as const } : null
}

const isInvited = ({ core }: DashboardDeps, visit: SignedInVisit): boolean =>
  core.projections.operators.invitations(visit.nowMs).some(({ email }) => email === emailOf(visit))

/** In the answer to the POST itself, so no URL shows the link again. */
export const issueLink = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const values = linkValues(visit)
  const back = { href: paths.operators, words: 'Back to operators' }
  const again = (faults: Faults) => operatorsPage(deps, visit, { values, faults })
  const role = roleOf(visit.form('role'))
  if (role === null) return htmlPage(visit, again({ role: 'Choose admin or auditor.' }), 422)
  const issued = await issuedLink(deps, visit, { email: values.email, role })
  if ('waitMs' in issued) return tooManyAttempts(visit, issued.waitMs, again)
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

/** First without the own password (docs/decisions/021-sessions-links-and-accounts.md). */
const issuedLink = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  link: { readonly email: string; readonly role: Role },
) => {
  const { operators } = deps.core
  const password = visit.form('own_password')
  const issued = await operators.issueLink(link, askerOf(visit))
  if (issued.ok || issued.refusal.kind !== 'own_password_needed' || password === '') return issued
  const own = { password, client: passwordClient(visit, true) }
  return withOwnPassword(deps, visit, () => operators.issueLink({ ...link, own }, askerOf(visit)))
}

const roleOf = (text: string): Role | null => (text === 'admin' || text === 'auditor' ? text : null)

const operatorsPage = (deps: DashboardDeps, visit: SignedInVisit, { values, faults }: Form<LinkField>): JSX.Element => (
  <OperatorsPage
    shell={visit.shell}
    operators={operatorRows(deps, visit)}
    invitations={deps.core.projections.operators.invitations(visit.nowMs)}
    form={{ values, faults: placedFaults(values, faults) }}
  />
)

const operatorRows = ({ core }: DashboardDeps, visit: SignedInVisit): readonly OperatorRow[] => {
  const operators = core.projections.operators.list()
  const hasOneAdmin = operators.filter(({ role }) => role === 'admin').length === 1
  return operators.map(({ email, role, addedAt, lastSignedInAt }) => ({
    email,
    role,
    addedAt,
    lastSignedInAt,
    openSessions: core.operators.openSessions(email).length,
    isYou: email === visit.session.email,
    isLastAdmin: hasOneAdmin && role === 'admin',
  }))
}

import { LinkPage, type LinkPurpose, LinkSpentPage } from '../../../../views/operators/link-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { passwordCharsMin } from '../../../limits.ts'
import { passwordClient, signInFrom } from '../door/browser.ts'
import { type Faults, htmlPage, noFaults, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { type DashboardDeps, refusedVisitor, type Visit } from '../visit.ts'
import { intoDashboard } from './sign-in-pages.tsx'

/**
 * The secret is in the path, because reading one after a `#` would need JavaScript. So log lines must not contain the path,
 * and `Referrer-Policy` hides it from other sites. Only the POST uses up the link: mail scanners and chat programs open
 * links.
 */
export const showLink = (deps: DashboardDeps, visit: Visit): Promise<Response> => {
  const purpose = purposeOf(deps, secretOf(visit))
  return purpose === null ? spentPage(deps, visit) : htmlPage(visit, linkPage(visit, purpose))
}

export const spendLink = async (deps: DashboardDeps, visit: Visit): Promise<Response> => {
  const { core } = deps
  const secret = secretOf(visit)
  const purpose = purposeOf(deps, secret)
  if (purpose === null) return spentPage(deps, visit)
  const password = visit.form('password')
  const email = purpose.kind === 'set_up' ? visit.form('email') : purpose.email
  // The person with the link counts as known, so the new password does not wait behind a flood of sign-ins.
  const client = passwordClient(visit, true)
  const spent = await core.operators.spendLink(
    { secret, email, password, client },
    {
      by: { kind: 'operator', email: email.trim().toLowerCase() },
      requestId: visit.requestId,
    },
  )
  if (!spent.ok) {
    if (spent.refusal.kind === 'link_invalid') return spentPage(deps, visit)
    const back = { href: visit.path, words: 'Back to the link' }
    return refusedPage(visit, spent.refusal, { back, again: (faults: Faults) => linkPage(visit, purpose, faults) })
  }
  const input = { email: spent.value.email, password }
  const opened = await core.operators.signIn(input, signInFrom(visit, { isKnown: true }), visit.requestId)
  // Only the sign-in failed; the password is set.
  if (!opened.ok) return seeOther(visit, paths.signIn)
  return intoDashboard(visit, opened.value, paths.cellars)
}

const secretOf = ({ params }: Visit): string => params['secret'] ?? ''

const purposeOf = ({ core }: DashboardDeps, secret: string): LinkPurpose | null => {
  const link = core.operators.link(secret)
  if (link === null) return null
  const { email, role, isNew } = link
  if (email === null) return { kind: 'set_up', role, isFirst: core.projections.operators.list().length === 0 }
  return isNew ? { kind: 'join', email, role } : { kind: 'reset', email }
}

const linkPage = (visit: Visit, purpose: LinkPurpose, faults = noFaults): JSX.Element => {
  const values = { email: visit.form('email'), password: '' }
  return (
    <LinkPage
      shell={visit.shell}
      secret={secretOf(visit)}
      purpose={purpose}
      form={{ values, faults: placedFaults(values, faults) }}
      passwordCharsMin={passwordCharsMin}
    />
  )
}

const spentPage = ({ traces, web }: DashboardDeps, visit: Visit): Promise<Response> => {
  traces.refused({ what: 'link', reason: 'link_wrong_or_spent', ...refusedVisitor(visit, null) })
  return htmlPage(visit, <LinkSpentPage shell={visit.shell} program={web.program} />, 410)
}

import type { Role } from '../../src/domain/events.ts'
import { Layout } from '../frame/layout.tsx'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Crumbs } from '../parts/nav-links.tsx'
import { paths } from '../paths.ts'
import type { OperatorRow, Shell } from '../types.ts'

/** `end_other_sessions` is for admins who end their own: the session that they use stays open. */
export type AccessChange = Role | 'remove' | 'withdraw' | 'end_sessions' | 'end_other_sessions'

export const ConfirmAccessPage = (props: {
  readonly shell: Shell
  readonly operator: Pick<OperatorRow, 'email' | 'isYou'>
  readonly change: AccessChange
  readonly fault: string | undefined
}): JSX.Element => {
  const { operator, change } = props
  const { title, verb, object, button, consequences } = words[change]
  const isRole = change === 'admin' || change === 'auditor'
  return (
    <Layout shell={props.shell} title={title} section="operators" narrow>
      <Crumbs crumbs={[<a href={paths.operators}>Operators</a>]} />
      <ConfirmCard
        title={
          <>
            <span safe>{verb}</span> <Name text={operator.email} />
            <span safe>{object}</span>
          </>
        }
        csrf={props.shell.csrf}
        action={actionOf(operator.email, change)}
        fault={props.fault}
        fields={isRole ? <input type="hidden" name="role" value={attribute(change)} /> : null}
        button={button}
        isDangerous={!isRole}
        cancel={paths.operators}
      >
        {operator.isYou && change !== 'end_other_sessions' ? (
          <p class="last-use in-use">
            <strong>This is your own account.</strong> Only another admin can undo this.
          </p>
        ) : null}
        <p safe>{consequences}</p>
      </ConfirmCard>
    </Layout>
  )
}

const actionOf = (email: string, change: AccessChange): string => {
  switch (change) {
    case 'admin':
    case 'auditor':
      return paths.operatorRole(email)
    case 'remove':
    case 'withdraw':
      return paths.removeOperator(email)
    case 'end_sessions':
    case 'end_other_sessions':
      return paths.operatorSessions(email)
    default:
      return unknownChange(change)
  }
}

const unknownChange = (change: never): never => {
  throw new Error(`Cannot ask about a change: ${JSON.stringify(change)}`)
}

type Words = {
  readonly title: string
  /** The question is like `Make … an admin?`. */
  readonly verb: string
  readonly object: string
  readonly button: string
  readonly consequences: string
}

const words: Readonly<Record<AccessChange, Words>> = {
  remove: {
    title: 'Remove operator?',
    verb: 'Remove',
    object: '?',
    button: 'Remove access',
    consequences:
      'All sessions and one-time links of this operator stop working on every node within a second. The operator’s past actions stay in the event log. An admin can invite the operator again.',
  },
  withdraw: {
    title: 'Withdraw invitation?',
    verb: 'Withdraw the invitation of',
    object: '?',
    button: 'Withdraw invitation',
    consequences:
      'All one-time links of this person stop working on every node within a second. If this person has joined in the meantime, they lose access too. You can invite them again.',
  },
  end_sessions: {
    title: 'End sessions?',
    verb: 'End all sessions of',
    object: '?',
    button: 'End sessions',
    consequences:
      'This operator is signed out everywhere within a second, and can sign in again. If somebody else knows the password, also create a one-time link. With the link, the operator can set a new password.',
  },
  end_other_sessions: {
    title: 'End your other sessions?',
    verb: 'End all other sessions of',
    object: '?',
    button: 'End other sessions',
    consequences: 'You are signed out everywhere else within a second. This session stays open.',
  },
  auditor: {
    title: 'Change role?',
    verb: 'Make',
    object: ' an auditor?',
    button: 'Make auditor',
    consequences:
      'This operator can still see everything, but can no longer change anything. This also holds for open sessions.',
  },
  admin: {
    title: 'Change role?',
    verb: 'Make',
    object: ' an admin?',
    button: 'Make admin',
    consequences:
      'This operator can then do everything that you can do: create and revoke keys, invite others, and remove anyone, including you.',
  },
}

import type { Role } from '../../src/domain/events.ts'
import { Layout } from '../frame/layout.tsx'
import { attribute } from '../parts/attribute.ts'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { OperatorRow, Shell } from '../types.ts'

/**
 * What an admin can do with a person's access: change the role, remove it, withdraw an invitation, or end sessions. Admins who end
 * their own sessions keep the present one.
 */
export type AccessChange = Role | 'remove' | 'withdraw' | 'end_sessions' | 'end_other_sessions'

/** Asks before somebody gets another role, loses access, or is no longer invited. */
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
            <strong>This is you.</strong> Only another admin can undo it.
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
  /** The question, before and after the e-mail. */
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
      'Every session and every one-time link of theirs ends, within a second on every node. What they did stays in the log, and they can be invited again.',
  },
  withdraw: {
    title: 'Withdraw invitation?',
    verb: 'Withdraw the invitation of',
    object: '?',
    button: 'Withdraw',
    consequences:
      'Every one-time link of theirs ends, within a second on every node. If they have joined by then, their access ends too. They can be invited again.',
  },
  end_sessions: {
    title: 'End sessions?',
    verb: 'End every session of',
    object: '?',
    button: 'End sessions',
    consequences:
      'They are signed out everywhere, within a second on every node. They can sign in again. If somebody else knows their password, make them a one-time link too: it sets a new password.',
  },
  end_other_sessions: {
    title: 'End your other sessions?',
    verb: 'End every other session of',
    object: '?',
    button: 'End other sessions',
    consequences:
      'You are signed out everywhere else, within a second on every node. The session that you use now stays open.',
  },
  auditor: {
    title: 'Change role?',
    verb: 'Make',
    object: ' an auditor?',
    button: 'Make auditor',
    consequences: 'From then on they see everything and change nothing, also where they are signed in already.',
  },
  admin: {
    title: 'Change role?',
    verb: 'Make',
    object: ' an admin?',
    button: 'Make admin',
    consequences:
      'From then on they may do what you may: create and revoke keys, invite others, and take away access, yours included.',
  },
}

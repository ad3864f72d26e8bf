import type { Role } from '../src/domain/events.ts'
import { attribute } from './attribute.ts'
import { ConfirmCard } from './confirm-card.tsx'
import { Layout } from './layout.tsx'
import { Name } from './name.tsx'
import { paths } from './paths.ts'
import type { OperatorRow, Shell } from './types.ts'

/** What may be done with somebody's access: another role, an end of it, or an end of the invitation to have any. */
export type AccessChange = Role | 'remove' | 'withdraw'

/** Asks before somebody gets another role, loses access, or is no longer invited. */
export const ConfirmAccessPage = (props: {
  readonly shell: Shell
  readonly operator: Pick<OperatorRow, 'email' | 'isYou'>
  readonly change: AccessChange
  readonly fault: string | undefined
}): JSX.Element => {
  const { operator, change } = props
  const { title, verb, object, button, consequences } = words[change]
  const isRemoval = change === 'remove' || change === 'withdraw'
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
        action={isRemoval ? paths.removeOperator(operator.email) : paths.operatorRole(operator.email)}
        fault={props.fault}
        fields={isRemoval ? null : <input type="hidden" name="role" value={attribute(change)} />}
        button={button}
        isDangerous={isRemoval}
        cancel={paths.operators}
      >
        {operator.isYou ? (
          <p class="last-use in-use">
            <strong>This is you.</strong> Only another admin can undo it.
          </p>
        ) : null}
        <p safe>{consequences}</p>
      </ConfirmCard>
    </Layout>
  )
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

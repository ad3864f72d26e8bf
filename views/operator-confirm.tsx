import type { Role } from '../src/domain/events.ts'
import { attribute } from './attribute.ts'
import { ConfirmCard } from './confirm-card.tsx'
import { Layout } from './layout.tsx'
import { paths } from './paths.ts'
import type { OperatorRow, Shell } from './types.ts'

/** What may be done with an operator's access: another role, or an end of it. */
export type AccessChange = Role | 'remove'

/** Asks before somebody gets another role, or loses access. */
export const ConfirmAccessPage = (props: {
  readonly shell: Shell
  readonly operator: OperatorRow
  readonly change: AccessChange
  readonly fault: string | undefined
}): JSX.Element => {
  const { operator, change } = props
  const isRemoval = change === 'remove'
  return (
    <Layout shell={props.shell} title={isRemoval ? 'Remove operator?' : 'Change role?'} section="operators" narrow>
      <ConfirmCard
        title={
          <>
            {isRemoval ? 'Remove' : 'Make'} <bdi safe>{operator.email}</bdi>
            <span safe>{isRemoval ? '?' : ` an ${change}?`}</span>
          </>
        }
        csrf={props.shell.csrf}
        action={isRemoval ? paths.removeOperator(operator.email) : paths.operatorRole(operator.email)}
        fault={props.fault}
        fields={isRemoval ? null : <input type="hidden" name="role" value={attribute(change)} />}
        button={isRemoval ? 'Remove access' : `Make ${change}`}
        isDangerous={isRemoval}
        cancel={paths.operators}
      >
        {operator.isYou ? (
          <p class="last-use in-use">
            <strong>This is you.</strong> Only another admin can undo it.
          </p>
        ) : null}
        <p safe>{consequences[change]}</p>
      </ConfirmCard>
    </Layout>
  )
}

const consequences: Readonly<Record<AccessChange, string>> = {
  remove:
    'Every session and every one-time link of theirs ends, within a second on every node. What they did stays in the log, and they can be invited again.',
  auditor: 'From then on they see everything and change nothing, also where they are signed in already.',
  admin:
    'From then on they may do what you may: create and revoke keys, invite others, and take away access, yours included.',
}

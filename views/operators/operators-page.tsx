import { Layout } from '../frame/layout.tsx'
import { ActionLink } from '../parts/action-link.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Choices, PasswordField, PostForm, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { Day, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { Form, InvitationRow, LinkField, OperatorRow, Shell } from '../types.ts'

/** Only admins see the actions and the form for one-time links. */
export const OperatorsPage = (props: {
  readonly shell: Shell
  readonly operators: readonly OperatorRow[]
  readonly invitations: readonly InvitationRow[]
  readonly form: Form<LinkField>
}): JSX.Element => {
  const isAdmin = props.shell.operator?.role === 'admin'
  return (
    <Layout shell={props.shell} title="Operators" section="operators">
      <div class="heading">
        <h1>Operators</h1>
        <p class="quiet">
          These people can sign in. Admins can make changes. Auditors can see everything, but change nothing.
        </p>
      </div>
      <section aria-label="Operators">
        <Table
          class="operators"
          room="wider"
          rows={[...props.operators, ...props.invitations]}
          columns={[...columns, isAdmin ? actionsColumn(Actions) : null]}
        />
      </section>
      {isAdmin ? <LinkForm csrf={props.shell.csrf} form={props.form} /> : null}
    </Layout>
  )
}

type Row = OperatorRow | InvitationRow

const columns: readonly Column<Row>[] = [
  {
    head: 'E-mail',
    cell: (row) => (
      <>
        <Name class="row-name" text={row.email} />
        {isOperator(row) && row.isYou ? <span class="mark you">you</span> : null}
      </>
    ),
  },
  { head: 'Role', cell: ({ role }) => <>{role}</> },
  {
    head: 'Added',
    cell: (row) =>
      isOperator(row) ? (
        <Day at={row.addedAt} />
      ) : (
        <>
          <span class="quiet">Invited</span>
          <span class="under">
            link expires <Instant at={row.expiresAt} />
          </span>
        </>
      ),
  },
  {
    head: 'Last sign-in',
    cell: (row) => {
      if (!isOperator(row)) return <span class="quiet">Never</span>
      return (
        <>
          {row.lastSignedInAt === null ? <span class="quiet">Never</span> : <Instant at={row.lastSignedInAt} />}
          {row.openSessions === 0 ? null : (
            <span class="under" safe>
              {countOf(row.openSessions, 'open session', 'open sessions')}
            </span>
          )}
        </>
      )
    },
  },
]

const isOperator = (row: Row): row is OperatorRow => 'addedAt' in row

const Actions = (row: Row): JSX.Element => (
  <ul class="action-list">
    {isOperator(row) ? (
      <OperatorActions operator={row} />
    ) : (
      <ActionLink href={paths.removeOperator(row.email)} verb="Withdraw" of={row.email} isDangerous />
    )}
  </ul>
)

const LinkForm = (props: { readonly csrf: string; readonly form: Form<LinkField> }): JSX.Element => (
  <PostForm
    action={paths.operatorLinks}
    csrf={props.csrf}
    form={props.form}
    class="card below-table"
    above={
      <>
        <h2>Create a one-time link</h2>
        <p class="hint">
          Use a link for a new operator, or for an operator who lost the password. No mail is sent: give the link to
          that person yourself.
        </p>
      </>
    }
    button="Create link"
  >
    <TextField form={props.form} name="email" label="E-mail" type="email" required />
    <Choices
      name="role"
      legend="Role (only for a new operator)"
      choices={[
        ['admin', 'admin'],
        ['auditor', 'auditor'],
      ]}
      chosen={props.form.values.role}
      required
      fault={props.form.faults.role}
    />
    <PasswordField
      name="own_password"
      label="Your own password"
      hint="Needed only if this e-mail has or had an account, because whoever opens the link can then sign in as that person."
      autocomplete="current-password"
      fault={props.form.faults.own_password}
      mayBeBlank
    />
  </PostForm>
)

const OperatorActions = (props: { readonly operator: OperatorRow }): JSX.Element => {
  const { email, role, isLastAdmin, isYou, openSessions } = props.operator
  const sessionsToEnd = isYou ? openSessions - 1 : openSessions
  return (
    <>
      {isLastAdmin ? (
        <li class="quiet" title="This is the only admin. Make another operator an admin first.">
          cannot be removed
        </li>
      ) : (
        <ActionLink
          href={paths.operatorRole(email)}
          verb={role === 'admin' ? 'Make auditor' : 'Make admin'}
          of={email}
        />
      )}
      {sessionsToEnd === 0 ? null : <ActionLink href={paths.operatorSessions(email)} verb="End sessions" of={email} />}
      {isLastAdmin ? null : <ActionLink href={paths.removeOperator(email)} verb="Remove" of={email} isDangerous />}
    </>
  )
}

/** Never store the link, because anyone who has it can set the password. */
export const OperatorLinkPage = (props: {
  readonly shell: Shell
  readonly email: string
  readonly url: string
  readonly expiresAt: number
}): JSX.Element => (
  <Layout shell={props.shell} title="One-time link" section="operators" narrow>
    <h1>One-time link</h1>
    <section class="card key-once" aria-labelledby="link-title">
      <h2 id="link-title">
        For <Name text={props.email} />
      </h2>
      <p>
        The link is shown <strong>only once</strong>. It works once, and expires <Instant at={props.expiresAt} />. Send
        it privately, because whoever opens it can set the password.
      </p>
      <Copyable id="one-time-link" label="One-time link" text={props.url} what="link" secret />
    </section>
    <p>
      <a href={paths.operators}>Back to operators</a>
    </p>
  </Layout>
)

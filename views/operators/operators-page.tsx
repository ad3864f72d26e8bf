import { Layout } from '../frame/layout.tsx'
import { ActionLink } from '../parts/action-link.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Csrf, FormFault, PasswordField, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
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
        <div class="table-room wider">
          <table class="stack operators">
            <thead>
              <tr>
                <th scope="col">E-mail</th>
                <th scope="col">Role</th>
                <th scope="col">Added</th>
                <th scope="col">Last sign-in</th>
                {isAdmin ? (
                  <th scope="col">
                    <span class="visually-hidden">Actions</span>
                  </th>
                ) : null}
              </tr>
            </thead>
            <tbody>
              {props.operators.map((operator) => (
                <OperatorLine operator={operator} isAdmin={isAdmin} />
              ))}
              {props.invitations.map((invitation) => (
                <InvitationLine invitation={invitation} isAdmin={isAdmin} />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {isAdmin ? <LinkForm csrf={props.shell.csrf} form={props.form} /> : null}
    </Layout>
  )
}

const OperatorLine = (props: { readonly operator: OperatorRow; readonly isAdmin: boolean }): JSX.Element => {
  const { operator } = props
  return (
    <tr>
      <th scope="row">
        <Name class="row-name" text={operator.email} />
        {operator.isYou ? <span class="mark you">you</span> : null}
      </th>
      <td data-label="Role">{operator.role}</td>
      <td data-label="Added">
        <Day at={operator.addedAt} />
      </td>
      <td data-label="Last sign-in">
        {operator.lastSignedInAt === null ? <span class="quiet">Never</span> : <Instant at={operator.lastSignedInAt} />}
        {operator.openSessions === 0 ? null : (
          <span class="under" safe>
            {countOf(operator.openSessions, 'open session', 'open sessions')}
          </span>
        )}
      </td>
      {props.isAdmin ? (
        <td class="actions">
          <OperatorActions operator={operator} />
        </td>
      ) : null}
    </tr>
  )
}

const InvitationLine = (props: { readonly invitation: InvitationRow; readonly isAdmin: boolean }): JSX.Element => {
  const { email, role, expiresAt } = props.invitation
  return (
    <tr>
      <th scope="row">
        <Name class="row-name" text={email} />
      </th>
      <td data-label="Role">{role}</td>
      <td data-label="Added">
        <span class="quiet">Invited</span>
        <span class="under">
          link expires <Instant at={expiresAt} />
        </span>
      </td>
      <td data-label="Last sign-in">
        <span class="quiet">Never</span>
      </td>
      {props.isAdmin ? (
        <td class="actions">
          <ul class="action-list">
            <ActionLink href={paths.removeOperator(email)} verb="Withdraw" of={email} isDangerous />
          </ul>
        </td>
      ) : null}
    </tr>
  )
}

const LinkForm = (props: { readonly csrf: string; readonly form: Form<LinkField> }): JSX.Element => (
  <form method="post" action={paths.operatorLinks} class="card below-table">
    <h2>Create a one-time link</h2>
    <p class="hint">
      Use a link for a new operator, or for an operator who lost the password. No mail is sent: give the link to that
      person yourself.
    </p>
    <Csrf token={props.csrf} />
    <FormFault fault={props.form.faults.form} />
    <TextField form={props.form} name="email" label="E-mail" type="email" required />
    <RoleField form={props.form} />
    <PasswordField
      name="own_password"
      label="Your own password"
      hint="Needed only if this e-mail has or had an account, because whoever opens the link can then sign in as that person."
      autocomplete="current-password"
      fault={props.form.faults.own_password}
      mayBeBlank
    />
    <div class="form-end">
      <button type="submit">Create link</button>
    </div>
  </form>
)

const OperatorActions = (props: { readonly operator: OperatorRow }): JSX.Element => {
  const { email, role, isLastAdmin, isYou, openSessions } = props.operator
  const sessionsToEnd = isYou ? openSessions - 1 : openSessions
  return (
    <ul class="action-list">
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
    </ul>
  )
}

const RoleField = (props: { readonly form: Form<LinkField> }): JSX.Element => (
  <fieldset class={props.form.faults.role === undefined ? 'field' : 'field refused'}>
    <legend>Role (only for a new operator)</legend>
    <div class="choices">
      {roles.map((role) => (
        <label class="choice">
          <input
            type="radio"
            id={`role-${role}`}
            name="role"
            value={role}
            checked={props.form.values.role === role}
            required
          />
          <span>{role}</span>
        </label>
      ))}
    </div>
    {props.form.faults.role === undefined ? null : (
      <p class="fault">
        <Name text={props.form.faults.role} />
      </p>
    )}
  </fieldset>
)

const roles = ['admin', 'auditor'] as const

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

import type { Role } from '../src/domain/events.ts'
import { attribute } from './attribute.ts'
import { Csrf, FormFault, PasswordField, TextField } from './field.tsx'
import { Layout } from './layout.tsx'
import { paths } from './paths.ts'
import type { Form, SetPasswordField, Shell } from './types.ts'

export type LinkPurpose =
  /** The first admin chooses an e-mail. */
  | { readonly kind: 'set_up' }
  | { readonly kind: 'join'; readonly email: string; readonly role: Role }
  | { readonly kind: 'reset'; readonly email: string }

/** What a one-time link opens: a password is chosen, and spends it. */
export const LinkPage = (props: {
  readonly shell: Shell
  readonly secret: string
  readonly purpose: LinkPurpose
  readonly form: Form<SetPasswordField>
  readonly passwordCharsMin: number
}): JSX.Element => {
  const { purpose, form } = props
  return (
    <Layout shell={props.shell} title={titles[purpose.kind]} narrow>
      <h1 safe>{titles[purpose.kind]}</h1>
      <p class="lead" safe>
        {leads[purpose.kind]}
      </p>
      <form method="post" action={paths.link(props.secret)} class="card">
        <Csrf token={props.shell.csrf} />
        <FormFault fault={form.faults.form} />
        {purpose.kind === 'set_up' ? (
          <TextField
            form={form}
            name="email"
            type="email"
            label="E-mail"
            hint="You sign in with it; nothing is mailed."
            autocomplete="username"
            required
            autofocus
          />
        ) : (
          <GivenEmail email={purpose.email} />
        )}
        <PasswordField
          name="password"
          label="Password"
          hint={`At least ${props.passwordCharsMin} characters. A few random words do well.`}
          autocomplete="new-password"
          charsMin={props.passwordCharsMin}
          fault={form.faults.password}
          autofocus={purpose.kind !== 'set_up'}
        />
        <PasswordField
          name="password_again"
          label="Password again"
          autocomplete="new-password"
          charsMin={props.passwordCharsMin}
          fault={form.faults.password_again}
        />
        <div class="form-end">
          <button type="submit" safe>
            {buttons[purpose.kind]}
          </button>
        </div>
      </form>
    </Layout>
  )
}

/** Fixed by the link, and still a field, so that a password manager knows whose password this is. */
const GivenEmail = (props: { readonly email: string }): JSX.Element => (
  <div class="field">
    <label for="field-email">E-mail</label>
    <input id="field-email" name="email" type="email" value={attribute(props.email)} autocomplete="username" readonly />
  </div>
)

const titles: Readonly<Record<LinkPurpose['kind'], string>> = {
  set_up: 'Set up Cellarbook',
  join: 'Join Cellarbook',
  reset: 'Choose a new password',
}

const leads: Readonly<Record<LinkPurpose['kind'], string>> = {
  set_up: 'You become the first admin: you create cellars and keys, and invite others.',
  join: 'You were invited. Choose a password, and you are in.',
  reset: 'Every session that is open under the old one ends.',
}

const buttons: Readonly<Record<LinkPurpose['kind'], string>> = {
  set_up: 'Set up and sign in',
  join: 'Choose password and sign in',
  reset: 'Set password and sign in',
}

export const LinkSpentPage = (props: { readonly shell: Shell }): JSX.Element => (
  <Layout shell={props.shell} title="Link spent or expired" narrow>
    <h1>This link is spent or expired</h1>
    <p class="lead">A link works once, and for a limited time.</p>
    <div class="card">
      <p>
        If you have already used it, <a href={paths.signIn}>sign in</a> with the password you chose. Otherwise ask an
        admin for another one, or make it on the machine that runs the service:
      </p>
      <pre tabindex="0">
        <code>bun run cellarbook operator link</code>
      </pre>
    </div>
  </Layout>
)

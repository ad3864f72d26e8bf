import { Layout } from '../frame/layout.tsx'
import { PasswordField, PostForm } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { ChangePasswordField, Form, SessionRow, Shell, SignInHistoryRow } from '../types.ts'
import { OpenSessions } from './open-sessions.tsx'
import { SignInHistory } from './sign-in-history-table.tsx'

export const AccountPage = (props: {
  readonly shell: Shell
  readonly email: string
  readonly sessions: readonly SessionRow[]
  /** `null`: it cannot be shown now. */
  readonly history: readonly SignInHistoryRow[] | null
  readonly form: Form<ChangePasswordField>
  readonly passwordCharsMin: number
}): JSX.Element => (
  <Layout shell={props.shell} title="Your account" section="account">
    <div class="heading">
      <h1>Your account</h1>
      <p class="quiet">
        You are signed in as <Name text={props.email} />.
      </p>
    </div>
    <div class="list-and-form">
      <OpenSessions csrf={props.shell.csrf} nowMs={props.shell.nowMs} sessions={props.sessions} />
      <PasswordForm {...props} />
    </div>
    <SignInHistory email={props.email} rows={props.history} />
  </Layout>
)

const PasswordForm = (props: {
  readonly shell: Shell
  readonly email: string
  readonly form: Form<ChangePasswordField>
  readonly passwordCharsMin: number
}): JSX.Element => {
  const { faults } = props.form
  return (
    <PostForm
      action={paths.accountPassword}
      csrf={props.shell.csrf}
      form={props.form}
      above={
        <>
          <h2>Change password</h2>
          <p class="hint">Changing the password ends all your other sessions.</p>
        </>
      }
      button="Change password"
    >
      {/* Password managers read this field to know whose password the form changes. */}
      <input type="email" value={attribute(props.email)} autocomplete="username" readonly hidden />
      <PasswordField
        name="own_password"
        label="Current password"
        autocomplete="current-password"
        fault={faults.own_password}
      />
      <PasswordField
        name="password"
        label="New password"
        hint={`At least ${props.passwordCharsMin} characters, for example a few random words.`}
        autocomplete="new-password"
        charsMin={props.passwordCharsMin}
        fault={faults.password}
      />
    </PostForm>
  )
}

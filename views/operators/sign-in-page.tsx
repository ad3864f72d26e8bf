import { Layout } from '../frame/layout.tsx'
import { PasswordField, PostForm, TextField } from '../parts/field.tsx'
import { attribute } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { Form, Shell, SignInField } from '../types.ts'

export const SignInPage = (props: {
  readonly shell: Shell
  readonly form: Form<SignInField>
  /** The path to open. The server checks it after the sign-in, because anyone can change a hidden field. */
  readonly next: string
  /** A form that came after the end of its session. Blank: none. */
  readonly kept: string
  /** There is no account yet. */
  readonly isFresh: boolean
  readonly program: string
}): JSX.Element => (
  <Layout shell={props.shell} title="Sign in" narrow>
    <h1>Sign in</h1>
    {props.isFresh ? (
      <p class="notice calm">
        There is no account yet. Open the one-time link that the service printed when it started. To create a new link,
        run this on the machine of the service: <code safe>{`${props.program} operator link`}</code>
      </p>
    ) : null}
    <PostForm action={paths.signIn} csrf={props.shell.csrf} form={props.form} button="Sign in">
      <input type="hidden" name="next" value={attribute(props.next)} />
      {props.kept === '' ? null : <input type="hidden" name="kept" value={attribute(props.kept)} />}
      <TextField
        form={props.form}
        name="email"
        type="email"
        label="E-mail"
        autocomplete="username"
        required
        autofocus
      />
      <PasswordField name="password" label="Password" autocomplete="current-password" />
    </PostForm>
    <p class="quiet">
      Lost your password? Ask an admin for a one-time link. Or run this on the machine of the service:
    </p>
    <pre tabindex="0">
      <code>
        <span safe>{props.program}</span> operator link <span class="unbroken">--email you@example.com</span>
      </code>
    </pre>
  </Layout>
)

/** Sends the form to its own address, whose page shows it again. Without a warning to read, `app.js` presses the button at once. */
export const OpenFormPage = (props: {
  readonly shell: Shell
  readonly action: string
  readonly fields: readonly (readonly [name: string, text: string])[]
}): JSX.Element => (
  <Layout shell={props.shell} title="Signed in" narrow>
    <h1>You are signed in again</h1>
    <form
      method="post"
      action={attribute(props.action)}
      class="card"
      data-goes-on={props.shell.notice === null ? 'now' : 'asked'}
    >
      <p>Your form was not sent yet. Open it, check the fields, then send it.</p>
      {props.fields.map(([name, text]) => (
        <input type="hidden" name={attribute(name)} value={attribute(text)} />
      ))}
      <div class="form-end">
        <button type="submit">Open the form</button>
        <a href={paths.cellars}>Discard it</a>
      </div>
    </form>
  </Layout>
)

import type { Role } from '../../src/domain/events.ts'
import { Layout } from '../frame/layout.tsx'
import { PasswordField, PostForm, TextField } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { Form, SetPasswordField, Shell } from '../types.ts'

export type LinkPurpose =
  /** The person who opens the link chooses an e-mail. `isFirst`: there is no account yet. */
  | { readonly kind: 'set_up'; readonly role: Role; readonly isFirst: boolean }
  | { readonly kind: 'join'; readonly email: string; readonly role: Role }
  | { readonly kind: 'reset'; readonly email: string }

/** Mail scanners open links, so only setting a password uses the link up. */
export const LinkPage = (props: {
  readonly shell: Shell
  readonly secret: string
  readonly purpose: LinkPurpose
  readonly form: Form<SetPasswordField>
  readonly passwordCharsMin: number
}): JSX.Element => {
  const { purpose, form } = props
  return (
    <Layout shell={props.shell} title={titleOf(purpose)} narrow>
      <h1 safe>{titleOf(purpose)}</h1>
      <p class="lead" safe>
        {leadOf(purpose)}
      </p>
      <PostForm action={paths.link(props.secret)} csrf={props.shell.csrf} form={form} button={buttonOf(purpose)}>
        {purpose.kind === 'set_up' ? (
          <TextField
            form={form}
            name="email"
            type="email"
            label="E-mail"
            hint="You sign in with this e-mail. No mail is sent."
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
          hint={`At least ${props.passwordCharsMin} characters, for example a few random words. Do not use a common password, your e-mail, the name Cellarbook or the name of a cellar.`}
          autocomplete="new-password"
          charsMin={props.passwordCharsMin}
          fault={form.faults.password}
          autofocus={purpose.kind !== 'set_up'}
        />
      </PostForm>
    </Layout>
  )
}

/** The link decides the e-mail. It is a field, because password managers read it. */
const GivenEmail = (props: { readonly email: string }): JSX.Element => (
  <div class="field">
    <label for="field-email">E-mail</label>
    <p class="hint">
      You sign in with <Name text={props.email} />
    </p>
    <input id="field-email" name="email" type="email" value={attribute(props.email)} autocomplete="username" readonly />
  </div>
)

const titleOf = (purpose: LinkPurpose): string => {
  if (purpose.kind === 'reset') return 'Choose a new password'
  return isFirst(purpose) ? 'Set up Cellarbook' : 'Join Cellarbook'
}

const buttonOf = (purpose: LinkPurpose): string => {
  if (purpose.kind === 'reset') return 'Set password and sign in'
  return isFirst(purpose) ? 'Set up and sign in' : 'Set password and sign in'
}

const isFirst = (purpose: LinkPurpose): boolean => purpose.kind === 'set_up' && purpose.isFirst

const leadOf = (purpose: LinkPurpose): string => {
  switch (purpose.kind) {
    case 'set_up':
      return `You will be ${purpose.isFirst ? 'the first operator, and ' : ''}an ${purpose.role}: ${roleMeanings[purpose.role]}.`
    case 'join':
      return `You are invited as an ${purpose.role}: ${roleMeanings[purpose.role]}. Choose a password to sign in.`
    case 'reset':
      return 'Setting a new password ends all your open sessions.'
    default:
      return unknownPurpose(purpose)
  }
}

const unknownPurpose = (purpose: never): never => {
  throw new Error(`Cannot say what a link is for: ${JSON.stringify(purpose)}`)
}

const roleMeanings: Readonly<Record<Role, string>> = {
  admin: 'you can create cellars and keys, and invite others',
  auditor: 'you can see everything, but change nothing',
}

export const LinkSpentPage = (props: { readonly shell: Shell; readonly program: string }): JSX.Element => (
  <Layout shell={props.shell} title="This link no longer works" narrow>
    <h1>This link no longer works</h1>
    <p class="lead">A one-time link works once, and only until it expires.</p>
    <div class="card">
      <p>
        If you have already used this link, <a href={paths.signIn}>sign in</a> with the password that you chose.
        Otherwise, ask an admin for a new link, or run this on the machine of the service:
      </p>
      <pre tabindex="0">
        <code safe>{`${props.program} operator link --email you@example.com`}</code>
      </pre>
    </div>
  </Layout>
)

import type { Children } from '@kitajs/html'
import type { Form } from '../types.ts'
import { attribute, Name } from './name.tsx'

export const Csrf = (props: { readonly token: string }): JSX.Element => (
  <input type="hidden" name="_csrf" value={attribute(props.token)} />
)

/**
 * A form that only asks, so its answer has an address. `app.js` cuts off the secrets of keys and sends the form by GET.
 * Without JavaScript, it is sent by POST, and the service cuts them off (`asked-by-form.ts`).
 */
export const AskForm = (props: {
  readonly action: string
  readonly token: string
  readonly class: string
  readonly children: Children
}): JSX.Element => (
  <form method="post" action={attribute(props.action)} class={props.class} data-asks="">
    <Csrf token={props.token} />
    {props.children}
  </form>
)

/**
 * The values at the opening of the form, so that only edited fields are saved. With `autocomplete`, untouched fields would
 * look edited.
 */
export const Shown = (props: { readonly text: string }): JSX.Element => (
  <input type="hidden" name="_shown" value={attribute(props.text)} autocomplete="off" />
)

type Wording = {
  readonly label: string
  readonly hint?: string
}

/** A screen reader reads an `alert` at once, even far from the button. */
export const FormFault = (props: { readonly fault: string | undefined }): JSX.Element =>
  props.fault === undefined ? (
    ''
  ) : (
    <p class="fault-box" role="alert">
      <Name text={props.fault} />
    </p>
  )

export const TextField = <Field extends string>(
  props: Wording & {
    readonly form: Form<Field>
    readonly name: Field
    readonly type?: 'text' | 'email' | 'date'
    /** Phones show a keyboard of digits. The type stays `text`, so that a refused input can be shown as it was typed. */
    readonly numeric?: boolean
    readonly required?: boolean
    readonly autofocus?: boolean
    readonly autocomplete?: string
    readonly placeholder?: string
    /** Without the word "optional", which the heading of the group says. */
    readonly quiet?: boolean
  },
): JSX.Element => {
  const fault = props.form.faults[props.name]
  return (
    <FieldFrame
      name={props.name}
      label={props.label}
      hint={props.hint}
      fault={fault}
      required={props.required || props.quiet}
    >
      <input
        id={`field-${props.name}`}
        name={props.name}
        type={props.type ?? 'text'}
        value={attribute(props.form.values[props.name])}
        required={props.required}
        autofocus={props.autofocus}
        autocomplete={props.autocomplete ?? 'off'}
        placeholder={props.placeholder}
        inputmode={props.numeric ? 'numeric' : undefined}
        spellcheck="false"
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={describedBy(props.name, props.hint, fault)}
      />
    </FieldFrame>
  )
}

export const PasswordField = (
  props: Wording & {
    readonly name: 'password' | 'password_again' | 'own_password'
    readonly autocomplete: 'current-password' | 'new-password'
    readonly fault?: string | undefined
    readonly charsMin?: number
    readonly autofocus?: boolean
    readonly mayBeBlank?: boolean
  },
): JSX.Element => (
  <FieldFrame name={props.name} label={props.label} hint={props.hint} fault={props.fault} required>
    <input
      id={`field-${props.name}`}
      name={props.name}
      type="password"
      required={props.mayBeBlank !== true}
      minlength={props.charsMin}
      autofocus={props.autofocus}
      autocomplete={props.autocomplete}
      aria-invalid={props.fault === undefined ? undefined : 'true'}
      aria-describedby={describedBy(props.name, props.hint, props.fault)}
    />
  </FieldFrame>
)

/** The HTML parser drops the first newline of a textarea, so one is added. */
export const NoteField = <Field extends string>(
  props: Wording & { readonly form: Form<Field>; readonly name: Field; readonly rows: number },
): JSX.Element => {
  const fault = props.form.faults[props.name]
  return (
    <FieldFrame name={props.name} label={props.label} hint={props.hint} fault={fault}>
      <textarea
        id={`field-${props.name}`}
        name={props.name}
        rows={String(props.rows)}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={describedBy(props.name, props.hint, fault)}
        safe
      >
        {`\n${props.form.values[props.name]}`}
      </textarea>
    </FieldFrame>
  )
}

export const describedBy = (name: string, hint: string | undefined, fault: string | undefined): string | undefined => {
  const ids = [...(hint === undefined ? [] : [`hint-${name}`]), ...(fault === undefined ? [] : [`fault-${name}`])]
  return ids.length === 0 ? undefined : ids.join(' ')
}

const FieldFrame = (props: {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault: string | undefined
  readonly required?: boolean | undefined
  readonly children: Children
}): JSX.Element => (
  <div class={props.fault === undefined ? 'field' : 'field refused'}>
    <label for={`field-${props.name}`}>
      <span safe>{props.label}</span>
      {props.required ? null : <span class="optional">optional</span>}
    </label>
    {props.hint === undefined ? null : (
      <p class="hint" id={`hint-${props.name}`} safe>
        {props.hint}
      </p>
    )}
    {props.children}
    <FieldFault name={props.name} fault={props.fault} />
  </div>
)

export const FieldFault = (props: { readonly name: string; readonly fault: string | undefined }): JSX.Element =>
  props.fault === undefined ? (
    ''
  ) : (
    <p class="fault" id={`fault-${props.name}`}>
      <Name text={props.fault} />
    </p>
  )

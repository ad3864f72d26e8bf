import type { Children } from '@kitajs/html'
import type { Form } from '../types.ts'
import { attribute, Name } from './name.tsx'

export const Csrf = (props: { readonly token: string }): JSX.Element => (
  <input type="hidden" name="_csrf" value={attribute(props.token)} />
)

/**
 * The values at the opening of the form, so that only edited fields are saved. With `autocomplete`, untouched fields would
 * look edited.
 */
export const Shown = (props: { readonly text: string }): JSX.Element => (
  <input type="hidden" name="_shown" value={attribute(props.text)} autocomplete="off" />
)

/** kitajs knows `autofocus` for controls only. */
const focused = { tabindex: '-1', autofocus: true } as const

/**
 * A screen reader reads an `alert` at once, even far from the button. Like a wrong field, it gets the focus, so that the
 * browser scrolls to it.
 */
export const FormFault = (props: { readonly fault: string | undefined }): JSX.Element =>
  props.fault === undefined ? (
    ''
  ) : (
    <p class="fault-box" role="alert" {...focused}>
      <Name text={props.fault} />
    </p>
  )

/** `above` comes before the fault of the form. */
export const PostForm = (props: {
  readonly action: string
  readonly csrf: string
  /** Default: `card`. */
  readonly class?: string
  readonly form: { readonly faults: { readonly form?: string }; readonly shown?: string }
  readonly above?: Children
  readonly button: string
  /** Leads back without a change. */
  readonly cancel?: string
  readonly children: Children
}): JSX.Element => {
  const { form, cancel } = props
  return (
    <form
      method="post"
      action={props.action}
      class={props.class ?? 'card'}
      autocomplete={form.shown === undefined ? undefined : 'off'}
    >
      {props.above}
      <Csrf token={props.csrf} />
      {form.shown === undefined ? null : <Shown text={form.shown} />}
      <FormFault fault={form.faults.form} />
      {props.children}
      <div class="form-end">
        <button type="submit" safe>
          {props.button}
        </button>
        {cancel === undefined ? null : <a href={cancel}>Cancel</a>}
      </div>
    </form>
  )
}

type FieldProps = {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  /** Without the word "optional". */
  readonly isQuiet?: boolean | undefined
}

export const TextField = <Field extends string>(
  props: Omit<FieldProps, 'name' | 'fault'> & {
    readonly form: Form<Field>
    readonly name: Field
    readonly type?: 'text' | 'email'
    /** Phones show a keyboard of digits. The type stays `text`, so that a refused input can be shown as it was typed. */
    readonly numeric?: boolean
    /** For names and codes: phones begin no word with a capital letter. */
    readonly isExact?: boolean
    readonly required?: boolean
    readonly autofocus?: boolean
    readonly autocomplete?: string
    readonly placeholder?: string
    /** The id of the `datalist` with suggestions. */
    readonly list?: string | undefined
  },
): JSX.Element => {
  const field = { ...props, fault: props.form.faults[props.name] }
  return (
    <FieldFrame {...field} isQuiet={props.required || props.isQuiet}>
      <input
        {...inputOf(field)}
        type={props.type ?? 'text'}
        value={attribute(props.form.values[props.name])}
        required={props.required}
        autofocus={Object.keys(props.form.faults).length === 0 ? props.autofocus : field.fault !== undefined}
        autocomplete={props.autocomplete ?? 'off'}
        autocapitalize={props.isExact ? 'off' : undefined}
        placeholder={props.placeholder}
        inputmode={props.numeric ? 'numeric' : undefined}
        list={props.list}
        spellcheck="false"
      />
    </FieldFrame>
  )
}

/** A new password has a button that shows it, instead of a second field. `app.js` reveals the button. */
export const PasswordField = (
  props: Omit<FieldProps, 'isQuiet'> & {
    readonly name: 'password' | 'own_password'
    readonly autocomplete: 'current-password' | 'new-password'
    readonly charsMin?: number
    readonly autofocus?: boolean
    readonly mayBeBlank?: boolean
  },
): JSX.Element => (
  <FieldFrame {...props} isQuiet>
    <div class="password">
      <input
        {...inputOf(props)}
        type="password"
        required={props.mayBeBlank !== true}
        minlength={props.charsMin}
        autofocus={props.autofocus || props.fault !== undefined}
        autocomplete={props.autocomplete}
        autocapitalize="off"
        spellcheck="false"
      />
      {props.autocomplete === 'new-password' ? (
        <button type="button" class="secondary" data-shows={`#field-${props.name}`} hidden>
          <span>Show</span>
          <span class="visually-hidden"> password</span>
        </button>
      ) : null}
    </div>
  </FieldFrame>
)

/** The HTML parser drops the first newline of a textarea, so one is added. */
export const NoteField = <Field extends string>(props: {
  readonly form: Form<Field>
  readonly name: Field
  readonly label: string
  readonly rows: number
}): JSX.Element => {
  const field = { ...props, fault: props.form.faults[props.name] }
  return (
    <FieldFrame {...field}>
      <textarea {...inputOf(field)} rows={String(props.rows)} safe>
        {`\n${props.form.values[props.name]}`}
      </textarea>
    </FieldFrame>
  )
}

/** Of any control. A wrong one gets the focus. */
export const inputOf = ({ name, hint, fault }: Pick<FieldProps, 'name' | 'hint' | 'fault'>) => ({
  id: `field-${name}`,
  name,
  autofocus: fault !== undefined,
  'aria-invalid': fault === undefined ? undefined : 'true',
  'aria-describedby':
    [hint === undefined ? '' : `hint-${name}`, fault === undefined ? '' : `fault-${name}`].join(' ').trim() ||
    undefined,
})

const FieldFrame = (props: FieldProps & { readonly children: Children }): JSX.Element => (
  <div class={props.fault === undefined ? 'field' : 'field refused'}>
    <label for={`field-${props.name}`}>
      <span safe>{props.label}</span>
      {props.isQuiet ? null : <span class="optional">optional</span>}
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

/** Radio buttons. `children` come after them. */
export const Choices = (props: {
  readonly name: string
  readonly legend: string
  readonly hint?: string | undefined
  readonly choices: readonly (readonly [value: string, words: string])[]
  readonly chosen: string | undefined
  /** Also without a fault of these buttons: a field in `children` has one. */
  readonly isRefused?: boolean
  readonly required?: boolean
  readonly fault?: string | undefined
  readonly children?: Children
}): JSX.Element => {
  const chosen = props.choices.find(([value]) => value === props.chosen)?.[0]
  return (
    <fieldset class={props.fault === undefined && !props.isRefused ? 'field' : 'field refused'}>
      <legend safe>{props.legend}</legend>
      {props.hint === undefined ? null : (
        <p class="hint" safe>
          {props.hint}
        </p>
      )}
      <div class="choices">
        {props.choices.map(([value, words]) => (
          <label class="choice">
            <input
              type="radio"
              id={`${props.name}-${value}`}
              name={props.name}
              value={value}
              checked={props.chosen === value}
              required={props.required}
              autofocus={props.fault !== undefined && value === (chosen ?? props.choices[0]?.[0])}
            />
            <span safe>{words}</span>
          </label>
        ))}
      </div>
      {props.children}
      <FieldFault name={props.name} fault={props.fault} />
    </fieldset>
  )
}

export const FieldFault = (props: { readonly name: string; readonly fault: string | undefined }): JSX.Element =>
  props.fault === undefined ? (
    ''
  ) : (
    <p class="fault" id={`fault-${props.name}`}>
      <Name text={props.fault} />
    </p>
  )

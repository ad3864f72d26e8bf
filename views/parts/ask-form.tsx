import type { Children } from '@kitajs/html'
import { Csrf } from './field.tsx'
import { attribute } from './name.tsx'

/**
 * A form that only asks, so its answer has an address. `app.js` cuts off the secrets of keys and sends the form by GET.
 * Without JavaScript, it is sent by POST, and the service cuts them off (`asked-by-form.ts`).
 */
export const AskForm = (props: {
  readonly action: string
  readonly token: string
  readonly class: string
  /** Sent, but not shown. */
  readonly fields?: Fields | undefined
  readonly children: Children
}): JSX.Element => (
  <form method="post" action={attribute(props.action)} class={props.class} data-asks="">
    <Csrf token={props.token} />
    <HiddenFields fields={props.fields ?? []} />
    {props.children}
  </form>
)

type Fields = readonly (readonly [name: string, text: string])[]

export const HiddenFields = (props: { readonly fields: Fields }): JSX.Element => (
  <>
    {props.fields.map(([name, text]) => (
      <input type="hidden" name={name} value={attribute(text)} autocomplete="off" />
    ))}
  </>
)

/** `children` come after the form. */
export const SearchBox = (props: {
  readonly action: string
  readonly token: string
  readonly class: string
  readonly name: string
  readonly label: string
  readonly isLabelHidden?: boolean
  readonly typed: string
  readonly placeholder: string
  /** The id of an element that shows examples. */
  readonly describedBy?: string
  readonly isSecondary?: boolean
  /** Selects the part of the page that shows the answer as one types. By POST, because people paste secrets. */
  readonly asTyped?: string
  readonly fields?: Fields
  /** Leads back to the list without a search. */
  readonly showAll?: string | undefined
  readonly children?: Children
}): JSX.Element => (
  <search>
    <AskForm action={props.action} token={props.token} class={props.class} fields={props.fields}>
      <label for={`field-${props.name}`} class={props.isLabelHidden ? 'visually-hidden' : undefined} safe>
        {props.label}
      </label>
      <input
        id={`field-${props.name}`}
        name={props.name}
        type="search"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        value={attribute(props.typed)}
        placeholder={props.placeholder}
        aria-describedby={props.describedBy}
        aria-keyshortcuts="/"
        title="The key / leads here."
        {...(props.asTyped === undefined ? {} : asTyped(props.action, props.asTyped))}
      />
      <button type="submit" class={props.isSecondary ? 'secondary' : undefined}>
        Find
      </button>
      {props.showAll === undefined ? null : <a href={attribute(props.showAll)}>Show all</a>}
    </AskForm>
    {props.children}
  </search>
)

const asTyped = (action: string, part: string) => ({
  'hx-post': action,
  'hx-trigger': 'input changed delay:200ms',
  'hx-include': 'closest form',
  'hx-target': part,
  'hx-select': part,
  'hx-swap': 'outerHTML',
  'hx-sync': 'this:replace',
})

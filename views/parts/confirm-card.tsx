import type { Children } from '@kitajs/html'
import { Csrf, FormFault } from './field.tsx'

/** `assets/app.js` finds this card by its id, and shows it in a dialog. */
export const ConfirmCard = (props: {
  readonly title: Children
  readonly children: Children
  readonly csrf: string
  readonly action: string
  readonly fault: string | undefined
  readonly fields?: Children
  readonly button: string
  readonly isDangerous: boolean
  readonly cancel: string
}): JSX.Element => (
  <section id="confirm" class="card confirm" aria-labelledby="confirm-title">
    <h1 id="confirm-title">{props.title}</h1>
    {props.children}
    <form method="post" action={props.action}>
      <Csrf token={props.csrf} />
      <FormFault fault={props.fault} />
      {props.fields}
      <div class="form-end">
        <button type="submit" class={props.isDangerous ? 'danger' : undefined} safe>
          {props.button}
        </button>
        <a href={props.cancel} data-dialog-close>
          Cancel
        </a>
      </div>
    </form>
  </section>
)

import type { Children } from '@kitajs/html'
import { Csrf, FormFault } from './field.tsx'

/** Asks before it acts. A script shows it in a dialog, in the place of its page. */
export const ConfirmCard = (props: {
  /** The question. */
  readonly title: Children
  /** What follows from it. */
  readonly children: Children
  readonly csrf: string
  readonly action: string
  /** What is wrong with the form as a whole. */
  readonly fault: string | undefined
  readonly fields?: Children
  readonly button: string
  readonly isDangerous: boolean
  /** Where the page leads that is left without the act. */
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

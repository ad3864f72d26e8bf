import { Name } from './name.tsx'

/** A link to the page that asks for confirmation. With JavaScript, the question opens in a dialog. */
export const ActionLink = (props: {
  readonly href: string
  readonly verb: string
  /** Many links on a page have the same verb, so screen readers also read this text. */
  readonly of: string
  readonly isDangerous?: boolean
}): JSX.Element => (
  <li>
    <a class={props.isDangerous ? 'action danger' : 'action'} href={props.href} data-dialog>
      <span safe>{props.verb}</span>
      <Name class="visually-hidden" text={` ${props.of}`} />
    </a>
  </li>
)

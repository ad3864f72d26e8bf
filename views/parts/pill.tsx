import type { Children } from '@kitajs/html'

export type PillLook = 'active' | 'expired' | 'suspended' | 'revoked' | 'soon'

/** A word, a colour and a shape, so that nobody depends on the colour alone. */
export const Pill = (props: {
  readonly look: PillLook
  readonly word?: string
  readonly children?: Children
}): JSX.Element => (
  <span class={`pill ${props.look}`}>
    <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false">
      <path d={shapes[props.look]} fill-rule="evenodd" />
    </svg>
    {props.word === undefined ? props.children : <span safe>{props.word}</span>}
  </span>
)

const shapes: Readonly<Record<PillLook, string>> = {
  active: 'M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0-10z',
  expired: 'M0 0h10L5 5l5 5H0l5-5z',
  suspended: 'M1 0h3v10H1zM6 0h3v10H6z',
  soon: 'M5 0l5 10H0zM4.3 3.6h1.4v3H4.3zM4.3 7.6h1.4v1.2H4.3z',
  revoked: 'M1.5 0L5 3.5L8.5 0L10 1.5L6.5 5L10 8.5L8.5 10L5 6.5L1.5 10L0 8.5L3.5 5L0 1.5z',
}

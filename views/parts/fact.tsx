import type { Children } from '@kitajs/html'

export const Fact = (props: {
  readonly term: string
  readonly isWide?: boolean
  readonly children: Children
}): JSX.Element => (
  <div class={props.isWide ? 'wide-fact' : undefined}>
    <dt safe>{props.term}</dt>
    <dd>{props.children}</dd>
  </div>
)

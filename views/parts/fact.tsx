import type { Children } from '@kitajs/html'

/** One term and its description, in a `<dl class="facts">`. */
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

import { attribute } from '../parts/name.tsx'
import { paths } from '../paths.ts'

/** Like `readings-7Qp2mZ4k@976`. */
export const ReceiptLink = (props: {
  readonly event: { readonly stream: string; readonly revision: number }
  readonly class?: string
}): JSX.Element => {
  const { stream, revision } = props.event
  return (
    <a href={attribute(paths.event(stream, revision))} class={props.class}>
      <code class="receipt" safe>{`${stream}@${revision}`}</code>
    </a>
  )
}

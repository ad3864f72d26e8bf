import { attribute } from '../parts/name.tsx'
import { paths } from '../paths.ts'

/** Shows a place in the log, like `readings-7Qp2mZ4k@976`, and leads to the page of the event there. */
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

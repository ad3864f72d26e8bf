import type { Shell } from '../types.ts'
import { Layout } from './layout.tsx'

/** `safeHtml` is not escaped, so it must come from a file of this repository, never from a request. */
export const DocumentPage = (props: {
  readonly shell: Shell
  readonly title: string
  readonly safeHtml: string
}): JSX.Element => {
  const { safeHtml } = props
  return (
    <Layout shell={props.shell} title={props.title} section="guide">
      <article class="document">{safeHtml}</article>
    </Layout>
  )
}

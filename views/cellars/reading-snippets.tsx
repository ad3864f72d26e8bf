import { Copyable } from '../parts/copyable.tsx'
import { paths } from '../paths.ts'
import { javascriptReading, pythonReading, type Snippet, shellReading } from './snippets.ts'

/**
 * These snippets name the environment variable that holds the key, and never contain the key. So a copied snippet reveals no
 * secret.
 */
export const ReadingSnippets = (props: { readonly snippet: Snippet; readonly shellLabel: string }): JSX.Element => (
  <>
    <Copyable id="shell-reading" label={props.shellLabel} text={shellReading(props.snippet)} what="command" />
    <details>
      <summary>The same in Python</summary>
      <Copyable
        id="python-reading"
        label="Export CELLARBOOK_KEY first:"
        text={pythonReading(props.snippet)}
        what="Python"
      />
    </details>
    <details>
      <summary>The same in JavaScript</summary>
      <Copyable
        id="javascript-reading"
        label="For Node, Bun or Deno. Export CELLARBOOK_KEY first:"
        text={javascriptReading(props.snippet)}
        what="JavaScript"
      />
    </details>
    <p class="quiet">
      The <a href={paths.devicesGuide}>device guide</a> explains every answer, and which requests to retry.
    </p>
  </>
)

import { Copyable } from '../parts/copyable.tsx'
import { paths } from '../paths.ts'
import { javascriptCheck, pythonCheck, type Snippet, shellCheck, shellReading } from './snippets.ts'

/**
 * Each language begins with a check, so a mistake leaves no reading in the cellar. The snippets name the environment
 * variable that holds the key, so a copied snippet reveals no secret.
 */
export const ReadingSnippets = (props: {
  readonly snippet: Snippet
  readonly checkLabel: string
  /** The page already shows a command that stores a reading. */
  readonly isCheckOnly?: boolean
}): JSX.Element => (
  <>
    <Copyable id="shell-check" label={props.checkLabel} text={shellCheck(props.snippet)} what="check" />
    {props.isCheckOnly ? null : (
      <Copyable
        id="shell-reading"
        label="When the answer is “Reading would be stored.”, store the reading:"
        text={shellReading(props.snippet)}
        what="command"
      />
    )}
    <details>
      <summary>The same in Python</summary>
      <Copyable
        id="python-check"
        label="Export CELLARBOOK_KEY first:"
        text={pythonCheck(props.snippet)}
        what="Python"
      />
    </details>
    <details>
      <summary>The same in JavaScript</summary>
      <Copyable
        id="javascript-check"
        label="For Node, Bun or Deno. Export CELLARBOOK_KEY first:"
        text={javascriptCheck(props.snippet)}
        what="JavaScript"
      />
    </details>
    <p class="quiet">
      The <a href={paths.devicesGuide}>device guide</a> explains every answer, and which requests to retry.
    </p>
  </>
)

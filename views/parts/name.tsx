import { escapeHtml } from '@kitajs/html'
import { codeOf, mayHide, piecesOf } from '../../src/hidden-characters.ts'

/**
 * A text that a person or device chose. `<bdi>` keeps Hebrew or Arabic from reordering its neighbours. Hidden
 * characters are marked, because with them two different names could look the same.
 */
export const Name = (props: { readonly text: string; readonly class?: string }): JSX.Element =>
  mayHide(props.text) ? (
    <bdi class={props.class}>
      {piecesOf(props.text).map((piece) =>
        piece.hidden ? <HiddenCharacter character={piece.text} /> : escapeHtml(piece.text),
      )}
    </bdi>
  ) : (
    <bdi class={props.class} safe>
      {props.text}
    </bdi>
  )

const HiddenCharacter = (props: { readonly character: string }): JSX.Element => {
  const code = codeOf(props.character)
  return (
    <span class="hidden-character" role="img" aria-label={`hidden character ${code}`} title="Hidden character" safe>
      {code}
    </span>
  )
}

/**
 * Prepares a typed text for an attribute. kitajs escapes only quotes there, so a typed `&quot;` would come back as
 * `"`.
 */
export const attribute = (text: string): string => text.replaceAll('&', '&amp;')

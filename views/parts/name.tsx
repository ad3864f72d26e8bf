import { escapeHtml } from '@kitajs/html'
import { codeOf, mayHide, piecesOf } from '../../src/hidden-characters.ts'

/**
 * For a text that a person or device chose. With `<bdi>`, Hebrew or Arabic cannot change the order of the words beside it.
 * With hidden characters, two different names could look the same.
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

/** In an attribute, kitajs escapes only quotes, so the browser would show a typed `&quot;` as `"`. */
export const attribute = (text: string): string => text.replaceAll('&', '&amp;')

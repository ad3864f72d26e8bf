/**
 * Characters that nobody sees, or that change how the text around them is shown: control characters, zero-width and
 * direction characters, tag characters, fillers. With one of them a name can look like another name, and text can steer a
 * terminal. Pages mark them (`views/parts/name.tsx`), the terminal and the log lines show them as `\u200b`.
 *
 * An emoji keeps its joiners and its style: without them it would be another picture.
 */
const emoji = String.raw`\p{RGI_Emoji}`
/** Unicode's list of characters that are not shown, and others that look empty: separators, a blank Braille cell. */
const hidden = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]`
/** Without a letter before it, a combining mark is drawn over the text before the name. */
const leadingMark = String.raw`(?<=^|\s|${hidden})\p{M}+`

const hiddenAnywhere = new RegExp(`${hidden}|(?:^|\\s)\\p{M}`, 'v')
const emojiOrHidden = new RegExp(`(${emoji})|${hidden}|${leadingMark}`, 'gv')
const emojiOrSteering = new RegExp(`(${emoji})|${hidden}|${leadingMark}|\\p{Cc}`, 'gv')

/** A piece of a name: text as it is, or one hidden character. */
export type NamePiece = { readonly text: string; readonly hidden: boolean }

/** A quick check first: nearly every name has nothing to mark. It may be `true` for an emoji that needs no mark. */
export const mayHide = (name: string): boolean => hiddenAnywhere.test(name)

/** The pieces of a name in order. Control characters stay as they are: no name has one, and a note has its lines. */
export const piecesOf = (name: string): readonly NamePiece[] => {
  const pieces: NamePiece[] = []
  let shownTo = 0
  for (const match of name.matchAll(emojiOrHidden)) {
    if (match[1] !== undefined) continue
    if (match.index > shownTo) pieces.push({ text: name.slice(shownTo, match.index), hidden: false })
    for (const character of match[0]) pieces.push({ text: character, hidden: true })
    shownTo = match.index + match[0].length
  }
  if (shownTo < name.length) pieces.push({ text: name.slice(shownTo), hidden: false })
  return pieces
}

/** `U+200B`. */
export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A name as plain text, for instance in the title of a document: `cellar[U+200B]`. */
export const plainName = (name: string): string =>
  mayHide(name)
    ? piecesOf(name)
        .map(({ text, hidden }) => (hidden ? `[${codeOf(text)}]` : text))
        .join('')
    : name

/** Text for a terminal: each hidden or control character as `\u001b`. Inside JSON such an escape means the same character. */
export const escapeHidden = (text: string): string =>
  text.replace(emojiOrSteering, (found: string, emoji: string | undefined) => emoji ?? escapedUnits(found))

const escapedUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** One line of text in which every such character is written as `\u001b`. */
export const visibleText = (text: string): string => escapeHidden(text.toWellFormed())

/** The same for several lines that this program wrote. Use it only if no line comes from outside. */
export const visibleLines = (text: string): string => text.split('\n').map(visibleText).join('\n')

/** JSON on one line. Inside JSON the same escapes are mere spelling: what is parsed from it is the value as it was. */
export const visibleJson = (value: unknown): string => escapeHidden(JSON.stringify(value))

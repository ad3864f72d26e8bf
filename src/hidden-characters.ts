/**
 * Hidden characters can make one name look like another, or control a terminal. Pages mark hidden characters
 * (`views/parts/name.tsx`). Terminals and log lines show escapes like `\u200b`. Some emoji contain hidden characters that join
 * their parts. These joining characters stay, because without them the emoji becomes another picture.
 */
const emoji = String.raw`\p{RGI_Emoji}`
/** Matches one character of Unicode's list of invisible characters, or another character that looks empty. */
const hidden = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]`
/** A combining mark, such as an accent, without a letter is drawn over the text before the name. */
const leadingMark = String.raw`(?<=^|\s|${hidden})\p{M}+`

const hiddenAnywhere = new RegExp(`${hidden}|(?:^|\\s)\\p{M}`, 'v')
const emojiOrHidden = new RegExp(`(${emoji})|${hidden}|${leadingMark}`, 'gv')
const emojiOrSteering = new RegExp(`(${emoji})|${hidden}|${leadingMark}|\\p{Cc}`, 'gv')

/** If `hidden` is true, the piece is one hidden character, which a page marks. */
export type NamePiece = { readonly text: string; readonly hidden: boolean }

/**
 * A quick check. If the result is false, the name has no hidden character, so `piecesOf` is not needed. The result is also true
 * for some emoji, which need no mark.
 */
export const mayHide = (name: string): boolean => hiddenAnywhere.test(name)

/** Control characters count as visible, because names have none, and the line breaks of notes must stay. */
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

/** Returns text like `U+200B`. */
export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Returns text like `cellar[U+200B]`, for titles, in which a page cannot mark a character. */
export const plainName = (name: string): string =>
  mayHide(name)
    ? piecesOf(name)
        .map(({ text, hidden }) => (hidden ? `[${codeOf(text)}]` : text))
        .join('')
    : name

/** Nearly every line of an export is such a text, in which the long expression would find nothing. */
const isPrintableAscii = /^[ -~]*$/

/** Escapes hidden and control characters. A line of JSON keeps its meaning, because a parser turns the escapes back. */
export const escapeHidden = (text: string): string =>
  isPrintableAscii.test(text)
    ? text
    : text.replace(emojiOrSteering, (found: string, emoji: string | undefined) => emoji ?? escapedUnits(found))

const escapedUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** Use this function for text from people, devices or the store, in which a line break could fake a line of output. */
export const visibleText = (text: string): string => escapeHidden(text.toWellFormed())

/**
 * Keeps line breaks. Use it only for text that this program writes: in other text a line break could fake a line of output.
 */
export const visibleLines = (text: string): string => text.split('\n').map(visibleText).join('\n')

export const visibleJson = (value: unknown): string => escapeHidden(JSON.stringify(value))

/**
 * Hidden characters can make one name look like another, or control a terminal. Pages mark them (`views/parts/name.tsx`).
 * The terminal and log lines show `\u200b`. An emoji keeps its hidden joiners: without them it is another picture.
 */
const emoji = String.raw`\p{RGI_Emoji}`
/** Unicode's list of invisible characters, and others that look empty. */
const hidden = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]`
/** A combining mark without a letter is drawn over the text before the name. */
const leadingMark = String.raw`(?<=^|\s|${hidden})\p{M}+`

const hiddenAnywhere = new RegExp(`${hidden}|(?:^|\\s)\\p{M}`, 'v')
const emojiOrHidden = new RegExp(`(${emoji})|${hidden}|${leadingMark}`, 'gv')
const emojiOrSteering = new RegExp(`(${emoji})|${hidden}|${leadingMark}|\\p{Cc}`, 'gv')

/** If `hidden` is true, the piece is one hidden character. */
export type NamePiece = { readonly text: string; readonly hidden: boolean }

/** A quick check before `piecesOf`. Also returns true for some emoji, which need no mark. */
export const mayHide = (name: string): boolean => hiddenAnywhere.test(name)

/** Control characters count as visible, because names have none, and notes have line breaks. */
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

/** Returns `U+200B`. */
export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Returns `cellar[U+200B]`, for titles of pages. */
export const plainName = (name: string): string =>
  mayHide(name)
    ? piecesOf(name)
        .map(({ text, hidden }) => (hidden ? `[${codeOf(text)}]` : text))
        .join('')
    : name

/** Also escapes control characters. Inside JSON, the escapes mean the same characters. */
export const escapeHidden = (text: string): string =>
  text.replace(emojiOrSteering, (found: string, emoji: string | undefined) => emoji ?? escapedUnits(found))

const escapedUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** For one line with text from people, devices or the store. */
export const visibleText = (text: string): string => escapeHidden(text.toWellFormed())

/** Keeps line breaks, so it is only for text of this program. */
export const visibleLines = (text: string): string => text.split('\n').map(visibleText).join('\n')

export const visibleJson = (value: unknown): string => escapeHidden(JSON.stringify(value))

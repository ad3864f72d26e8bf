/**
 * Hidden characters can make one name look like another, or control a terminal. Pages mark them (`views/parts/name.tsx`).
 * Terminals and log lines show escapes like `\u200b`. Those that join the parts of an emoji stay, because without them it
 * becomes another picture.
 */
const emoji = String.raw`\p{RGI_Emoji}`
/** Unicode's list of invisible characters, and others that look empty. */
const hidden = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]`
/** An accent without a letter is drawn over the text before the name. */
const leadingMark = String.raw`(?<=^|\s|${hidden})\p{M}+`

const hiddenAnywhere = new RegExp(`${hidden}|(?:^|\\s)\\p{M}`, 'v')
const emojiOrHidden = new RegExp(`(${emoji})|${hidden}|${leadingMark}`, 'gv')
const emojiOrSteering = new RegExp(`(${emoji})|${hidden}|${leadingMark}|\\p{Cc}`, 'gv')

/** A page marks a hidden piece. */
export type NamePiece = { readonly text: string; readonly hidden: boolean }

/** A quick test before `piecesOf`. If false, the name has no hidden character. True can be wrong for some emoji. */
export const mayHide = (name: string): boolean => hiddenAnywhere.test(name)

/** Control characters count as visible: names have none, and the line breaks of notes must stay. */
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

export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Like `cellar[U+200B]`, for titles, in which a page cannot mark a character. */
export const plainName = (name: string): string =>
  mayHide(name)
    ? piecesOf(name)
        .map(({ text, hidden }) => (hidden ? `[${codeOf(text)}]` : text))
        .join('')
    : name

/** Nearly every line of an export, in which the long expression would find nothing. */
const isPrintableAscii = /^[ -~]*$/

/** A line of JSON keeps its meaning, because a parser turns the escapes back. */
export const escapeHidden = (text: string): string =>
  isPrintableAscii.test(text)
    ? text
    : text.replace(emojiOrSteering, (found: string, emoji: string | undefined) => emoji ?? escapedUnits(found))

const escapedUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** For text from people, devices or the store, in which a line break could fake a line of output. */
export const visibleText = (text: string): string => escapeHidden(text.toWellFormed())

/** Keeps line breaks: only for text that this program writes. */
export const visibleLines = (text: string): string => text.split('\n').map(visibleText).join('\n')

export const visibleJson = (value: unknown): string => escapeHidden(JSON.stringify(value))

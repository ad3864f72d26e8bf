/**
 * Labels, names and notes are whatever a person or device sent. On a terminal, control characters move the cursor, set
 * the title or rewrite lines above, and bidirectional overrides make text read as another. Both are shown, never obeyed.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not reach a terminal
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** One line of text in which every such character is written as `\u001b`. */
export const visibleText = (text: string): string => text.toWellFormed().replace(unsafe, escaped)

/** JSON on one line. Inside JSON the same escapes are mere spelling: what is parsed from it is the value as it was. */
export const visibleJson = (value: unknown): string => JSON.stringify(value).replace(unsafe, escaped)

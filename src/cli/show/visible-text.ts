/**
 * Labels, names, notes and messages are texts that a person, a device or a store sent. On a terminal, control characters
 * move the cursor, set the title or rewrite lines above. So every text is escaped before it goes to stdout or stderr.
 */
import { escapeHidden } from '../../hidden-characters.ts'

/** One line of text in which every such character is written as `\u001b`. */
export const visibleText = (text: string): string => escapeHidden(text.toWellFormed())

/** The same for several lines that this program wrote. Use it only if no line comes from outside. */
export const visibleLines = (text: string): string => text.split('\n').map(visibleText).join('\n')

/** JSON on one line. Inside JSON the same escapes are mere spelling: what is parsed from it is the value as it was. */
export const visibleJson = (value: unknown): string => escapeHidden(JSON.stringify(value))

import type { EventType } from '../events.ts'
import { done, type Outcome } from '../refusal.ts'
import { parseEmail, withoutSecrets } from '../text.ts'
import { type Time, timeNear } from './thing-and-time.ts'
import { meaningsOf, type ToFind } from './what-to-find.ts'

export type Meaning =
  | ToFind
  | { readonly kind: 'cellar'; readonly cellar: string }
  /** With a label, or a part of it. The newest first, and at least one. */
  | { readonly kind: 'labelled'; readonly keyIds: readonly string[] }
  | { readonly kind: 'operator'; readonly email: string }
  | { readonly kind: 'rack'; readonly rack: string; readonly cellar: string }
  /** Everything about it in the log. */
  | { readonly kind: 'rack_in_log'; readonly rack: string; readonly cellar: string }
  | { readonly kind: 'type'; readonly type: EventType }
  | Time

export type Near = {
  readonly nowMs: number
  readonly cellarsNamed: (text: string) => readonly string[]
  /** Ids, the newest first. */
  readonly keysLabelled: (text: string) => readonly string[]
}

/**
 * The likeliest meaning is first. Besides `meaningsOf`, a text can be a cellar, a label, an e-mail, a day or a time like
 * `10:14`. Empty: it is none of these.
 */
export const everyMeaning = (text: string, { nowMs, cellarsNamed, keysLabelled }: Near): readonly Meaning[] => {
  const typed = withoutSecrets(text.trim())
  if (typed === '') return []
  const cellars = cellarsNamed(typed).map((cellar) => ({ kind: 'cellar', cellar }) as const)
  const keyIds = keysLabelled(typed)
  const known = meaningsOf(typed).filter(({ kind }) => kind !== 'instant')
  const isReceipt = known.some(({ kind }) => kind === 'receipt')
  const email: Outcome<string | null, unknown> = isReceipt ? done(null) : parseEmail(typed)
  const time = timeNear(typed, nowMs)
  return [
    ...known,
    ...cellars,
    ...(keyIds.length > 0 ? [{ kind: 'labelled', keyIds } as const] : []),
    ...(email.ok && email.value !== null ? [{ kind: 'operator', email: email.value } as const] : []),
    ...(time === null ? [] : [time]),
  ]
}

/**
 * Whether the text can also be the name of a rack, or a part of a label. A number can be one. A time like `10:14` cannot.
 */
export const canBePart = (meanings: readonly Meaning[]): boolean =>
  meanings.every(({ kind }) => kind === 'position' || kind === 'cellar' || kind === 'labelled')

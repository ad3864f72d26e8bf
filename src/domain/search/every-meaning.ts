import { done, type Outcome } from '../refusal.ts'
import { parseEmail, withoutSecrets } from '../text.ts'
import { dayNear, parseInstantNear } from './near-instant.ts'
import type { Time } from './thing-and-time.ts'
import { meaningsOf, type ToFind } from './what-to-find.ts'

/** What a person can type into the box of the Log page. */
export type Meaning =
  | ToFind
  | { readonly kind: 'cellar'; readonly cellar: string }
  /** The keys with a label. The newest key is first, and there is at least one. */
  | { readonly kind: 'labelled'; readonly keyIds: readonly string[] }
  | { readonly kind: 'operator'; readonly email: string }
  | Time

export type Near = {
  readonly nowMs: number
  /** Returns the identifiers of the cellars that have this identifier or this title. */
  readonly cellarsNamed: (text: string) => readonly string[]
  /** Returns the ids of the keys that have this label, the newest first. */
  readonly keysLabelled: (text: string) => readonly string[]
}

/** Says what a text can mean, the likeliest first: also cellars, labels, e-mails, days and times like `10:14`. Empty: none of these. */
export const everyMeaning = (text: string, { nowMs, cellarsNamed, keysLabelled }: Near): readonly Meaning[] => {
  const typed = withoutSecrets(text.trim())
  if (typed === '') return []
  const cellars = cellarsNamed(typed).map((cellar) => ({ kind: 'cellar', cellar }) as const)
  const keyIds = keysLabelled(typed)
  const known = meaningsOf(typed).filter(({ kind }) => kind !== 'instant')
  const isReceipt = known.some(({ kind }) => kind === 'receipt')
  const email: Outcome<string | null, unknown> = isReceipt ? done(null) : parseEmail(typed)
  const day = dayNear(typed, nowMs)
  const instant = parseInstantNear(typed, nowMs)
  return [
    ...known,
    ...cellars,
    ...(keyIds.length > 0 ? [{ kind: 'labelled', keyIds } as const] : []),
    ...(email.ok && email.value !== null ? [{ kind: 'operator', email: email.value } as const] : []),
    ...(day !== null ? [{ kind: 'day', day } as const] : []),
    ...(day === null && instant.ok ? [{ kind: 'instant', atMs: instant.value } as const] : []),
  ]
}

/**
 * What the pages show, as plain data. Whoever serves a page folds the projections into these; a view computes nothing
 * but words and shapes. Times are ms since 1970, limits are readings per window, text is as it was typed (the views
 * escape it).
 */
import type { HistoryRow, KeyAt } from '../projections/audit-trail.ts'
import type { AcceptedReading } from '../projections/queries.ts'
import type { By, CellarPolicy, Limit, Role } from '../src/domain/events.ts'
import type { Attribution, KeyStatus } from '../src/domain/key.ts'

/** What every page stands in. */
export type Shell = {
  readonly nowMs: number
  /** Who is signed in; `null` on the pages before that. */
  readonly operator: { readonly email: string; readonly role: Role } | null
  /** Goes into the hidden field `_csrf` of every form. */
  readonly csrf: string
  /** Addresses of the assets, with the hash of their content. */
  readonly assets: AssetUrls
  /** Signing in over plain http from elsewhere was allowed by setting: a standing warning. */
  readonly insecureHttp: boolean
  /** Why readings are refused now, or soon may be: standing warnings for whoever is signed in. */
  readonly reasons: readonly HealthReason[]
  /** One sentence about what was just done, shown once. */
  readonly notice: string | null
}

/** Why this node refuses readings now, or soon may: plain sentences. */
export type HealthReason = {
  readonly what: string
  /** What is refused meanwhile. */
  readonly meanwhile: string
  readonly remedy: string
  /** The cause, in the words of the disk or the store. */
  readonly why: string
}

export type AssetUrls = {
  /** `views/assets/app.css` */
  readonly css: string
  /** `views/assets/app.js` */
  readonly js: string
  /** `views/assets/icon.svg` */
  readonly icon: string
  /** `htmx.org/dist/htmx.min.js` */
  readonly htmx: string
  /** `htmx.org/dist/ext/hx-sse.min.js` */
  readonly htmxSse: string
}

/** A form as it is shown: again with what was typed, and a sentence at each field that was refused. */
export type Form<Field extends string> = {
  readonly values: Readonly<Record<Field, string>>
  /** `form` is for a fault of the whole. */
  readonly faults: Readonly<Partial<Record<Field | 'form', string>>>
}

/** One that changes what is there. */
export type EditForm<Field extends string> = Form<Field> & {
  /** What it showed when it was opened, for its hidden field. */
  readonly shown: string
}

export type CellarRow = {
  readonly cellar: string
  readonly title: string
  readonly activeKeys: number
  readonly keys: number
  /** Accepted in all. */
  readonly accepted: number
  /** Counted in the windows of its keys now; `null` if the store did not say. */
  readonly lately: number | null
  readonly lastReadingAt: number | null
}

export type CellarView = {
  readonly cellar: string
  readonly title: string
  readonly policy: CellarPolicy
  readonly createdAt: number
  readonly createdBy: By
}

export type ReadingView = AcceptedReading & { readonly keyLabel: string }

export type KegView = {
  readonly rack: string
  readonly keg: string
  readonly latest: ReadingView
  /** Of its last readings, oldest first. */
  readonly values: readonly number[]
}

/** One page of a cellar's kegs, by rack, then keg. */
export type KegListView = {
  readonly kegs: readonly KegView[]
  /** What was looked for; blank: all. */
  readonly find: string
  /** How many of `all` that finds. */
  readonly found: number
  readonly all: number
  /** From 1. */
  readonly page: number
  readonly pages: number
}

export type KeyView = {
  readonly keyId: string
  readonly cellar: string
  readonly label: string
  readonly note: string
  readonly status: KeyStatus
  /** In force: its own, else the cellar's, else the default. */
  readonly limit: Limit
  readonly ownLimit: Limit | null
  readonly expiresAt: number | null
  readonly created: Attribution
  readonly suspended: Attribution | null
  readonly revoked: Attribution | null
  /** Whether a successor can be made for it. */
  readonly canRotate: boolean
  readonly successor: SuccessorView | null
  readonly predecessor: PredecessorView | null
  /** Time of its last accepted reading. */
  readonly lastUsedAt: number | null
  readonly accepted: number
  /** Counted in its window now; `null` if the store did not say. */
  readonly used: number | null
  readonly lastRefusal: RefusalView | null
}

/** Since this process began; `code` as the device got it. */
export type RefusalView = {
  readonly at: number
  readonly code: string
  /** Whether the key's cost budget was empty; `cause` is the code of the last refusal before that. */
  readonly isCost: boolean
  readonly cause: string | null
}

/** The key that was last made to follow one. */
export type SuccessorView = {
  readonly keyId: string
  /** `null`: the rotation broke off before the key was made. */
  readonly label: string | null
  /**
   * The key whose first reading is to end the old one: this one, or what follows it where it was revoked unused. `null`:
   * it was, and nothing follows it.
   */
  readonly awaitedId: string | null
  /** How long the old one lives on after its first use. */
  readonly overlapMs: number
  /** When it was first used, as the old key was told; `null`: not yet. */
  readonly usedAt: number | null
  /** The end that its first use gave the old key stands. */
  readonly isEnding: boolean
}

/** The key that one was made to follow. */
export type PredecessorView = {
  readonly keyId: string
  readonly label: string
  readonly status: KeyStatus
  readonly expiresAt: number | null
  /** `null`: another key follows it now. */
  readonly rotation: SuccessorView | null
}

/** One page of what happened to a key, newest first. */
export type HistoryView = {
  readonly rows: readonly HistoryRow[]
  /** From 1. */
  readonly page: number
  readonly pages: number
}

export type KeyCounts = Readonly<Record<KeyStatus, number>>

/** What was so at one instant. */
export type StateAt = {
  /** As typed. */
  readonly typed: string
  readonly answer:
    | ({ readonly kind: 'known'; readonly at: number } & KeyAt)
    /** What was typed is no instant, or one that has not come yet: the sentence says what to type. */
    | { readonly kind: 'refused'; readonly rule: string }
}

export type OperatorRow = {
  readonly email: string
  readonly role: Role
  readonly addedAt: number
  readonly lastSignedInAt: number | null
  readonly openSessions: number
  readonly isYou: boolean
  /** Stays what they are: there is no other admin. */
  readonly isLastAdmin: boolean
}

/** Somebody who has no account yet, but a one-time link. */
export type InvitationRow = {
  readonly email: string
  readonly role: Role
  readonly expiresAt: number
}

/** Where a sign-in came from. */
export type PlaceView = { readonly address: string; readonly browser: string }

/** An open session of the operator who looks at it. */
export type SessionRow = {
  readonly id: string
  readonly startedAt: number
  /** `null`: this node has not seen it used since it started. */
  readonly lastUsedAt: number | null
  /** `null`: not kept any more. */
  readonly place: PlaceView | null
  /** Who made the link that set its password, if that was somebody else. */
  readonly linkMadeBy: string | null
  /** The session that asked for the page. */
  readonly isThis: boolean
}

/** One row of an account's sign-in history. */
export type SignInHistoryRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly linkMadeBy: string | null
      /** `not_recorded`: the sign-in is older than the records. */
      readonly place: PlaceView | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly by: By }
  /** `isInvitation`: there was no account yet. */
  | { readonly kind: 'link_made'; readonly at: number; readonly madeBy: string; readonly isInvitation: boolean }
  | {
      readonly kind: 'password_set'
      readonly at: number
      readonly hasLink: boolean
      readonly linkMadeBy: string | null
    }
  | {
      readonly kind: 'refused'
      readonly at: number
      readonly from: number
      readonly failed: number
      readonly throttled: number
      readonly addresses: readonly string[]
    }

export type NewKeyField = 'label' | 'note' | 'expires' | 'expires_on' | 'limit_readings' | 'limit_seconds'
export type RotateField = 'overlap'
export type EditKeyField = NewKeyField
/** Values of the field `expires`; `keep` only when a key is edited. */
export type ExpiryChoice = 'keep' | 'never' | '7d' | '30d' | '90d' | '1y' | 'date'
export type NewCellarField = 'cellar' | 'title'
/** Whole days, or blank for ever. */
export type RetentionField = 'days'
export type PolicyField = 'limit_readings' | 'limit_seconds' | 'age_max' | 'ahead_max'
export type SignInField = 'email'
export type SetPasswordField = 'email' | 'password' | 'password_again'
export type ChangePasswordField = 'own_password' | 'password' | 'password_again'
export type LinkField = 'email' | 'role' | 'own_password'

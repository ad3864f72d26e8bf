/** The data of the pages. Times are ms since 1970. Text is as it was typed: the views escape it. */
import type { HistoryRow, KeyAt } from '../projections/audit-trail.ts'
import type { AcceptedReading } from '../projections/queries.ts'
import type { By, CellarPolicy, Limit, Role } from '../src/domain/events.ts'
import type { Attribution, KeyStatus } from '../src/domain/key.ts'

/** Data of every page. */
export type Shell = {
  readonly nowMs: number
  /** `null` before the sign-in. */
  readonly operator: { readonly email: string; readonly role: Role } | null
  /** Value of the hidden field `_csrf`. */
  readonly csrf: string
  /** Addresses that hold the hash of the content. */
  readonly assets: AssetUrls
  /** Shows a warning: ALLOW_INSECURE_HTTP is set, and this visitor uses plain http. */
  readonly insecureHttp: boolean
  /** Warnings for operators. Empty before the sign-in. */
  readonly reasons: readonly HealthReason[]
  /** Result of the last form, shown once. */
  readonly notice: string | null
}

/** Why this node refuses readings now, or soon may. */
export type HealthReason = {
  readonly what: string
  readonly meanwhile: string
  readonly remedy: string
  /** The error text of the disk or the store. */
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

/** A form with its typed values, and a sentence for each refused field. */
export type Form<Field extends string> = {
  readonly values: Readonly<Record<Field, string>>
  /** The field `form` means that the fault belongs to no single field. */
  readonly faults: Readonly<Partial<Record<Field | 'form', string>>>
}

export type EditForm<Field extends string> = Form<Field> & {
  /** The values when the form was opened, for the hidden field `_shown`. */
  readonly shown: string
}

export type CellarRow = {
  readonly cellar: string
  readonly title: string
  readonly activeKeys: number
  readonly keys: number
  readonly accepted: number
  /** Readings that count in the rate windows of its keys now; `null` if unknown. */
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
  /** Oldest first. */
  readonly values: readonly number[]
}

/** Sorted by rack, then keg. */
export type KegListView = {
  readonly kegs: readonly KegView[]
  /** The search words; blank means all kegs. */
  readonly find: string
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
  /** The limit of the key, else of its cellar, else the default. */
  readonly limit: Limit
  readonly ownLimit: Limit | null
  readonly expiresAt: number | null
  readonly created: Attribution
  readonly suspended: Attribution | null
  readonly revoked: Attribution | null
  readonly canRotate: boolean
  readonly successor: SuccessorView | null
  readonly predecessor: PredecessorView | null
  readonly lastUsedAt: number | null
  readonly accepted: number
  /** Readings that count in its rate window now; `null` if unknown. */
  readonly used: number | null
  readonly lastRefusal: RefusalView | null
}

/** The last refusal by this process; other nodes do not share theirs. `code` is what the device got. */
export type RefusalView = {
  readonly at: number
  readonly code: string
  /** True if the cost budget of the key was empty. `cause` is the code of the refusal before. */
  readonly isCost: boolean
  readonly cause: string | null
}

/** The new key of a rotation, for the page of the old key. */
export type SuccessorView = {
  readonly keyId: string
  /** `null` if the rotation failed before the key was created. */
  readonly label: string | null
  /**
   * The key whose first reading stops the old key. If the new key was revoked before its first use, this is its own
   * successor, or `null`.
   */
  readonly awaitedId: string | null
  /** How long the old key works after that reading. */
  readonly overlapMs: number
  /** The time of the first use, from the events of the old key; `null` if not used yet. */
  readonly usedAt: number | null
  /** True if the new key was used, and no admin has set a later expiry of the old key since. */
  readonly isEnding: boolean
}

/** The old key of a rotation, for the page of the new key. */
export type PredecessorView = {
  readonly keyId: string
  readonly label: string
  readonly status: KeyStatus
  readonly expiresAt: number | null
  /** `null` if the old key was rotated again. */
  readonly rotation: SuccessorView | null
}

/** Newest first. */
export type HistoryView = {
  readonly rows: readonly HistoryRow[]
  /** From 1. */
  readonly page: number
  readonly pages: number
}

export type KeyCounts = Readonly<Record<KeyStatus, number>>

export type StateAt = {
  /** The instant as it was typed. */
  readonly typed: string
  readonly answer:
    | ({ readonly kind: 'known'; readonly at: number } & KeyAt)
    /** `rule` says what to type. */
    | { readonly kind: 'refused'; readonly rule: string }
}

export type OperatorRow = {
  readonly email: string
  readonly role: Role
  readonly addedAt: number
  readonly lastSignedInAt: number | null
  readonly openSessions: number
  readonly isYou: boolean
  readonly isLastAdmin: boolean
}

/** A person who has a one-time link, but no account. */
export type InvitationRow = {
  readonly email: string
  readonly role: Role
  readonly expiresAt: number
}

export type PlaceView = { readonly address: string; readonly browser: string }

export type SessionRow = {
  readonly id: string
  readonly startedAt: number
  /** `null` if not used on this node since the node started. */
  readonly lastUsedAt: number | null
  /** `null` if the record was deleted or never made. */
  readonly place: PlaceView | null
  /** Who created the link that set its password, if it was somebody else. */
  readonly linkMadeBy: string | null
  readonly isThis: boolean
}

export type SignInHistoryRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly linkMadeBy: string | null
      /** `not_recorded` means that the service did not record places yet. */
      readonly place: PlaceView | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly by: By }
  /** `isInvitation` is true if the e-mail had no account at that time. */
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
/** `keep` is a choice only when an existing key is edited. */
export type ExpiryChoice = 'keep' | 'never' | '7d' | '30d' | '90d' | '1y' | 'date'
export type NewCellarField = 'cellar' | 'title'
/** Whole days; blank means for ever. */
export type RetentionField = 'days'
export type PolicyField = 'limit_readings' | 'limit_seconds' | 'age_max' | 'ahead_max'
export type SignInField = 'email'
export type SetPasswordField = 'email' | 'password' | 'password_again'
export type ChangePasswordField = 'own_password' | 'password' | 'password_again'
export type LinkField = 'email' | 'role' | 'own_password'

/** The data of the pages. Times are ms since 1970. Texts are as they were typed: the views escape them. */
import type { By, CellarPolicy, EventType, Limit, Role } from '../src/domain/events.ts'
import type { Attribution } from '../src/domain/key.ts'
import type { KeyStatus } from '../src/domain/key-refusal.ts'
import type { Change } from '../src/domain/search/event-changes.ts'
import type { Sentence } from './log/sentence-parts.ts'

export type Shell = {
  readonly nowMs: number
  /** The signed-in operator; `null` before the sign-in. */
  readonly operator: { readonly email: string; readonly role: Role } | null
  /** The value of the hidden field `_csrf`. */
  readonly csrf: string
  /** Each address contains the hash of the file, so browsers can keep the file. */
  readonly assets: AssetUrls
  /** If true, the page shows a warning: ALLOW_INSECURE_HTTP is set, and this visitor uses plain http. */
  readonly insecureHttp: boolean
  /** Warnings for operators; empty before the sign-in. */
  readonly reasons: readonly HealthReason[]
  /** The result of the last form, which is shown only once. */
  readonly notice: { readonly words: string; readonly isSuccess: boolean } | null
}

/** Why this node refuses readings now, or can refuse them soon. */
export type HealthReason = {
  readonly what: string
  readonly meanwhile: string
  readonly remedy: string
  readonly why: string
}

/** The last check of the whole event log since the service started. */
export type LogCheckView =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'sound'
      readonly at: number
      readonly events: number
    }
  /** `first` names the first damage and its place, and `found` counts the kinds of damage. */
  | { readonly kind: 'damaged'; readonly at: number; readonly first: string; readonly found: string }
  | { readonly kind: 'failed'; readonly at: number; readonly why: string }

export type AssetUrls = {
  readonly css: string
  readonly js: string
  readonly icon: string
  readonly htmx: string
  readonly htmxSse: string
}

/** The typed values of a form, and one sentence for each refused field. */
export type Form<Field extends string> = {
  readonly values: Readonly<Record<Field, string>>
  /** The name `form` stands for a fault that belongs to no single field. */
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
  /** The number of readings in the current rate windows of all keys of the cellar; `null` means unknown. */
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

export type ReadingView = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly keyId: string
  readonly keyLabel: string
  readonly recordedAt: number
  readonly cellar: string
  readonly rack: string
  readonly keg: string
  readonly value: number
  readonly timestamp: string
  /** True if the timestamp is so far in the future that the reading never becomes the keg's latest. */
  readonly clockSkew: boolean
}

export type KegView = {
  readonly rack: string
  readonly keg: string
  readonly latest: { readonly value: number; readonly timestamp: string }
  /** The last values, oldest first. */
  readonly values: readonly number[]
}

/** How far the node has sorted the readings of the log into kegs. */
export type ReadingsState =
  | { readonly kind: 'current' }
  /** The page shows the readings up to this time, or none if it is `null`. */
  | { readonly kind: 'behind'; readonly asOfMs: number | null }
  /** The latest readings are missing, because the log cannot be read now. */
  | { readonly kind: 'log_away' }
  /** The page shows no readings, because the node cannot read them now. */
  | { readonly kind: 'away' }

/** The kegs of one page, sorted by rack, then by keg. */
export type KegListView = {
  readonly kegs: readonly KegView[]
  /** The search words; a blank text finds all kegs. */
  readonly find: string
  readonly found: number
  readonly all: number
  /** The number of this page, counted from 1. */
  readonly page: number
  readonly pages: number
}

export type KeyView = {
  readonly keyId: string
  readonly cellar: string
  readonly label: string
  readonly note: string
  readonly status: KeyStatus
  /** The limit that applies: the key's own limit; without one, the limit of its cellar; without both, the default. */
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
  /** The last check on this node that would have stored a reading. `null`: none since the node started, or none that it kept. */
  readonly lastCheckedAt: number | null
  readonly accepted: number
  /** The number of readings in the current rate window; `null` means unknown. */
  readonly used: number | null
  readonly lastRefusal: RefusalView | null
}

/** The last refusal by this node. The page does not show refusals by other nodes. `code` is the code in the log line. */
export type RefusalView = {
  readonly at: number
  readonly code: string
  /**
   * True if the cost budget of the key was empty (docs/contract.md, "Cost"). Then `cause` is the code of the last refusal
   * that used up the budget.
   */
  readonly isCost: boolean
  readonly cause: string | null
}

/** The new key of a rotation, for the page of the old key. */
export type SuccessorView = {
  readonly keyId: string
  /** `null` if the rotation stopped before the new key was created. */
  readonly label: string | null
  /**
   * The id of the key whose first reading stops the old key. Usually that is the new key. If the new key was revoked before
   * its first use, the next key of the new key's own rotation takes its place. `null` if there is no such key.
   */
  readonly awaitedId: string | null
  /** How long the old key still works after the first reading with the new key. */
  readonly overlapMs: number
  /** The time of the first use of the new key. An event of the old key records this time; `null` before that event. */
  readonly usedAt: number | null
  /** True if the new key was used, and no admin has set a later expiry for the old key after that. */
  readonly isEnding: boolean
}

/** The old key of a rotation, for the page of the new key. */
export type PredecessorView = {
  readonly keyId: string
  readonly label: string
  readonly status: KeyStatus
  readonly expiresAt: number | null
  /** `null` if the old key was rotated again, to another key. */
  readonly rotation: SuccessorView | null
}

/** One page of the history of a key, newest entry first. */
export type HistoryView = {
  /** `null`: the history cannot be shown now. */
  readonly entries: readonly HistoryEntry[] | null
  /** The number of this page, counted from 1. */
  readonly page: number
  readonly pages: number
  /** True if the internal events are shown too. */
  readonly isEverything: boolean
  /** The number of internal events in the whole history: fences. */
  readonly internal: number
}

/** What one request changed. */
export type HistoryEntry = {
  readonly requestId: string
  readonly by: By
  /** Oldest first. */
  readonly lines: readonly HistoryLine[]
  /** The key after the last of the lines. */
  readonly status: KeyStatus
  readonly expiresAt: number | null
}

export type HistoryLine = EventPlace & {
  readonly type: EventType
  readonly at: number
  readonly sentence: Sentence
  /** What the sentence does not say. */
  readonly changes: readonly Change[]
}

/** Where an event is in the log. */
export type EventPlace = { readonly stream: string; readonly revision: number; readonly position: number }

export type KeyCounts = Readonly<Record<KeyStatus, number>>

/** A cellar at an instant. */
export type CellarThen = {
  readonly at: number
  /** `null` if the cellar did not exist then, or if too many events lie before the instant to read them all. */
  readonly cellar: CellarView | null
  readonly isKnown: boolean
  /** The keys that existed then, newest first. */
  readonly keys: readonly KeyRowThen[]
  /** True if the time was over before the page had read all of these keys. */
  readonly isCutOff: boolean
  readonly all: number
  readonly page: number
  readonly pages: number
}

export type KeyRowThen = {
  readonly keyId: string
  /** `null` if too many events lie before the instant to read them all, or if the time was over. */
  readonly state: {
    readonly label: string
    readonly status: KeyStatus
    readonly ownLimit: Limit | null
    readonly expiresAt: number | null
  } | null
}

/** The answer to "was this key valid then?". */
export type StateAt = {
  readonly typed: string
  readonly answer:
    | ({ readonly kind: 'known'; readonly at: number } & KeyThen)
    /** `rule` tells the operator which time to enter instead. */
    | { readonly kind: 'refused'; readonly rule: string }
}

export type KeyThen = {
  /** `null` at a time before the key was created. */
  readonly key: {
    readonly status: KeyStatus
    readonly label: string
    readonly note: string
    readonly expiresAt: number | null
    /** The limit that applied; `null` if the settings of the cellar then are not known. */
    readonly limit: Limit | null
    /** True if the key had a limit of its own. */
    readonly hasOwnLimit: boolean
  } | null
  /** The event that led to the status; `null` if there is no such key. */
  readonly decidedBy: EventThen | null
  /** The last event that had happened, and the next one that people caused. */
  readonly previous: EventThen | null
  readonly next: EventThen | null
}

export type EventThen = EventPlace & {
  readonly at: number
  readonly by: By
  readonly reason: string
  readonly sentence: Sentence
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
  /** `null` if the session was not used on this node after the node started. */
  readonly lastUsedAt: number | null
  /** The address and browser at the sign-in; `null` if their record was deleted or never written. */
  readonly place: PlaceView | null
  /**
   * The creator of the one-time link with which this session's password was set: an e-mail, or `cli` for the command line.
   * `null` if no other person created such a link.
   */
  readonly linkMadeBy: string | null
  readonly isThis: boolean
}

export type SignInHistoryRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly linkMadeBy: string | null
      /** `not_recorded` means that the service did not record addresses and browsers yet at the time of the sign-in. */
      readonly place: PlaceView | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly by: By }
  /** `isInvitation` is true if the e-mail had no account when the link was created. */
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
/** `keep` leaves the expiry as it is, so only the form for an existing key offers it. */
export type ExpiryChoice = 'keep' | 'never' | '7d' | '30d' | '90d' | '1y' | 'date'
export type NewCellarField = 'cellar' | 'title'
/** `days` is a whole number of days; a blank field means that readings are never deleted. */
export type RetentionField = 'days'
export type PolicyField = 'limit_readings' | 'limit_seconds' | 'age_max' | 'ahead_max'
export type SignInField = 'email'
export type SetPasswordField = 'email' | 'password' | 'password_again'
export type ChangePasswordField = 'own_password' | 'password' | 'password_again'
/** The fields of a filter of events. `rack` and `keg` are only for readings. */
export type ExportField =
  | 'since'
  | 'until'
  | 'rack'
  | 'keg'
  | 'key'
  | 'cellar'
  | 'stream'
  | 'type'
  | 'kind'
  | 'actor'
  | 'readings'
export type LinkField = 'email' | 'role' | 'own_password'

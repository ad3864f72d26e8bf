/** Times are ms since 1970. Texts are as they were typed: the views escape them. */
import type { SilenceRule } from '../src/domain/attention/silence-rules.ts'
import type { By, CellarPolicy, EventType, Limit, Role } from '../src/domain/events.ts'
import type { Attribution } from '../src/domain/key.ts'
import type { KeyStatus } from '../src/domain/key-refusal.ts'
import type { Change } from '../src/domain/search/event-changes.ts'
import type { Sentence } from './log/sentence-parts.ts'

export type Shell = {
  readonly nowMs: number
  /** `null` before the sign-in. */
  readonly operator: { readonly email: string; readonly role: Role } | null
  readonly csrf: string
  /** Each address contains the hash of the file, so browsers can keep it. */
  readonly assets: AssetUrls
  /** A warning: ALLOW_INSECURE_HTTP is set, and this visitor uses plain http. */
  readonly insecureHttp: boolean
  /** Empty before the sign-in. */
  readonly reasons: readonly HealthReason[]
  /** Lines that need attention and are not at rest. 0 before the sign-in. */
  readonly attention: number
  /** Of the last form. Shown only once. */
  readonly notice: { readonly words: string; readonly isSuccess: boolean } | null
}

/** Refuses now, or can refuse soon. */
export type HealthReason = {
  readonly what: string
  readonly meanwhile: string
  readonly remedy: string
  readonly why: string
}

export type LogCheckView =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'sound'
      readonly at: number
      readonly events: number
    }
  /** `first` names the first damage and its place. `found` counts the kinds. */
  | { readonly kind: 'damaged'; readonly at: number; readonly first: string; readonly found: string }
  | { readonly kind: 'failed'; readonly at: number; readonly why: string }

export type AssetUrls = {
  readonly css: string
  readonly js: string
  readonly icon: string
  readonly htmx: string
  readonly htmxSse: string
  /** Only pages with a chart load these two. */
  readonly uplot: string
  readonly chart: string
}

/** One sentence for each refused field. */
export type Form<Field extends string> = {
  readonly values: Readonly<Record<Field, string>>
  /** `form`: a fault of no single field. */
  readonly faults: Readonly<Partial<Record<Field | 'form', string>>>
}

export type EditForm<Field extends string> = Form<Field> & {
  readonly shown: string
}

export type CellarRow = {
  readonly cellar: string
  readonly title: string
  readonly activeKeys: number
  readonly keys: number
  readonly accepted: number
  /** In the current rate windows of all keys. `null`: unknown. */
  readonly lately: number | null
  readonly lastReadingAt: number | null
}

export type CellarView = {
  readonly cellar: string
  readonly title: string
  readonly policy: CellarPolicy
  /** By the name of the keg. */
  readonly units: ReadonlyMap<string, string>
  readonly silence: readonly SilenceRule[]
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
  /** That holds now for kegs of this name. */
  readonly unit: string | null
  readonly timestamp: string
  /** So far in the future that the reading never becomes the keg's latest. */
  readonly clockSkew: boolean
}

export type KegView = {
  readonly rack: string
  readonly keg: string
  readonly unit: string | null
  readonly latest: { readonly value: number; readonly timestamp: string }
  /** The last acceptance. */
  readonly acceptedMs: number
  readonly isSilent: boolean
  /** The means of the half hours of the last day, oldest first. `null`: no reading. */
  readonly day: readonly (number | null)[]
}

/** Kegs of a rack, or those that a search found in it. */
export type RackView = {
  readonly rack: string
  readonly kegs: number
  readonly silent: number
  readonly acceptedMs: number
}

export type KegOrder = {
  readonly sort: 'name' | 'age' | 'value'
  /** Not from A to Z, from the youngest on, or from the lowest on. */
  readonly isReversed: boolean
  readonly silentFirst: boolean
}

/** How far the readings of the log are sorted into kegs. */
export type ReadingsState =
  | { readonly kind: 'current' }
  /** The page shows the readings up to this time. `null`: none. */
  | { readonly kind: 'behind'; readonly asOfMs: number | null }
  /** The latest readings are missing, because the log cannot be read now. */
  | { readonly kind: 'log_away' }
  /** The node cannot read any now. */
  | { readonly kind: 'away' }

export type KegListView = {
  readonly kegs: readonly KegView[]
  /** Of these kegs, if they are shown by rack. */
  readonly racks: readonly RackView[]
  readonly order: KegOrder
  /** Blank: all kegs. */
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
  /** The key's own, else its cellar's, else the default. */
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
  /** On this node, of a reading that would have been stored. `null`: none since the start, or none that it kept. */
  readonly lastCheckedAt: number | null
  readonly accepted: number
  /** In the current rate window. `null`: unknown. */
  readonly used: number | null
  readonly lastRefusal: RefusalView | null
}

/** By this node only. `code` is the code in the log line. */
export type RefusalView = {
  readonly at: number
  readonly code: string
  /** The cost budget was empty (docs/contract.md, "Cost"). Then `cause` is the code of the last refusal that used it up. */
  readonly isCost: boolean
  readonly cause: string | null
}

/** For the page of the old key. */
export type SuccessorView = {
  readonly keyId: string
  /** `null`: the rotation stopped before the new key was created. */
  readonly label: string | null
  /**
   * The key whose first reading stops the old key. If the new key was revoked before its first use, the next key of its own
   * rotation takes its place.
   */
  readonly awaitedId: string | null
  /** After the first reading with the new key. */
  readonly overlapMs: number
  /** An event of the old key records this time; `null` before it. */
  readonly usedAt: number | null
  /** The old key still works, or is only suspended. */
  readonly isOpen: boolean
  /** `active` if any later key works. Else of the newest one. `null`: there is none. */
  readonly newStatus: KeyStatus | null
}

/** For the page of the new key. */
export type PredecessorView = {
  readonly keyId: string
  readonly status: KeyStatus
  readonly expiresAt: number | null
  /** `null`: the old key was rotated again, to another key. */
  readonly rotation: SuccessorView | null
}

/** Newest first. */
export type HistoryView = {
  /** `null`: the history cannot be shown now. */
  readonly entries: readonly HistoryEntry[] | null
  /** From 1. */
  readonly page: number
  readonly pages: number
  /** With the internal events. */
  readonly isEverything: boolean
  /** Fences, in the whole history. */
  readonly internal: number
}

export type HistoryEntry = {
  readonly requestId: string
  readonly by: By
  /** Oldest first. */
  readonly lines: readonly HistoryLine[]
  /** After the last of the lines. */
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

export type EventPlace = { readonly stream: string; readonly revision: number; readonly position: number }

export type CellarThen = {
  readonly at: number
  /** `null`: it did not exist then, or too many events lie before the instant. */
  readonly cellar: CellarView | null
  readonly isKnown: boolean
  /** Newest first. */
  readonly keys: readonly KeyRowThen[]
  /** The time for the answer ended before all of these keys were read. */
  readonly isCutOff: boolean
  readonly all: number
  readonly page: number
  readonly pages: number
}

export type KeyRowThen = {
  readonly keyId: string
  /** `null`: too many events lie before the instant, or the time for the answer ended before this key was read. */
  readonly state: {
    readonly label: string
    readonly status: KeyStatus
    readonly ownLimit: Limit | null
    readonly expiresAt: number | null
  } | null
}

export type StateAt = {
  readonly typed: string
  readonly answer:
    | ({ readonly kind: 'known'; readonly at: number } & KeyThen)
    /** `rule` says which time to enter instead. */
    | { readonly kind: 'refused'; readonly rule: string }
}

export type KeyThen = {
  /** `null` before the key was created. */
  readonly key: {
    readonly status: KeyStatus
    readonly label: string
    readonly note: string
    readonly expiresAt: number | null
    /** `null`: the settings of the cellar then are not known. */
    readonly limit: Limit | null
    /** The key had a limit of its own. */
    readonly hasOwnLimit: boolean
  } | null
  /** `null`: no such key. */
  readonly decidedBy: EventThen | null
  /** The next one is one that people caused. */
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

/** A one-time link, but no account. */
export type InvitationRow = {
  readonly email: string
  readonly role: Role
  readonly expiresAt: number
}

export type PlaceView = { readonly address: string; readonly browser: string }

export type SessionRow = {
  readonly id: string
  readonly startedAt: number
  /** `null`: not used on this node since the start. */
  readonly lastUsedAt: number | null
  /** At the sign-in. `null`: its record was deleted or never written. */
  readonly place: PlaceView | null
  /** Who created the one-time link that set this session's password: an e-mail, or `cli`. `null`: no other person. */
  readonly linkMadeBy: string | null
  readonly isThis: boolean
}

export type SignInHistoryRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly linkMadeBy: string | null
      /** `not_recorded`: at that time, the service did not record these yet. */
      readonly place: PlaceView | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly by: By }
  /** `isInvitation`: the e-mail had no account then. */
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
/** `keep` is only for the form of an existing key. */
export type ExpiryChoice = 'keep' | 'never' | '7d' | '30d' | '90d' | '1y' | 'date'
/** `label` is that of the first key. */
export type NewCellarField = 'cellar' | 'title' | 'first_key' | 'label'
/** Whole days. Blank: readings are never deleted. */
export type RetentionField = 'days'
export type PolicyField = 'limit_readings' | 'limit_seconds' | 'age_max' | 'ahead_max'
export type UnitField = 'keg' | 'unit'
export type SignInField = 'email'
export type SetPasswordField = 'email' | 'password'
export type ChangePasswordField = 'own_password' | 'password'
/** `rack` and `keg` are only for readings. */
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

/**
 * Imports no actor. A command returns a refusal, or `done` when its events are durable. After `not_confirmed`, the events
 * can still be stored. A promise rejects only for a bug, except where a comment says otherwise.
 */
import type { Projections } from '../../projections/queries.ts'
import type { questionKinds } from '../asked/question-kinds.ts'
import type { Clock } from '../clock.ts'
import type { ModelProgress } from '../derived/follower-messages.ts'
import type { Questions } from '../derived/questions/question.ts'
import type { CellarState } from '../domain/cellar.ts'
import type { By, CellarPolicy, EventData, Limit, Role } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import type { Readings } from '../domain/reading/columns.ts'
import type { Idempotency } from '../domain/reading/idempotency-key.ts'
import type { LogItem } from '../domain/reading/recorded-run.ts'
import type { CommandRefusal, Outcome, ReadingRefusal } from '../domain/refusal.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from '../log/event-log.ts'

export type Asker = { readonly by: By; readonly requestId: string }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

export type Cellars = {
  /** A blank `title` becomes the cellar's identifier. */
  create(input: { readonly cellar: string; readonly title: string }, asker: Asker): Answer<CellarState>
  rename(cellar: string, title: string, asker: Asker): Answer<CellarState>
  /** Of all kegs of this name in the cellar. A blank unit removes it. */
  setUnit(cellar: string, unit: { readonly keg: string; readonly unit: string }, asker: Asker): Answer<CellarState>
  changePolicy(cellar: string, changes: Partial<CellarPolicy>, asker: Asker): Answer<CellarState>
}

export type NewKey = {
  readonly cellar: string
  /** A blank label becomes one like "Key 3". */
  readonly label: string
  readonly note: string
  readonly limit: Limit | null
  /** In ms. `null`: never. */
  readonly expiresAt: number | null
  /** Sending a form twice then makes one key. Default: random. */
  readonly keyId?: string
}

export type Rotating = {
  /** After the first use of the new key: one of `rotationOverlapsMs`. */
  readonly overlapMs: number
  readonly successorId?: string
}

export type CreatedKey = { readonly key: string; readonly state: KeyState }

/**
 * `replaced` is an unused earlier successor, which works until an admin revokes it. `null` also if this node does not know
 * it yet.
 */
export type RotatedKey = CreatedKey & { readonly replaced: KeyState | null }

export type Keys = {
  /** The log stores a hash, so only this answer has the text of the key. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /**
   * With the same label, note, limit and expiry. The old key works until `overlapMs` after the first use of the new key.
   */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<RotatedKey>
  /** A missing field keeps its value. */
  relabel(keyId: string, text: { readonly label?: string; readonly note?: string }, asker: Asker): Answer<KeyState>
  setLimit(keyId: string, limit: Limit | null, asker: Asker): Answer<KeyState>
  setExpiry(keyId: string, expiresAt: number | null, asker: Asker): Answer<KeyState>
  suspend(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  resume(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  /** Answers when no node can accept a reading of the key any more. */
  revoke(keyId: string, reason: string, asker: Asker): Answer<KeyState>

  /** All readings or none. The ids of the events come from `requestId`, so each request needs a new one. Never rejects. */
  accept(keyId: string, readings: Readings, requestId: string): Promise<Outcome<Accepted, ReadingRefusal>>
  acceptIdempotent(
    keyId: string,
    readings: Readings,
    request: IdempotentRequest,
  ): Promise<Outcome<Accepted, ReadingRefusal>>
  /** As `accept` would answer now. Stores, reserves and records nothing. */
  check(keyId: string, count: number): Promise<Outcome<Checked, ReadingRefusal>>
  /**
   * A request with this hash has stored readings, or is under way on this node. False can be wrong, for example while the
   * index is incomplete. The repeat is then refused like a new request.
   */
  knowsIdempotencyKey(keyId: string, keyHash: string): boolean
  /**
   * No promise if the key is loaded. `null` if the key is unknown or the store is unavailable. `heardTo` is a revision of
   * the readings stream: other nodes' readings up to it are counted with a delay of at most `usageCatchUpMs`.
   */
  usage(keyId: string, heardTo?: number): Usage | null | Promise<Usage | null>
}

export type IdempotentRequest = {
  readonly requestId: string
  readonly idempotency: Idempotency
  readonly refusal: ReadingRefusal | null
}

export type Accepted = {
  readonly stream: string
  readonly first: number
  readonly last: number
  /** In ms. */
  readonly recordedAt: number
  readonly usage: Usage
  readonly repeats: Idempotency | null
}

/** `usage` does not count them. */
export type Checked = Pick<Accepted, 'recordedAt' | 'usage'>

export type Usage = {
  readonly limit: Limit
  /** Stored, or admitted and not stored yet. */
  readonly used: number
  /** Ms until the oldest reading leaves the window. 0 if it is empty. */
  readonly resetMs: number
  /** Ms until there is room for a reading. 0 if there is room now. */
  readonly retryAfterMs: number
}

export type PasswordClient = {
  /** An IPv4 address, or the first 48 bits of an IPv6 address. Networks take turns. */
  readonly network: string
  /** With an open session, an unspent link or a known browser. Comes before strangers. */
  readonly isKnown: boolean
  readonly signal?: AbortSignal
}

export type Session = {
  /** Pages can show it: unlike the secret, it gives no access. */
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly startedAt: number
  readonly expiresAt: number
  /** An e-mail, or `cli`: who made the link that set the password, and can know it. `null` if nobody else did. */
  readonly linkMadeBy: string | null
  /**
   * Of `SignInSeen`, which holds the address and browser (`signInPlaces`). `null`: the session is older than such events.
   */
  readonly seenRevision: number | null
}

export type SignInFrom = {
  readonly client?: PasswordClient
  readonly address: string
  readonly browser: string
  readonly deviceSecret: string | null
  readonly sessionSecret: string | null
}

export type SignedIn = {
  readonly sessionSecret: string
  /** With it, the browser counts as known until the password changes. */
  readonly deviceSecret: string
  readonly session: Session
  /** Another person made a link for this account, which was made or used within 30 days. */
  readonly isToldOfLink: boolean
}

/** `email` is `null` if no account has it. */
export type RefusedSignIn = {
  readonly email: string | null
  readonly reason: 'failed' | 'throttled'
  readonly address: string
}

/** `allBut`: all but the one with this secret. */
export type EndingSessions = { readonly id: string } | { readonly allBut: string | null }

export type OwnPassword = { readonly password: string; readonly client?: PasswordClient }

export type SignIns = {
  /** Also ends the browser's earlier session. An unknown e-mail takes as long as a known one. */
  signIn(
    input: { readonly email: string; readonly password: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  changePassword(
    input: { readonly sessionSecret: string; readonly ownPassword: string; readonly newPassword: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  session(sessionSecret: string): Session | null
  /**
   * Also false for an unknown secret: another node can have opened that session a moment ago. The browser must then ask
   * again.
   */
  isSessionOver(sessionSecret: string): boolean
  useSession(sessionSecret: string): void
  signOut(sessionSecret: string, requestId: string): Answer<null>
  isKnownDevice(email: string, deviceSecret: string): boolean
  /** Oldest first. `lastUsedAt` (ms) is of this node. */
  openSessions(email: string): readonly (Session & { readonly lastUsedAt: number | null })[]
  endSessions(email: string, which: EndingSessions, asker: Asker): Answer<null>
  /** Counts are written together later, so that a flood writes few events. */
  signInRefused(refused: RefusedSignIn): void
}

export type Operators = SignIns & {
  /**
   * For the first admin (`email` is `null`), a new operator, or a lost password. If the account exists or existed, an
   * operator must give their own password (`own`), because the link can reset a password.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role; readonly own?: OwnPassword },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** `null`: used, expired or unknown. `isNew`: there is no account yet. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Also ends all sessions of the operator. */
  spendLink(
    input: {
      readonly secret: string
      readonly email: string
      readonly password: string
      readonly client?: PasswordClient
    },
    asker: Asker,
  ): Answer<{ readonly email: string }>
  /** Refuses to make the last admin an auditor. */
  setRole(email: string, role: Role, asker: Asker): Answer<{ readonly email: string }>
  /**
   * An account with its sessions and links, or an invitation. Never the last admin. Another node accepts the sessions until
   * it receives the event.
   */
  remove(email: string, asker: Asker): Answer<{ readonly email: string }>
}

export type RefusedRequest = {
  readonly keyId: string | null
  readonly requestId: string
  readonly atMs: number
  readonly code: string
  readonly refusal: ReadingRefusal
  /** `null`: the body was not read. */
  readonly names: { readonly rack: string; readonly keg: string } | null
  readonly count: number
}

export type Refusals = {
  note(refused: RefusedRequest): void
  /** Not yet written. `keyId` is `null` for what is not of one key. */
  waiting(): readonly { readonly keyId: string | null; readonly data: EventData<'ReadingsRefused'> }[]
}

export type FoldListener = (items: readonly LogItem[]) => void

export type Core = {
  readonly log: EventLog
  readonly clock: Clock
  readonly entropy: Entropy
  readonly projections: Projections
  readonly cellars: Cellars
  readonly keys: Keys
  readonly operators: Operators
  readonly refusals: Refusals
  recordExport(data: EventData<'LogExported'>, asker: Asker): Answer<number>
  /** `null`: this node has no `ask.db`. */
  indexProgress(): ModelProgress | null
  readonly questions: Questions<typeof questionKinds>
  /**
   * `listener` gets the events and runs of all nodes, after the projections have folded them, and records if there is an
   * `ask.db`. Events of one stream come in order. One can come twice, which must do no harm. The returned function ends the
   * calls.
   */
  onFolded(listener: FoldListener): () => void
  /** Waits up to `drainMsMax` for requests under way. Does not close the log. */
  drain(): Promise<void>
}

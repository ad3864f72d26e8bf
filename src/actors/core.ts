/**
 * The interface of the actors: all that the rest of the program may ask of them. Imports no actor.
 *
 * A command returns a refusal, or `done` once its events are durable. After the refusal `not_confirmed` its outcome is
 * unknown. Unless a docstring says otherwise, a promise rejects only for a bug.
 */
import type { Projections } from '../../projections/queries.ts'
import type { Clock } from '../clock.ts'
import type { CellarState } from '../domain/cellar.ts'
import type { By, CellarPolicy, Limit, RecordedEvent, Role } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import type { Idempotency } from '../domain/reading/idempotency-key.ts'
import type { Readings } from '../domain/reading/reading.ts'
import type { CommandRefusal, Outcome, ReadingRefusal } from '../domain/refusal.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from '../log/event-log.ts'

export type Asker = { readonly by: By; readonly requestId: string }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

export type Cellars = {
  /** A blank `title` is replaced by the identifier. */
  create(input: { readonly cellar: string; readonly title: string }, asker: Asker): Answer<CellarState>
  rename(cellar: string, title: string, asker: Asker): Answer<CellarState>
  changePolicy(cellar: string, changes: Partial<CellarPolicy>, asker: Asker): Answer<CellarState>
}

export type NewKey = {
  readonly cellar: string
  /** If it is blank, the key gets a numbered label such as "Key 3". */
  readonly label: string
  readonly note: string
  readonly limit: Limit | null
  /** In ms. `null` if the key never expires. */
  readonly expiresAt: number | null
  /** A form sets it, so that sending it twice makes one key. Default: random. */
  readonly keyId?: string
}

export type Rotating = {
  /** One of `rotationOverlapsMs`. */
  readonly overlapMs: number
  /** Set by a form, like `keyId` of `NewKey`. */
  readonly successorId?: string
}

export type CreatedKey = { readonly key: string; readonly state: KeyState }

/**
 * `replaced` is the unused successor that the new key replaces. `null` if there is none, or if this node does not know it
 * yet.
 */
export type RotatedKey = CreatedKey & { readonly replaced: KeyState | null }

export type Keys = {
  /** Only this answer contains the text of the key. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /**
   * Makes a key with the same label, note, limit and expiry. The old key ends `overlapMs` after the first use of the new
   * one, and works as before until then.
   */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<RotatedKey>
  /** A missing field does not change. */
  relabel(keyId: string, text: { readonly label?: string; readonly note?: string }, asker: Asker): Answer<KeyState>
  setLimit(keyId: string, limit: Limit | null, asker: Asker): Answer<KeyState>
  setExpiry(keyId: string, expiresAt: number | null, asker: Asker): Answer<KeyState>
  suspend(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  resume(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  /** Answers once no node can accept a reading of the key any more. */
  revoke(keyId: string, reason: string, asker: Asker): Answer<KeyState>

  /** Appends all readings of the request, or none. Event ids are derived from `requestId`. Never rejects. */
  accept(keyId: string, readings: Readings, requestId: string): Promise<Outcome<Accepted, ReadingRefusal>>
  /** Like `accept`, with an idempotency key (docs/protocol.md, "Idempotency"). */
  acceptIdempotent(
    keyId: string,
    readings: Readings,
    request: IdempotentRequest,
  ): Promise<Outcome<Accepted, ReadingRefusal>>
  /**
   * True if a request with this hash of an idempotency key has stored readings, or is under way on this node. False while
   * the index is incomplete.
   */
  knowsIdempotencyKey(keyId: string, keyHash: string): boolean
  /**
   * Returns the rate window, at once if the key is loaded. `null` if the key is unknown or the store is unavailable.
   * Includes readings of other nodes up to the revision `heardTo`, at most `usageCatchUpMs` late.
   */
  usage(keyId: string, heardTo?: number): Usage | null | Promise<Usage | null>
}

export type IdempotentRequest = {
  readonly requestId: string
  readonly idempotency: Idempotency
  /** The refusal by earlier checks. It is the answer unless the request is a repeat. */
  readonly refusal: ReadingRefusal | null
}

export type Accepted = {
  readonly stream: string
  /** Revisions of the first and last reading. */
  readonly first: number
  readonly last: number
  /** In ms. */
  readonly recordedAt: number
  readonly usage: Usage
  /** The first request with that idempotency key; `null` if this is the first. */
  readonly repeats: Idempotency | null
}

export type Usage = {
  readonly limit: Limit
  /** Readings in the window, stored or under way. */
  readonly used: number
  /** Ms until the oldest reading leaves the window; 0 without readings. */
  readonly resetMs: number
  /** Ms until the window has room; 0 if it has. */
  readonly retryAfterMs: number
}

/** Decides whose password is hashed next (`operator/passwords.ts`). */
export type PasswordClient = {
  /** An IPv4 address, or the /48 of an IPv6 address. */
  readonly network: string
  /** True for a client with an open session, an unspent link or a known browser. */
  readonly isKnown: boolean
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal
}

export type Session = {
  /** The id gives no access, unlike the session's secret. */
  readonly id: string
  readonly email: string
  readonly role: Role
  /** In ms, like `expiresAt`. */
  readonly startedAt: number
  readonly expiresAt: number
  /** Who made the link that set the password: an e-mail, or `cli`. */
  readonly linkMadeBy: string | null
  /** Revision of the record with address and browser, for `signInPlaces`. */
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
  /** Marks the browser as known until the password changes. */
  readonly deviceSecret: string
  readonly session: Session
  /** True if somebody else made or used a link to the account within 30 days. */
  readonly isToldOfLink: boolean
}

/** `email` is `null` if there is no such account. */
export type RefusedSignIn = {
  readonly email: string | null
  readonly reason: 'failed' | 'throttled'
  readonly address: string
}

export type SignInPlace = { readonly address: string; readonly browser: string }

/** `at` and `from` are in ms. */
export type SignInRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly sessionId: string
      readonly linkMadeBy: string | null
      /** `not_recorded` if the sign-in is older than these records. */
      readonly place: SignInPlace | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly sessionId: string; readonly by: By }
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

/** One session by its id, or all except the one with that secret. */
export type EndingSessions = { readonly id: string } | { readonly allBut: string | null }

export type OwnPassword = { readonly password: string; readonly client?: PasswordClient }

export type SignIns = {
  /** Also ends the session that the browser had. The time of the answer does not show whether the e-mail is known. */
  signIn(
    input: { readonly email: string; readonly password: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  /** Ends every session of the operator, and opens a new one. */
  changePassword(
    input: { readonly sessionSecret: string; readonly ownPassword: string; readonly newPassword: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  session(sessionSecret: string): Session | null
  /** False for an unknown secret: another node may have opened that session just now. */
  isSessionOver(sessionSecret: string): boolean
  useSession(sessionSecret: string): void
  signOut(sessionSecret: string, requestId: string): Answer<null>
  isKnownDevice(email: string, deviceSecret: string): boolean
  /** Returns the oldest first. `lastUsedAt` knows only the uses on this node. */
  openSessions(email: string): readonly (Session & { readonly lastUsedAt: number | null })[]
  endSessions(email: string, which: EndingSessions, asker: Asker): Answer<null>
  /** Only counts, so that a flood of attempts writes few events. */
  signInRefused(refused: RefusedSignIn): void
  /** Returns the newest first. @throws Outage */
  signInHistory(email: string): Promise<readonly SignInRow[]>
  /** Returns the places by revision, without purged ones. @throws Outage */
  signInPlaces(revisions: readonly number[]): Promise<ReadonlyMap<number, SignInPlace>>
}

export type Operators = SignIns & {
  /**
   * Makes a one-time link: for the first admin (`email` null), a new operator, or a lost password. If the account exists or
   * existed, an operator must give `own`.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role; readonly own?: OwnPassword },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** `null` if the link is spent, expired or unknown. `isNew` is true if there is no account yet. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Adds the operator, or sets the password and ends every session. */
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
   * Deletes an account with its sessions and links, or an invitation. Refuses to delete the last admin. Other nodes accept
   * a session until they receive the event.
   */
  remove(email: string, asker: Asker): Answer<{ readonly email: string }>
}

export type FoldListener = (events: readonly RecordedEvent[]) => void

export type Core = {
  readonly log: EventLog
  readonly clock: Clock
  readonly entropy: Entropy
  readonly projections: Projections
  readonly cellars: Cellars
  readonly keys: Keys
  readonly operators: Operators
  /**
   * Calls `listener` with the events of all nodes once they are folded. Events of a stream come in order, some twice. The
   * returned function ends this.
   */
  onFolded(listener: FoldListener): () => void
  /** Refuses new work, and waits up to `drainMsMax` for begun work. Leaves the log open. */
  drain(): Promise<void>
}

/**
 * The face of the actors: all that the rest of the program may ask of them. Imports no actor.
 *
 * A command answers a refusal as a value, or done once its events are durable. After `not_confirmed` the outcome is unknown. Only
 * bugs reject a promise, unless a docstring says otherwise.
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
  /** A blank `title` becomes the identifier. */
  create(input: { readonly cellar: string; readonly title: string }, asker: Asker): Answer<CellarState>
  rename(cellar: string, title: string, asker: Asker): Answer<CellarState>
  changePolicy(cellar: string, changes: Partial<CellarPolicy>, asker: Asker): Answer<CellarState>
}

export type NewKey = {
  readonly cellar: string
  /** Default: "Key 3", with the next number. */
  readonly label: string
  readonly note: string
  readonly limit: Limit | null
  /** Ms; `null`: never. */
  readonly expiresAt: number | null
  /** A form gives it, so that sending it twice makes one key. Default: random. */
  readonly keyId?: string
}

export type Rotating = {
  /** One of `rotationOverlapsMs`. */
  readonly overlapMs: number
  /** As `keyId` of `NewKey`. */
  readonly successorId?: string
}

export type CreatedKey = { readonly key: string; readonly state: KeyState }

/** `replaced` is the unused successor that the new key replaces. `null`: there is none, or this node does not know it yet. */
export type RotatedKey = CreatedKey & { readonly replaced: KeyState | null }

export type Keys = {
  /** Only this answer shows `key`. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /**
   * Makes a key with the same label, note, limit and expiry. The old key ends `overlapMs` after the first use of the new one.
   * Until then nothing is taken from it.
   */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<RotatedKey>
  /** What is left out stays as it is. */
  relabel(keyId: string, text: { readonly label?: string; readonly note?: string }, asker: Asker): Answer<KeyState>
  setLimit(keyId: string, limit: Limit | null, asker: Asker): Answer<KeyState>
  setExpiry(keyId: string, expiresAt: number | null, asker: Asker): Answer<KeyState>
  suspend(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  resume(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  /** Answers when no node can accept a reading of the key any more. */
  revoke(keyId: string, reason: string, asker: Asker): Answer<KeyState>

  /** Appends all readings of the request, or none. Event ids follow from `requestId`. Never rejects. */
  accept(keyId: string, readings: Readings, requestId: string): Promise<Outcome<Accepted, ReadingRefusal>>
  /** The same with an idempotency key (docs/protocol.md, "Idempotency"). */
  acceptIdempotent(
    keyId: string,
    readings: Readings,
    request: IdempotentRequest,
  ): Promise<Outcome<Accepted, ReadingRefusal>>
  /**
   * True if a request with this hash of an idempotency key has stored readings, or is under way here. False while the index is
   * incomplete.
   */
  knowsIdempotencyKey(keyId: string, keyHash: string): boolean
  /**
   * The rate window, at once if the key is loaded. `null`: unknown key, or the store is away. Counts readings up to the revision
   * `heardTo`, now or `usageCatchUpMs` later.
   */
  usage(keyId: string, heardTo?: number): Usage | null | Promise<Usage | null>
}

export type IdempotentRequest = {
  readonly requestId: string
  readonly idempotency: Idempotency
  /** The answer, unless the request is a repeat. */
  readonly refusal: ReadingRefusal | null
}

export type Accepted = {
  readonly stream: string
  /** Revisions of the first and last reading. */
  readonly first: number
  readonly last: number
  /** Ms. */
  readonly recordedAt: number
  readonly usage: Usage
  /** The first request with that idempotency key; `null` if this is the first. */
  readonly repeats: Idempotency | null
}

export type Usage = {
  readonly limit: Limit
  /** Readings in the window, stored or under way. */
  readonly used: number
  /** Ms until the oldest reading leaves; 0 without readings. */
  readonly resetMs: number
  /** Ms until the window has room; 0 if it has. */
  readonly retryAfterMs: number
}

/** Decides whose password is hashed next (`passwords.ts`). */
export type PasswordClient = {
  /** An IPv4 address, or the /48 of an IPv6 address. */
  readonly network: string
  /** By an open session, an unspent link, or the browser. */
  readonly isKnown: boolean
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal
}

export type Session = {
  /** Gives no access. */
  readonly id: string
  readonly email: string
  readonly role: Role
  /** Ms. */
  readonly startedAt: number
  readonly expiresAt: number
  /** Who made the link that set the password: an e-mail, or `cli`. */
  readonly linkMadeBy: string | null
  /** For `signInPlaces`. */
  readonly seenRevision: number | null
}

export type SignInFrom = {
  /** Default: a stranger. */
  readonly client?: PasswordClient
  readonly address: string
  readonly browser: string
  readonly deviceSecret: string | null
  readonly sessionSecret: string | null
}

export type SignedIn = {
  readonly sessionSecret: string
  /** Makes the browser known until the password changes. */
  readonly deviceSecret: string
  readonly session: Session
  /** Somebody else made or used a link to the account within 30 days. */
  readonly isToldOfLink: boolean
}

/** `email` is `null` without an account. */
export type RefusedSignIn = {
  readonly email: string | null
  readonly reason: 'failed' | 'throttled'
  readonly address: string
}

export type SignInPlace = { readonly address: string; readonly browser: string }

/** `at` and `from` are ms. */
export type SignInRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly sessionId: string
      readonly linkMadeBy: string | null
      /** `not_recorded`: older than the records. */
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

/** One session, or all except the one with that secret. */
export type EndingSessions = { readonly id: string } | { readonly allBut: string | null }

export type OwnPassword = { readonly password: string; readonly client?: PasswordClient }

export type SignIns = {
  /** Also ends the session that the browser had. The time to answer does not tell whether the e-mail is known. */
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
  /** Call it for each use. */
  useSession(sessionSecret: string): void
  signOut(sessionSecret: string, requestId: string): Answer<null>
  isKnownDevice(email: string, deviceSecret: string): boolean
  /** Oldest first. `lastUsedAt` is of this node. */
  openSessions(email: string): readonly (Session & { readonly lastUsedAt: number | null })[]
  endSessions(email: string, which: EndingSessions, asker: Asker): Answer<null>
  /** The log gets sums. */
  signInRefused(refused: RefusedSignIn): void
  /** Newest first. @throws Outage */
  signInHistory(email: string): Promise<readonly SignInRow[]>
  /** By revision; without purged ones. @throws Outage */
  signInPlaces(revisions: readonly number[]): Promise<ReadonlyMap<number, SignInPlace>>
}

export type Operators = SignIns & {
  /**
   * Makes a one-time link: for the first admin (`email` null), a new operator, or a lost password. An operator who makes one for
   * an account that exists or existed must give `own`: `own_password_needed`, `wrong_own_password`.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role; readonly own?: OwnPassword },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** `null`: spent, expired or unknown. `isNew`: there is no account yet. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Adds the operator, or sets the password and ends every session. */
  spendLink(
    input: {
      readonly secret: string
      readonly email: string
      readonly password: string
      /** Default: a stranger. */
      readonly client?: PasswordClient
    },
    asker: Asker,
  ): Answer<{ readonly email: string }>
  /** Refuses to make the last admin an auditor. */
  setRole(email: string, role: Role, asker: Asker): Answer<{ readonly email: string }>
  /**
   * Deletes an account with its sessions and links, or an invitation. Refuses the last admin. Other nodes serve a session until
   * they hear of it.
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
   * Tells of the events of all nodes once they are folded. Events of a stream come in order, some twice. The answer ends it.
   */
  onFolded(listener: FoldListener): () => void
  /** Refuses new work, and waits up to `drainMsMax` for begun work. Leaves the log open. */
  drain(): Promise<void>
}

/**
 * The actors: one per key, cellar and operator, each the only writer of its streams on this node. Here live mailboxes,
 * load -> decide -> append -> fold, and the write protocol. No HTTP, no words for people, no SQL.
 *
 * This file is what the rest of the program sees of them. It imports no actor, so every actor may import its types.
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

/** Who asks, and the request it came in with. */
export type Asker = { readonly by: By; readonly requestId: string }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

export type Cellars = {
  /** `title` blank: the identifier. */
  create(input: { readonly cellar: string; readonly title: string }, asker: Asker): Answer<CellarState>
  rename(cellar: string, title: string, asker: Asker): Answer<CellarState>
  /** What is left out of `changes` stays as it is. */
  changePolicy(cellar: string, changes: Partial<CellarPolicy>, asker: Asker): Answer<CellarState>
}

export type NewKey = {
  readonly cellar: string
  /** Blank: "Key 3", the next number of its cellar. */
  readonly label: string
  readonly note: string
  readonly limit: Limit | null
  /** Ms; `null` never expires. */
  readonly expiresAt: number | null
  /** Drawn by whoever asks, so that asking twice makes one key. Default: drawn now. */
  readonly keyId?: string
}

export type Rotating = {
  /** One of `rotationOverlapsMs`. */
  readonly overlapMs: number
  /** Of the new key; drawn as for `NewKey`. */
  readonly successorId?: string
}

export type CreatedKey = { readonly key: string; readonly state: KeyState }

/** `replaced` is the unused successor that the new key replaces. `null`: there is none, or this node does not know it yet. */
export type RotatedKey = CreatedKey & { readonly replaced: KeyState | null }

export type Keys = {
  /** `key` is the whole key, in this answer only. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /**
   * Makes a key with the label, note, limit and expiry of that one, which ends so long after the new one's first use.
   * Until then nothing is taken from it.
   */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<RotatedKey>
  /** What is left out stays as it is. */
  relabel(keyId: string, text: { readonly label?: string; readonly note?: string }, asker: Asker): Answer<KeyState>
  setLimit(keyId: string, limit: Limit | null, asker: Asker): Answer<KeyState>
  setExpiry(keyId: string, expiresAt: number | null, asker: Asker): Answer<KeyState>
  suspend(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  resume(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  /** Answers only when no reading of the key can be accepted any more, on any node. */
  revoke(keyId: string, reason: string, asker: Asker): Answer<KeyState>

  /**
   * Reserves the places of a request's readings in the key's window and appends them, all or none: a batch is one append,
   * or part of one. Their ids follow from `requestId`. Answers after the commit. Never throws.
   */
  accept(keyId: string, readings: Readings, requestId: string): Promise<Outcome<Accepted, ReadingRefusal>>
  /**
   * The same for a request with an `Idempotency-Key`: one that has stored something already is answered as it was then, and
   * stores and costs nothing (docs/protocol.md, "Idempotency").
   */
  acceptKeyed(keyId: string, readings: Readings, request: KeyedRequest): Promise<Outcome<Accepted, ReadingRefusal>>
  /**
   * Whether this node knows of a request with that `Idempotency-Key` (its hash) which is under way or has stored something.
   * `false` also while the index of idempotency keys cannot say.
   */
  knowsIdempotencyKey(keyId: string, keyHash: string): boolean
  /**
   * The window as it is now: at once if the key is loaded, else after loading it. `null`: no such key, or store away.
   *
   * `heardTo`: a revision of its readings that was heard of. If another node has written it, it is counted too, now or
   * `usageCatchUpMs` later. Default: what this node knows of will do.
   */
  usage(keyId: string, heardTo?: number): Usage | null | Promise<Usage | null>
}

export type KeyedRequest = {
  readonly requestId: string
  readonly idempotency: Idempotency
  /** What it is refused with unless it has stored something already: a judgement that would have been another then. */
  readonly refusal: ReadingRefusal | null
}

export type Accepted = {
  readonly stream: string
  /** Revisions of the request's first and last reading: the same one, unless it was a batch. */
  readonly first: number
  readonly last: number
  /** Ms. */
  readonly recordedAt: number
  readonly usage: Usage
  /** What the request stored that had the same `Idempotency-Key` before; `null`: this one did. */
  readonly repeats: Idempotency | null
}

export type Usage = {
  readonly limit: Limit
  /** Readings counted or reserved in the window that ends now. */
  readonly used: number
  /** Ms until the oldest counted reading leaves the window; 0 if none is counted. */
  readonly resetMs: number
  /** Ms until one more reading could be admitted, if nothing else comes; 0 if one can be now. */
  readonly retryAfterMs: number
}

/** For whom a password is hashed. It decides whose turn it is (`passwords.ts`). */
export type PasswordClient = {
  /** An IPv4 address, or the /48 of an IPv6 address. */
  readonly network: string
  /** True for a browser that the account knows, an open session or an unspent link. */
  readonly isKnown: boolean
  /** Aborted when the client has gone: then nothing is hashed for it. */
  readonly signal?: AbortSignal
}

export type Session = {
  /** Names the session in the log and on pages. It gives no access. */
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly startedAt: number
  readonly expiresAt: number
  /** The operator's password came from a link that this person made (an e-mail, or `cli`). */
  readonly linkMadeBy: string | null
  /** For `signInPlaces`. */
  readonly seenRevision: number | null
}

/** Where a sign-in comes from. */
export type SignInFrom = {
  /** Default: a stranger. */
  readonly client?: PasswordClient
  readonly address: string
  /** The browser and its system, in a few words. */
  readonly browser: string
  /** Secrets that the browser presents. */
  readonly deviceSecret: string | null
  readonly sessionSecret: string | null
}

export type SignedIn = {
  readonly sessionSecret: string
  /** Makes the browser known until the password is changed. */
  readonly deviceSecret: string
  readonly session: Session
  /** In the last 30 days somebody else made a link to this account, or used it. */
  readonly isToldOfLink: boolean
}

/** A sign-in that was refused. `email` is `null` if nobody has that account. */
export type RefusedSignIn = {
  readonly email: string | null
  readonly reason: 'failed' | 'throttled'
  readonly address: string
}

export type SignInPlace = { readonly address: string; readonly browser: string }

/** One row of the history of an account. `at` is ms. */
export type SignInRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly sessionId: string
      readonly linkMadeBy: string | null
      /** `not_recorded`: the sign-in is older than the records. */
      readonly place: SignInPlace | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly sessionId: string; readonly by: By }
  /** `isInvitation`: there was no account yet. */
  | { readonly kind: 'link_made'; readonly at: number; readonly madeBy: string; readonly isInvitation: boolean }
  | {
      readonly kind: 'password_set'
      readonly at: number
      readonly hasLink: boolean
      readonly linkMadeBy: string | null
    }
  /** Sums from `from` to `at`. */
  | {
      readonly kind: 'refused'
      readonly at: number
      readonly from: number
      readonly failed: number
      readonly throttled: number
      readonly addresses: readonly string[]
    }

/** One session by its id, or all but the one with that secret. */
export type EndingSessions = { readonly id: string } | { readonly allBut: string | null }

/** A signed-in operator types the password again, to prove that the session was not stolen or left open. */
export type OwnPassword = { readonly password: string; readonly client?: PasswordClient }

export type SignIns = {
  /**
   * Checks the password and opens a session. Ends the session that the browser presents. `wrong_credentials` takes as long for
   * an unknown e-mail as for a known one.
   */
  signIn(
    input: { readonly email: string; readonly password: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  /** Ends every session of the operator, and opens a new one. `wrong_own_password`: the old one was wrong. */
  changePassword(
    input: { readonly sessionSecret: string; readonly ownPassword: string; readonly newPassword: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  /** The session of that secret, if it is open. */
  session(sessionSecret: string): Session | null
  /** True if the session of that secret was open and has ended. False for one that this node has not heard of yet. */
  isSessionOver(sessionSecret: string): boolean
  /** Notes that the session is in use, so that it does not end unused. */
  useSession(sessionSecret: string): void
  signOut(sessionSecret: string, requestId: string): Answer<null>
  /** The operator has signed in from the browser with that secret, and has not changed the password since. */
  isKnownDevice(email: string, deviceSecret: string): boolean
  /** Oldest first. `lastUsedAt` is `null` if this node has not seen it used. */
  openSessions(email: string): readonly (Session & { readonly lastUsedAt: number | null })[]
  endSessions(email: string, which: EndingSessions, asker: Asker): Answer<null>
  /** Call it for every refused sign-in. The log gets sums of them. */
  signInRefused(refused: RefusedSignIn): void
  /** Newest first. @throws Outage */
  signInHistory(email: string): Promise<readonly SignInRow[]>
  /** Address and browser of sign-ins, by revision. Those that were purged have no entry. @throws Outage */
  signInPlaces(revisions: readonly number[]): Promise<ReadonlyMap<number, SignInPlace>>
}

export type Operators = SignIns & {
  /**
   * Makes a one-time link's secret: for the first admin (`email` null), for a new operator with that role, or for a lost
   * password. Only its hash is kept. An operator who makes one for an account that exists, or existed, must give their own
   * password: `own_password_needed` without it, `wrong_own_password` if it is wrong.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role; readonly own?: OwnPassword },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** What an unspent, unexpired link is for; `null` for any other text. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Spends the link: adds the operator, or sets the password and ends every session. */
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
  /** Never of the last admin to an auditor. */
  setRole(email: string, role: Role, asker: Asker): Answer<{ readonly email: string }>
  /**
   * Takes away the account, its sessions and its links, or an invitation; the e-mail may be invited again. Never the last
   * admin. Another node may serve a session until it has heard of it.
   */
  remove(email: string, asker: Asker): Answer<{ readonly email: string }>
}

export type FoldListener = (events: readonly RecordedEvent[]) => void

/** What runs on one log: the actors, the projections they keep current, and the sweeps. */
export type Core = {
  readonly log: EventLog
  readonly clock: Clock
  readonly entropy: Entropy
  readonly projections: Projections
  readonly cellars: Cellars
  readonly keys: Keys
  readonly operators: Operators
  /**
   * Tells of events of any node once the projections have folded them: some twice, and those of one stream in its order.
   * Returns what ends it.
   */
  onFolded(listener: FoldListener): () => void
  /** Refuses new work, waits until what is under way has settled (at most `drainMsMax`), leaves the log open. */
  drain(): Promise<void>
}

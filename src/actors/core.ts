/**
 * The actors: one per key, cellar and operator, each the only writer of its streams on this node. Here live mailboxes,
 * load -> decide -> append -> fold, and the write protocol. No HTTP, no words for people, no SQL.
 *
 * This file is what the rest of the program sees of them.
 */
import type { Projections } from '../../projections/queries.ts'
import type { Clock } from '../clock.ts'
import type { CellarState } from '../domain/cellar.ts'
import type { By, CellarPolicy, Limit, RecordedEvent, Role } from '../domain/events.ts'
import type { Idempotency } from '../domain/idempotency.ts'
import type { KeyState } from '../domain/key.ts'
import type { Readings } from '../domain/reading.ts'
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

export type Keys = {
  /** `key` is the whole key, in this answer only. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /**
   * Makes a key with the label, note, limit and expiry of that one, which ends so long after the new one's first use.
   * Until then nothing is taken from it.
   */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<CreatedKey>
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
   * stores and costs nothing (protocol, "Idempotency").
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

export type Session = { readonly email: string; readonly role: Role; readonly expiresAt: number }

export type Operators = {
  /**
   * Makes a one-time link's secret: for the first admin (`email` null), for a new operator with that role, or for a lost
   * password. Only its hash is kept.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** What an unspent, unexpired link is for; `null` for any other text. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Spends the link: adds the operator, or sets the password and ends every session. */
  spendLink(
    input: { readonly secret: string; readonly email: string; readonly password: string },
    asker: Asker,
  ): Answer<{ readonly email: string }>
  /** Never of the last admin to an auditor. */
  setRole(email: string, role: Role, asker: Asker): Answer<{ readonly email: string }>
  /**
   * Takes away the account, its sessions and its links, or an invitation; the e-mail may be invited again. Never the last
   * admin. Another node may serve a session until it has heard of it.
   */
  remove(email: string, asker: Asker): Answer<{ readonly email: string }>
  /** Checks the password and opens a session. `wrong_credentials` takes as long for an unknown e-mail as for a known one. */
  signIn(
    input: { readonly email: string; readonly password: string },
    requestId: string,
  ): Answer<{ readonly sessionSecret: string; readonly session: Session }>
  /** The session of that secret, if it is open. */
  session(sessionSecret: string): Session | null
  /** Whether the session of that secret was open once and is no more. One that this node has not heard of yet is neither. */
  isSessionOver(sessionSecret: string): boolean
  signOut(sessionSecret: string, requestId: string): Answer<null>
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

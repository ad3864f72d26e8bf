/**
 * Projections: pure folds of events into what is asked. No clock, chance, `await` or I/O lives here; the time comes in as
 * a parameter. Each is bounded (`src/limits.ts`) and can be rebuilt from the log at any moment.
 *
 * This file is what the rest of the program may ask of them.
 */
import type { CellarState } from '../src/domain/cellar.ts'
import type { Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { KeyState } from '../src/domain/key.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'

export type Projections = {
  /**
   * Folds events of any streams, in each stream's order. One that was folded before (by its stream's revision) is
   * skipped, so that an actor and a subscription may both deliver it.
   * @throws Error if a stream's events leave a gap; one in a key's readings may be what a purge took (`readings.gaps`).
   */
  fold(events: readonly RecordedEvent[]): void
  /** Highest position folded; `null` before the first. */
  readonly position: number | null
  /**
   * The state as it is when the first piece is asked for, as bytes that `restoreProjections` makes it of again. Each piece
   * takes about a millisecond, and between any two of them events may be folded: all tell of the first one's moment. The
   * next is written over the last: whoever keeps one copies it. One save at a time; `return()` ends it early.
   */
  save(pieceBytes?: number): Generator<Uint8Array>
  readonly cellars: CellarQueries
  readonly keys: KeyQueries
  readonly readings: ReadingQueries
  readonly operators: OperatorQueries
}

export type CellarQueries = {
  get(cellar: string): CellarState | null
  ofStream(stream: string): CellarState | null
  /** By title, then identifier. */
  list(): readonly CellarState[]
}

export type KeyQueries = {
  get(keyId: string): KeyState | null
  /** Newest first. */
  ofCellar(cellar: string): readonly KeyState[]
  /** Newest first. */
  list(): readonly KeyState[]
  /** The key's own limit, else its cellar's, else the default. */
  effectiveLimit(key: KeyState): Limit
}

export type AcceptedReading = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly keyId: string
  /** Ms. */
  readonly recordedAt: number
  readonly cellar: string
  readonly rack: string
  readonly keg: string
  readonly value: number
  /** As sent. */
  readonly timestamp: string
  /** Its timestamp is more than `futureSkewMsMax` ahead of `recordedAt`: kept out of "latest". */
  readonly clockSkew: boolean
  /** The day, ms of its beginning, on which the same rack, keg, timestamp and value came before, if still remembered. */
  readonly repeatOf: number | null
}

export type KegName = { readonly rack: string; readonly keg: string }

/** The kegs that were found, and how many the cellar has in all. */
export type FoundKegs = { readonly found: readonly KegName[]; readonly all: number }

export type KegLatest = KegName & {
  readonly latest: AcceptedReading
  /** Of the last accepted ones in order of acceptance, oldest first, at most `pointsPerKegMax`. */
  readonly values: readonly number[]
}

export type ReadingQueries = {
  /** Newest accepted first, at most `latestReadingsPerCellarMax`, none of a time from which readings were purged. */
  latest(cellar: string): readonly AcceptedReading[]
  /**
   * Kegs with anything to show in whose names every word occurs, by rack, then keg. The words are lower case, without white
   * space. There may be `kegsPerCellarMax` kegs: it yields after each piece of work, and a page asks for `kegs` of a few.
   */
  findKegs(cellar: string, words: readonly string[]): Generator<void, FoundKegs>
  /** Those of these that have anything to show, in their order. "Latest" is by the reading's own timestamp, not by arrival. */
  kegs(cellar: string, names: readonly KegName[]): readonly KegLatest[]
  /** Time of the last accepted reading of that key, ms, and how many there were; `null` before the first. */
  usage(
    keyId: string,
  ): { readonly lastUsedAt: number; readonly accepted: number; readonly last: AcceptedReading } | null
  /** The events of a key's readings stream that are no readings, for its history, oldest first: the last `barriersPerKeyMax`. */
  barriers(keyId: string): readonly Barrier[]
  /** Where the key's readings begin, and the last purge that made it so; `null` if nothing was purged. */
  purged(keyId: string): Purged | null
  /** Keys of which readings were purged. */
  purgedKeys(): readonly string[]
  /** Keys of which readings are missing that no purge accounts for, or not yet. */
  gaps(): readonly string[]
}

export type Purged = {
  readonly keptFrom: number
  /** Of all purges. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

/** Ends or fences the readings of a key (docs/protocol.md, "Taking a right away"). */
export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/** `passwordHash` is argon2id, in its own text form. Shown nowhere. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

/** What an open link gives an e-mail that has no account. */
export type Invitation = {
  readonly email: string
  /** The most that any of its open links gives. */
  readonly role: Role
  /** When the last of them ends, ms. */
  readonly expiresAt: number
}

export type OpenSession = OperatorSession & { readonly email: string; readonly role: Role }

export type IssuedLink = {
  readonly stream: string
  readonly email: string | null
  readonly role: Role
  readonly expiresAt: number
}

export type OperatorQueries = {
  get(email: string): OperatorAccount | null
  /** By e-mail. */
  list(): readonly OperatorAccount[]
  /** Who may still join at `now`, by e-mail. A set-up link is nobody's, so it is not here. */
  invitations(now: number): readonly Invitation[]
  /** Some operator has signed in from the browser with that hash, and has not changed the password since. */
  isDevice(deviceHash: string): boolean
  /** There was an account, and access was taken away. */
  wasRemoved(email: string): boolean
  /** Not expired at `now`, found by the hash of its secret. It may have ended for lack of use: that is not checked here. */
  session(sessionHash: string, now: number): OpenSession | null
  /** The sessions of an operator that have not expired at `now`. Oldest first. */
  sessions(email: string, now: number): readonly OperatorSession[]
  /** Known to have ended before `now`, or to have expired by then; of those that ended, the last so many are known. */
  isSessionOver(sessionHash: string, now: number): boolean
  /** Unspent and unexpired at `now`, found by the hash of its secret. */
  link(linkHash: string, now: number): IssuedLink | null
}

/**
 * What the program may ask of the projections, which are state folded from events. They use no clock and no I/O. Their memory
 * is bounded (`src/limits.ts`), and they can be rebuilt from the log. Times are ms.
 */
import type { CellarState } from '../src/domain/cellar.ts'
import type { Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { KeyState } from '../src/domain/key.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'

export type Projections = {
  /**
   * Folds events in the order of each stream, and skips those that were folded before. So an actor and a subscription may both
   * deliver an event.
   * @throws Error if a revision is missing. Readings are the exception, because they may be purged (`readings.gaps`).
   */
  fold(events: readonly RecordedEvent[]): void
  /** Highest position folded. `null` before the first event. */
  readonly position: number | null
  /**
   * The state as bytes for `restoreProjections`, in pieces of about a millisecond of work. All pieces show the moment of the first
   * one, although events may be folded between them. The next piece overwrites the last, so copy what you keep. Only one save
   * may run. `return()` ends it early.
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
  /** The key's own, or its cellar's, or the default. */
  effectiveLimit(key: KeyState): Limit
}

export type AcceptedReading = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly keyId: string
  readonly recordedAt: number
  readonly cellar: string
  readonly rack: string
  readonly keg: string
  readonly value: number
  /** As sent. */
  readonly timestamp: string
  /** The timestamp is more than `futureSkewMsMax` ahead of `recordedAt`. Never the latest of a keg. */
  readonly clockSkew: boolean
  /** Beginning of the day on which the same rack, keg, timestamp and value were accepted before, if known. */
  readonly repeatOf: number | null
}

export type KegName = { readonly rack: string; readonly keg: string }

/** `all`: number of kegs in the cellar. */
export type FoundKegs = { readonly found: readonly KegName[]; readonly all: number }

export type KegLatest = KegName & {
  readonly latest: AcceptedReading
  /** In order of acceptance, oldest first, at most `pointsPerKegMax`. */
  readonly values: readonly number[]
}

export type ReadingQueries = {
  /** Newest accepted first, at most `latestReadingsPerCellarMax`, without purged days. */
  latest(cellar: string): readonly AcceptedReading[]
  /**
   * Kegs whose rack and keg names contain every word, by rack, then keg. `words` are lower case, without white space. Yields
   * after each step, because there may be `kegsPerCellarMax` kegs.
   */
  findKegs(cellar: string, words: readonly string[]): Generator<void, FoundKegs>
  /** In the order of `names`, without kegs that have nothing to show. The latest reading has the latest timestamp. */
  kegs(cellar: string, names: readonly KegName[]): readonly KegLatest[]
  /** `accepted`: number of accepted readings. `null` before the first. */
  usage(
    keyId: string,
  ): { readonly lastUsedAt: number; readonly accepted: number; readonly last: AcceptedReading } | null
  /** The last `barriersPerKeyMax` seals and fences of the key's readings, oldest first. */
  barriers(keyId: string): readonly Barrier[]
  /** `null` if nothing was purged. */
  purged(keyId: string): Purged | null
  purgedKeys(): readonly string[]
  /** Keys with missing readings that no purge explains, or not yet. */
  gaps(): readonly string[]
}

export type Purged = {
  /** First revision that was kept. */
  readonly keptFrom: number
  /** Number of purged readings, of all purges. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

/** Ends or fences the readings of a key (docs/protocol.md, "Taking a right away"). */
export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/** `passwordHash` is argon2id in its text form. Never shown. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

/** An e-mail with an open link and without an account. */
export type Invitation = {
  readonly email: string
  /** The highest role of its open links. */
  readonly role: Role
  /** Of the link that expires last. */
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
  /** Open at `now`, by e-mail. Without set-up links, which have no e-mail. */
  invitations(now: number): readonly Invitation[]
  /** True if an operator signed in from this browser, and has not changed the password since. */
  isDevice(deviceHash: string): boolean
  /** True if there was an account and it was removed. */
  wasRemoved(email: string): boolean
  /** Not expired at `now`. The caller checks `idleAt`. */
  session(sessionHash: string, now: number): OpenSession | null
  /** Not expired at `now`. Oldest first. */
  sessions(email: string, now: number): readonly OperatorSession[]
  /** True if the session ended or expired by `now`. Only the last `endedSessionsMax` ended sessions are known. */
  isSessionOver(sessionHash: string, now: number): boolean
  /** Unspent and not expired at `now`. */
  link(linkHash: string, now: number): IssuedLink | null
}

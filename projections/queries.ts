/** What the program may ask of the projections. Times are ms. */
import type { CellarState } from '../src/domain/cellar.ts'
import type { Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { KeyState } from '../src/domain/key.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'

export type Projections = {
  /**
   * Skips events that were folded before, because an actor and a subscription may both deliver one.
   * @throws Error if a revision is missing. Readings may be purged, so they are the exception (`readings.gaps`).
   */
  fold(events: readonly RecordedEvent[]): void
  readonly position: number | null
  /**
   * The state as bytes, in pieces of about a millisecond. All pieces show the moment of the first one, although events may be
   * folded between them. Each piece overwrites the last one. Only one save may run, and `return()` ends it.
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
  readonly timestamp: string
  /** The timestamp is more than `futureSkewMsMax` ahead of `recordedAt`. */
  readonly clockSkew: boolean
  /** The day (its first ms) on which the same rack, keg, timestamp and value came before, if known. */
  readonly repeatOf: number | null
}

export type KegName = { readonly rack: string; readonly keg: string }

export type FoundKegs = { readonly found: readonly KegName[]; readonly all: number }

export type KegLatest = KegName & {
  readonly latest: AcceptedReading
  /** In order of acceptance, oldest first, at most `pointsPerKegMax`. */
  readonly values: readonly number[]
}

export type ReadingQueries = {
  /** Newest accepted first, at most `latestReadingsPerCellarMax`, without purged days. */
  latest(cellar: string): readonly AcceptedReading[]
  /** By rack, then keg. Each of the `words`, in lower case, is in one of the two names. Yields between steps of work. */
  findKegs(cellar: string, words: readonly string[]): Generator<void, FoundKegs>
  /** In the order of `names`, without kegs that have nothing to show. */
  kegs(cellar: string, names: readonly KegName[]): readonly KegLatest[]
  /** `null` before the first reading. */
  usage(
    keyId: string,
  ): { readonly lastUsedAt: number; readonly accepted: number; readonly last: AcceptedReading } | null
  /** The last `barriersPerKeyMax`, oldest first. */
  barriers(keyId: string): readonly Barrier[]
  purged(keyId: string): Purged | null
  purgedKeys(): readonly string[]
  /** Keys with missing readings that no purge explains yet. */
  gaps(): readonly string[]
}

export type Purged = {
  /** First revision that was kept. */
  readonly keptFrom: number
  /** Sum of all purges. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

/** See docs/protocol.md, "Taking a right away". */
export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/** Pages never show `passwordHash`. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

/** An e-mail with an open link, but no account. */
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
  list(): readonly OperatorAccount[]
  /** Open at `now`, by e-mail. */
  invitations(now: number): readonly Invitation[]
  /** An operator signed in from this browser, and has not changed the password since. */
  isDevice(deviceHash: string): boolean
  wasRemoved(email: string): boolean
  /** Not expired at `now`. The caller checks `idleAt`. */
  session(sessionHash: string, now: number): OpenSession | null
  /** Not expired at `now`. Oldest first. */
  sessions(email: string, now: number): readonly OperatorSession[]
  /** Only the last `endedSessionsMax` ended sessions are known. */
  isSessionOver(sessionHash: string, now: number): boolean
  /** Unspent and not expired at `now`. */
  link(linkHash: string, now: number): IssuedLink | null
}

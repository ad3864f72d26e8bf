/** These types say what the program can ask the projections, which are folded from events. Times are in ms. */
import type { CellarState } from '../src/domain/cellar.ts'
import type { Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { KeyState } from '../src/domain/key.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import type { LogItem } from '../src/domain/reading/recorded-run.ts'

export type Projections = {
  /**
   * Skips events that were folded before, because an actor and a subscription can deliver the same event. Of a run
   * whose first readings were folded before, folds the rest.
   * @throws Error if an earlier event of the stream is missing. Missing readings throw no error, because a purge can
   * have deleted them (`readings.gaps`).
   */
  fold(items: readonly LogItem[]): void
  /** Takes the place of folding all readings, once all other events are folded that are no records. */
  reach(ends: readonly ReadingsEnd[]): void
  readonly position: number | null
  /** The last revision of the stream that is known. `null` for an unknown stream, and for streams that are not folded. */
  lastRevision(stream: string): number | null
  readonly cellars: CellarQueries
  readonly keys: KeyQueries
  readonly readings: ReadingQueries
  readonly operators: OperatorQueries
}

export type CellarQueries = {
  get(cellar: string): CellarState | null
  ofStream(stream: string): CellarState | null
  /** The title just before the event at the position. `null` for an unknown cellar or a forgotten title (`PastNames`). */
  titleAt(cellar: string, position: number): string | null
  /** Sorted by title, then by identifier. */
  list(): readonly CellarState[]
}

export type KeyQueries = {
  get(keyId: string): KeyState | null
  /** The label just before the event at the position. `null` for an unknown key or a forgotten label (`PastNames`). */
  labelAt(keyId: string, position: number): string | null
  /** The newest key is first. */
  ofCellar(cellar: string): readonly KeyState[]
  /** The newest key is first. */
  list(): readonly KeyState[]
  /** The keys with this label, in any case of its letters. The newest key is first. */
  labelled(label: string): readonly KeyState[]
  /** The keys whose label has this pattern. The newest key is first. With 100,000 keys, it takes 5 to 10 ms. */
  labelledLike(pattern: RegExp): readonly KeyState[]
  effectiveLimit(key: KeyState): Limit
}

export type KeyUsage = {
  readonly lastUsedAt: number
  readonly accepted: number
  /** The place of the last reading in the log. */
  readonly last: Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>
}

export type ReadingQueries = {
  /** `null` before the key's first reading. */
  usage(keyId: string): KeyUsage | null
  /** The last `barriersPerKeyMax` seal and fence events of the key, oldest first. */
  barriers(keyId: string): readonly Barrier[]
  /** The last known revision of a readings stream: of a reading, a seal, a fence or a purge. `null` if there is none. */
  lastRevision(stream: string): number | null
  purged(keyId: string): Purged | null
  purgedKeys(): readonly string[]
  /**
   * Ids of keys with missing readings that no purge explains yet. If no purge event follows, the log has lost readings.
   */
  gaps(): readonly string[]
}

export type Purged = {
  /** The first revision after all purged revisions. */
  readonly keptFrom: number
  /** The number of readings that all purges together removed. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

/** An event that tells every node that a key lost a right. See docs/protocol.md, "Taking a right away". */
export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/** Pages never show `passwordHash`. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

/** An e-mail address that has an open link, but no account yet. */
export type Invitation = {
  readonly email: string
  /** The highest role that one of the open links gives. */
  readonly role: Role
  /** When the last of the open links expires. */
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
  /** The last known revision of an operator's stream, or of the stream of set-up links. `null` if there is none. */
  lastRevision(stream: string): number | null
  /** Also knows invited and removed operators. */
  emailOf(stream: string): string | null
  get(email: string): OperatorAccount | null
  list(): readonly OperatorAccount[]
  /** Invitations that are open at `now`, sorted by e-mail. */
  invitations(now: number): readonly Invitation[]
  /** True if an operator signed in from this browser, and the operator's password has not been set again since then. */
  isDevice(deviceHash: string): boolean
  wasRemoved(email: string): boolean
  /**
   * `null` if the session is unknown, or has ended or expired at `now`. The caller must also check `idleAt`, the time
   * at which an unused session ends.
   */
  session(sessionHash: string, now: number): OpenSession | null
  /** Sessions that have not expired at `now`, oldest first. */
  sessions(email: string, now: number): readonly OperatorSession[]
  /**
   * True if this node knows that the session has ended or expired. False if the session is open, or unknown here:
   * another node can have begun it a moment ago. Only the last `endedSessionsMax` ended sessions are remembered.
   */
  isSessionOver(sessionHash: string, now: number): boolean
  /** `null` if the link cannot be used at `now`. */
  link(linkHash: string, now: number): IssuedLink | null
}

/** What the program can ask the projections. Times are in ms. */
import type { CellarState } from '../src/domain/cellar.ts'
import type { Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { KeyState } from '../src/domain/key.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import type { LogItem } from '../src/domain/reading/recorded-run.ts'

export type Projections = {
  /**
   * Skips what was folded before, because an actor and a subscription can deliver the same event. @throws Error if an
   * earlier event of the stream is missing. Not for readings, because a purge can have deleted them (`readings.gaps`).
   */
  fold(items: readonly LogItem[]): void
  /** In place of folding all readings, once all other events but records are folded. */
  reach(ends: readonly ReadingsEnd[]): void
  readonly position: number | null
  /** `null` for an unknown stream, and for streams that are not folded. */
  lastRevision(stream: string): number | null
  readonly cellars: CellarQueries
  readonly keys: KeyQueries
  readonly readings: ReadingQueries
  readonly operators: OperatorQueries
}

export type CellarQueries = {
  get(cellar: string): CellarState | null
  ofStream(stream: string): CellarState | null
  /** Just before the event. `null`: unknown or forgotten (`PastNames`). */
  titleAt(cellar: string, position: number): string | null
  /** Sorted by title, then by identifier. */
  list(): readonly CellarState[]
}

export type KeyQueries = {
  get(keyId: string): KeyState | null
  /** Just before the event. `null`: unknown or forgotten (`PastNames`). */
  labelAt(keyId: string, position: number): string | null
  ofCellar(cellar: string): readonly KeyState[]
  list(): readonly KeyState[]
  labelled(label: string): readonly KeyState[]
  /** With 100,000 keys, this takes 5 to 10 ms. */
  labelledLike(pattern: RegExp): readonly KeyState[]
  effectiveLimit(key: KeyState): Limit
}

export type KeyUsage = {
  readonly lastUsedAt: number
  readonly accepted: number
  /** In the log. */
  readonly last: Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>
}

export type ReadingQueries = {
  /** `null` before the key's first reading. */
  usage(keyId: string): KeyUsage | null
  /** At most `barriersPerKeyMax`, oldest first. */
  barriers(keyId: string): readonly Barrier[]
  /** Of a reading, a seal, a fence or a purge. */
  lastRevision(stream: string): number | null
  purged(keyId: string): Purged | null
  purgedKeys(): readonly string[]
  /** Keys with missing readings that no purge explains yet. If none follows, the log has lost readings. */
  gaps(): readonly string[]
}

export type Purged = {
  /** The first after all purged ones. */
  readonly keptFrom: number
  /** Of all purges together. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/** Pages never show `passwordHash`. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

export type Invitation = {
  readonly email: string
  /** Of the open links. */
  readonly role: Role
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
  /** Of an operator's stream, or of the stream of set-up links. */
  lastRevision(stream: string): number | null
  emailOf(stream: string): string | null
  get(email: string): OperatorAccount | null
  list(): readonly OperatorAccount[]
  /** Sorted by e-mail. */
  invitations(now: number): readonly Invitation[]
  /** An operator signed in from this browser, and the password has not been set again since. */
  isDevice(deviceHash: string): boolean
  wasRemoved(email: string): boolean
  /** The caller must also check `idleAt`, when an unused session ends. */
  session(sessionHash: string, now: number): OpenSession | null
  sessions(email: string, now: number): readonly OperatorSession[]
  /**
   * Another node can have begun an unknown session a moment ago, so that is false. Only the last `endedSessionsMax` ended
   * ones are remembered.
   */
  isSessionOver(sessionHash: string, now: number): boolean
  /** `null`: the link cannot be used at `now`. */
  link(linkHash: string, now: number): IssuedLink | null
}

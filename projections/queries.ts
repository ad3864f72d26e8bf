/** What the program can ask the projections. Times are in ms. */
import type { RecordedEvent, Role } from '../src/domain/events.ts'
import type { OperatorAccountState, OperatorSession } from '../src/domain/operator.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import type { LogItem } from '../src/domain/reading/recorded-run.ts'
import type { AcceptedReadings } from './accepted-readings.ts'
import type { CellarList } from './cellar-list.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { OperatorDirectory } from './operator-directory.ts'

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
  readonly cellars: Omit<CellarList, 'fold'>
  readonly keys: KeyQueries
  readonly readings: Pick<AcceptedReadings, 'usage' | 'barriers' | 'lastRevision' | 'purged' | 'purgedKeys' | 'gaps'>
  readonly operators: Omit<OperatorDirectory, 'fold' | 'foldSetup'>
}

export type KeyQueries = Omit<KeyDirectory, 'fold'>

export type KeyUsage = {
  readonly lastUsedAt: number
  readonly accepted: number
  /** In the log. */
  readonly last: Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>
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

/** What the program can ask the projections. Times are in ms. */
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

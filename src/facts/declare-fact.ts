import type { LogCheckView } from '../../views/types.ts'
import type { CoreFigures } from '../actors/core-interface.ts'
import type { ModelProgress } from '../derived/follower-messages.ts'
import type { Histogram } from '../histogram.ts'
import type { EventLog } from '../log/event-log.ts'

/** Where the facts of a node are. All of it is in memory, so reading every fact takes less than a millisecond. */
export type FactSources = {
  readonly version: string
  readonly startedMs: number
  /** Also when the log was restored or copied. */
  readonly logBeganMs: number
  readonly log: Pick<EventLog, 'health' | 'figures'>
  readonly core: { figures(): CoreFigures }
  readonly requests: {
    readonly codes: ReadonlyMap<string, ReadonlyMap<number, number>>
    readonly refused: ReadonlyMap<string, number>
    readonly storeSeconds: Histogram
  }
  readonly bodies: { readonly count: number; reservedBytes(pool: 'devices' | 'operators' | 'visitors'): number }
  readonly live: { readonly streams: number }
  readonly traces: { readonly counts: ReadonlyMap<string, number> }
  readonly models: () => readonly ModelFact[]
  /** By kind, each that `health.ts` knows. */
  readonly reasons: () => ReadonlyMap<string, boolean>
  readonly isReady: () => boolean
  /** By kind, each that `ClockWatch` knows. */
  readonly clocks: () => ReadonlyMap<string, boolean>
  /** `null`: this node does not check its log. */
  readonly check: () => LogCheckView | null
  /** `null`: no TLS. */
  readonly servedCertificate: () => { readonly endsAtMs: number; readonly warnsAtMs: number } | null
  readonly watch: {
    readonly loopLagSeconds: Histogram
    readonly lastBackup: BackupFact | null
    readonly isBackupKnown: boolean
    readonly diskFullInSeconds: number | null
    readonly lastMinute: { readonly stored: number; readonly overMs: number; readonly p99Seconds: number | null }
  }
}

/** `endedAt` is in ms since 1970. */
export type BackupFact = {
  readonly endedAt: number
  readonly lastPosition: number
  readonly bytes: number
  readonly target: string
}

export type ModelFact = {
  readonly name: string /** `null`: not known. */
  readonly lag: number | null
  readonly progress: ModelProgress
}

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number | Histogram }

export type Fact = {
  /** As Prometheus wants it: `cellarbook_`, what it is, its unit, and `_total` for a counter. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly unit: 'seconds' | 'bytes' | null
  /** Their values come from short lists. No label names a key, a rack or a keg. */
  readonly labels: readonly string[]
  /** No sample: this node cannot know it, or has none. */
  readonly read: (sources: FactSources) => readonly Sample[]
}

type Kind = Fact['kind']
type Words = Pick<Fact, 'name' | 'help'>
type Value = number | Histogram

export const fact = (kind: Kind, words: Words, read: (sources: FactSources) => Value | null): Fact => ({
  ...words,
  kind,
  unit: unitOf(words.name),
  labels: [],
  read: (sources) => {
    const value = read(sources)
    return value === null ? [] : [{ labels: {}, value }]
  },
})

export type ProcessFact = Fact & { readonly read: () => readonly Sample[] }

/** It needs no part of the service, so it is known during the start, too. */
export const factOfProcess = (kind: Kind, words: Words, read: () => number): ProcessFact => ({
  ...words,
  kind,
  unit: unitOf(words.name),
  labels: [],
  read: () => [{ labels: {}, value: read() }],
})

export const factBy = (
  label: string,
  kind: Kind,
  words: Words,
  read: (sources: FactSources) => Iterable<readonly [string, Value]>,
): Fact => ({
  ...words,
  kind,
  unit: unitOf(words.name),
  labels: [label],
  read: (sources) => [...read(sources)].map(([name, value]) => ({ labels: { [label]: name }, value })),
})

const unitOf = (name: string): Fact['unit'] => {
  if (name.includes('_seconds')) return 'seconds'
  return name.includes('_bytes') ? 'bytes' : null
}

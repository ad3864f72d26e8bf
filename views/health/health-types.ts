import type { LogCheckView } from '../types.ts'

/** Of one node. */
export type HealthView = {
  /** False: some kinds of readings are refused. */
  readonly isReady: boolean
  readonly stored: { readonly count: number; readonly overMs: number; readonly p99Ms: number | null }
  /** `null`: the log is not on a disk of this node. */
  readonly disk: DiskView | null
  readonly store: StoreView
  /** `null`: EventStoreDB keeps the log, so this node does not check it. */
  readonly check: LogCheckView | null
  /** `null`: none was made from this data folder. */
  readonly backup: { readonly endedAt: number; readonly bytes: number } | null
  readonly models: readonly { readonly name: string; readonly isReady: boolean }[]
  readonly clockTroubles: readonly ClockTrouble[]
  /** `null`: this node has no TLS of its own. */
  readonly certificate: { readonly endsAtMs: number; readonly warnsAtMs: number } | null
  readonly version: string
  readonly startedAt: number
  readonly memoryBytes: number
  readonly livePages: number
  readonly settings: readonly SettingView[]
}

export type DiskView = {
  readonly freeBytes: number
  readonly reserveBytes: number
  /** `null`: not known yet. `Infinity`: the disk does not fill. */
  readonly fullInMs: number | null
}

export type StoreView =
  | { readonly kind: 'embedded'; readonly logBytes: number | null; readonly walBytes: number | null }
  | { readonly kind: 'eventstoredb'; readonly leader: string | null; readonly connections: number }

export type ClockTrouble = 'ahead' | 'late' | 'leapt' | 'doubted'

export type SettingView = {
  readonly name: string
  /** Without secrets. `null`: not set. */
  readonly value: string | null
  /** Like `environment` or `default`. */
  readonly source: string
  /** Markdown: only `code`. */
  readonly meaning: string
}

import type { AttentionKind, AttentionLine, LineScope } from '../../src/domain/attention/attention-lines.ts'
import type { PastLine } from '../../src/domain/attention/history.ts'
import type { By } from '../../src/domain/events.ts'

export type AttentionRow = {
  /** `null`: the line is of a node. */
  readonly cellar: string | null
  readonly cellarTitle: string
  /** `null`: the line is not about one key. */
  readonly keyLabel: string | null
  readonly line: AttentionLine
  /** `of`: the line, or its rack or cellar. */
  readonly rest: { readonly untilMs: number; readonly by: By; readonly of: LineScope } | null
}

/** Which lines are shown. `null`: all. */
export type AttentionQuery = { readonly cellar: string | null; readonly kind: AttentionKind | null }

export type AttentionView = {
  readonly query: AttentionQuery
  /** Of the lines that are not at rest. */
  readonly kinds: readonly { readonly kind: AttentionKind; readonly count: number }[]
  /** Those with most lines first. */
  readonly cellars: readonly { readonly cellar: string; readonly title: string; readonly count: number }[]
  /** Without a link. */
  readonly moreCellars: number
  /** Most urgent first. */
  readonly awake: readonly AttentionRow[]
  readonly resting: readonly AttentionRow[]
  /** Further lines, which are not in these lists. */
  readonly more: number
  /** All lines that are not at rest. */
  readonly count: number
}

/** Newest first, as far back as `sinceMs`. `null`: the records cannot be read now. */
export type PastView = {
  readonly past: readonly PastLine[]
  readonly sinceMs: number
  /** There are more records than were read. */
  readonly isCut: boolean
} | null

export type PastPageView = {
  readonly cellar: string | null
  readonly cellarTitle: string
  readonly keyLabel: string | null
  readonly scope: LineScope
  readonly past: PastView
}

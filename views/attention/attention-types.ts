import type { AttentionLine } from '../../src/domain/attention/attention-lines.ts'
import type { By } from '../../src/domain/events.ts'

export type AttentionRow = {
  /** `null`: the line is of a node. */
  readonly cellar: string | null
  readonly cellarTitle: string
  /** `null`: the line is not about one key. */
  readonly keyLabel: string | null
  readonly line: AttentionLine
  readonly rest: { readonly untilMs: number; readonly by: By } | null
}

export type AttentionView = {
  /** Most urgent first. */
  readonly awake: readonly AttentionRow[]
  readonly resting: readonly AttentionRow[]
  /** Further lines, which are not in these lists. */
  readonly more: number
  /** All lines that are not at rest. */
  readonly count: number
}

import type { Core } from '../../../actors/core.ts'

export type LogListParts = {
  readonly core: Core
  readonly nowMs: number
  /** The e-mail of the operator. */
  readonly owner: string
}

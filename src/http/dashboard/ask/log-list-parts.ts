import type { Core } from '../../../actors/core-interface.ts'
import type { Pause } from '../show/pauses.ts'

export type LogListParts = {
  readonly core: Core
  readonly nowMs: number
  readonly owner: string
  readonly pause?: Pause
}

import { benchNeighbours } from './load/neighbours.ts'
import type { ServiceOptions } from './servers.ts'
import { benchLoopHolds, type HeldLoop } from './watch/loop-holds.ts'

export type WorstCase = {
  readonly rounds: number
  readonly seconds: number
  /** `loop` or `neighbours`, or a part of a neighbour's name; `null`: everything. */
  readonly what: string | null
}

/** What the worst requests cost the event loop, and what the devices of others notice of them. */
export const benchWorstCase = async ({ rounds, seconds, what }: WorstCase, options: ServiceOptions): Promise<void> => {
  const held: readonly HeldLoop[] = what === null || what === 'loop' ? await benchLoopHolds(rounds, options) : []
  if (what === 'loop') return
  const only = what === null || what === 'neighbours' ? '' : what
  await benchNeighbours(held, { ...options, seconds, only })
}

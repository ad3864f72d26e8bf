import { benchNeighbours } from './load/neighbours.ts'
import type { ServiceOptions } from './servers.ts'
import { benchNewRacks } from './watch/cost-of-new-racks.ts'
import { benchLoopHolds, type HeldLoop } from './watch/loop-holds.ts'

export type WorstCase = {
  readonly rounds: number
  readonly seconds: number
  /**
   * `loop`, `targets`, `racks`, `neighbours`, or a part of the name of one neighbour (a kind of bad client). `null` means all.
   * `targets` is the part of `loop` whose bodies have a target of their own.
   */
  readonly what: string | null
}

/** Measures what the worst requests cost the event loop and other devices. */
export const benchWorstCase = async ({ rounds, seconds, what }: WorstCase, options: ServiceOptions): Promise<void> => {
  const isLoop = what === null || what === 'loop' || what === 'targets'
  const onlyTargets = what === 'targets'
  const held: readonly HeldLoop[] = isLoop ? await benchLoopHolds({ ...options, rounds, onlyTargets }) : []
  if (what === null || what === 'racks') await benchNewRacks(rounds, options)
  if (what === 'loop' || onlyTargets || what === 'racks') return
  const only = what === null || what === 'neighbours' ? '' : what
  await benchNeighbours(held, { ...options, seconds, only })
}

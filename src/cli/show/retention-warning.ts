import { durationTyped, retentionWithin } from '../../domain/amounts.ts'
import type { CellarState } from '../../domain/cellar.ts'
import { purgeBefore } from '../../domain/purge-before.ts'
import { isoOf } from './event-view.ts'

/**
 * What goes for good when a cellar's readings are kept so long from now on (ms; `null`: for ever), as the dashboard says it
 * before it asks. `null`: nothing more than would have gone, or nothing that could be set.
 */
export const retentionWarning = ({ policy }: CellarState, retentionMs: number | null, nowMs: number): string | null => {
  if (retentionMs === null || !retentionWithin(retentionMs).ok) return null
  const before = policy.retentionMs
  if (before !== null && retentionMs >= before) return null
  const kept = before === null ? 'for ever' : durationTyped(before)
  const first = isoOf(purgeBefore(nowMs, retentionMs))
  return `Nothing was changed. Readings are kept ${kept} now; with ${durationTyped(retentionMs)} older ones go for good: first those accepted before ${first}, of every key of this cellar, then each day those of one day more. If that is meant, give --yes too.`
}

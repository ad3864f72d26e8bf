import type { LogItem } from '../../domain/reading/recorded-run.ts'
import type { AppendResult, Outage } from '../event-log.ts'
import type { EncodedAppend, StagedAppend } from './sqlite-staging.ts'

export type Waiting = EncodedAppend & {
  readonly isTraffic: boolean
  resolve(result: AppendResult): void
  reject(cause: unknown): void
}

export type WaitingGroup = { appends: readonly Waiting[] }

/**
 * On a full disk, a revocation can fit without the readings of its group. So readings, and summaries of refused ones, are
 * rejected, and the rest is committed again. False: nothing is left.
 */
export const refuseReadings = (group: WaitingGroup, full: Outage): boolean => {
  const changes = group.appends.filter(({ isTraffic }) => !isTraffic)
  if (changes.length === 0 || changes.length === group.appends.length) return false
  for (const append of group.appends) if (append.isTraffic) append.reject(full)
  group.appends = changes
  return true
}

export const recordedBy = (staged: StagedAppend): readonly LogItem[] => ('recorded' in staged ? staged.recorded : [])

export const answer = (append: Waiting | undefined, staged: StagedAppend): void => {
  if ('fault' in staged) append?.reject(staged.fault)
  else append?.resolve(staged.result)
}

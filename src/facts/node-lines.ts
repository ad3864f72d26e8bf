import type { AttentionLine } from '../domain/attention/attention-lines.ts'
import { dayMs } from '../domain/calendar.ts'
import type { FactSources } from './declare-fact.ts'

const diskWithinMs = 30 * dayMs
const backupEveryMs = 7 * dayMs

/** What somebody should look at on this node. */
export const nodeLines = (
  {
    watch,
    check,
    servedCertificate,
    startedMs,
  }: Pick<FactSources, 'check' | 'servedCertificate' | 'startedMs'> & {
    readonly watch: Pick<FactSources['watch'], 'diskFullInSeconds' | 'lastBackup'>
  },
  nowMs: number,
): readonly AttentionLine[] => {
  const lines: AttentionLine[] = []
  const fullInMs = (watch.diskFullInSeconds ?? Number.POSITIVE_INFINITY) * 1_000
  if (fullInMs <= diskWithinMs) lines.push({ kind: 'disk_fills', sinceMs: nowMs, dueMs: Math.round(nowMs + fullInMs) })
  const checked = check()
  if (checked !== null && 'at' in checked && checked.kind !== 'sound')
    lines.push({ kind: 'check_failed', sinceMs: checked.at })
  // Only a node with the embedded log checks it, and makes backups of its own.
  const backupDueMs = (watch.lastBackup?.endedAt ?? startedMs) + backupEveryMs
  if (checked !== null && nowMs >= backupDueMs) lines.push({ kind: 'backup_old', sinceMs: backupDueMs })
  const served = servedCertificate()
  if (served !== null && nowMs >= served.warnsAtMs)
    lines.push({ kind: 'certificate_ends', sinceMs: Math.max(0, served.warnsAtMs), dueMs: served.endsAtMs })
  return lines
}

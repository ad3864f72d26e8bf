import type { AttentionLine } from '../domain/attention/attention-lines.ts'
import type { NodeLines } from '../domain/attention/lines-of-nodes.ts'
import { dayMs } from '../domain/calendar.ts'
import type { FactSources } from './declare-fact.ts'

const diskWithinMs = 30 * dayMs
/** The rate of the disk changes from hour to hour. A line that ended at its beginning would come and go. */
const diskBeyondMs = 45 * dayMs
const backupEveryMs = 7 * dayMs

/** What somebody should look at on this node. */
export const nodeLines = (
  {
    watch,
    check,
    servedCertificate,
    logBeganMs,
  }: Pick<FactSources, 'check' | 'servedCertificate' | 'logBeganMs'> & {
    readonly watch: Pick<FactSources['watch'], 'diskFullInSeconds' | 'lastBackup' | 'isBackupKnown'>
  },
  nowMs: number,
): NodeLines => {
  const lines: AttentionLine[] = []
  const undecided: AttentionLine['kind'][] = []
  const fullInMs = watch.diskFullInSeconds === null ? null : watch.diskFullInSeconds * 1_000
  if (fullInMs !== null && fullInMs <= diskWithinMs)
    lines.push({ kind: 'disk_fills', sinceMs: nowMs, dueMs: Math.round(nowMs + fullInMs) })
  else if (fullInMs === null || fullInMs <= diskBeyondMs) undecided.push('disk_fills')
  const checked = check()
  if (checked?.kind === 'waiting') undecided.push('check_failed')
  else if (checked !== null && checked.kind !== 'sound') lines.push({ kind: 'check_failed', sinceMs: checked.at })
  // Only a node with the embedded log checks it, and makes backups of its own.
  const backupDueMs = (watch.lastBackup?.endedAt ?? logBeganMs) + backupEveryMs
  if (checked !== null && !watch.isBackupKnown) undecided.push('backup_old')
  else if (checked !== null && nowMs >= backupDueMs) lines.push({ kind: 'backup_old', sinceMs: backupDueMs })
  const served = servedCertificate()
  if (served !== null && nowMs >= served.warnsAtMs)
    lines.push({ kind: 'certificate_ends', sinceMs: Math.max(0, served.warnsAtMs), dueMs: served.endsAtMs })
  return { lines, undecided }
}

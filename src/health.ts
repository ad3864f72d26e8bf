/** For `/readyz`, log lines and pages. */
import type { HealthReason } from '../views/types.ts'
import type { AttentionParts } from './actors/attention/attention-watch.ts'
import type { CoreParts } from './actors/node.ts'
import type { IndexTrouble } from './actors/repeats/repeat-memory.ts'
import type { Config } from './config.ts'
import type { BodyTrouble, RefusedKind } from './http/body-memory-trouble.ts'
import { heartbeatMs } from './limits.ts'
import type { CertificateTrouble } from './listen/certificate-renewal.ts'
import type { EventLog, LogTroubleKind } from './log/event-log.ts'
import { excusedFile } from './log/excused-file.ts'
import type { LogLines } from './log-lines.ts'
import type { Schedule } from './schedule.ts'
import { webhooksOf } from './webhooks/webhooks-of-service.ts'

export type ReasonKind =
  | 'log_away'
  | LogTroubleKind
  | RefusedKind
  | `index_${IndexTrouble['kind']}`
  | 'descriptors'
  | CertificateTrouble['kind']

export type Reason = HealthReason & {
  readonly kind: ReasonKind
  /** With `nothing`, `/readyz` still says ready. */
  readonly refuses: 'readings' | 'readings with an idempotency key' | 'nothing'
}

export type HealthParts = {
  readonly log: Pick<EventLog, 'health' | 'troubles'>
  readonly indexTrouble: () => IndexTrouble | null
  readonly bodyTroubles: () => readonly BodyTrouble[]
  /** Found by the daily check. */
  readonly damage?: () => string | null
  /** Why few file descriptors are free. */
  readonly descriptors?: () => string | null
  readonly certificate?: () => CertificateTrouble | null
}

export const reasonsOf = ({ log, indexTrouble, bodyTroubles, ...parts }: HealthParts): readonly Reason[] => {
  const health = log.health()
  const index = indexTrouble()
  const troubles = log.troubles?.() ?? []
  // A read can have met damage, too. Then one reason is enough.
  const checked = troubles.some(({ kind }) => kind === 'damaged') ? null : (parts.damage?.() ?? null)
  const few = parts.descriptors?.() ?? null
  const certificate = parts.certificate?.() ?? null
  return [
    ...(health.ok ? [] : [reason('log_away', health.why)]),
    ...[...troubles, ...bodyTroubles()].map(({ kind, why }) => reason(kind, why)),
    ...(checked === null ? [] : [reason('damaged', checked)]),
    ...(index === null ? [] : [reason(`index_${index.kind}`, index.why)]),
    ...(few === null ? [] : [reason('descriptors', few)]),
    ...(certificate === null ? [] : [reason(certificate.kind, certificate.why)]),
  ]
}

/** False: `/readyz` answers 503, so that load balancers use other nodes. */
export const isReady = (reasons: readonly Reason[]): boolean => reasons.every(({ refuses }) => refuses === 'nothing')

type WatchedHealth = Pick<AttentionParts, 'nodeLines'> & {
  readonly reasons: () => readonly Reason[]
  readonly clocks: ReadonlyMap<string, boolean>
}

/** As long as a request waits. */
export const stalledBeats = 10

/** A disk or a store that hangs reports no trouble, but requests end without an answer. Call it once in each heartbeat. */
const stallOf = (log: Pick<EventLog, 'figures'>): (() => boolean) => {
  let answered = 0
  let beats = 0
  return () => {
    const figures = log.figures?.()
    const now = figures?.appends.commitSeconds.counts.reduce((sum, count) => sum + count, 0) ?? 0
    const isWaiting = figures !== undefined && figures.waiting.events > 0
    beats = isWaiting && now === answered ? beats + 1 : 0
    answered = now
    return beats >= stalledBeats
  }
}

export const attentionOf = (
  health: WatchedHealth,
  log: Pick<EventLog, 'figures'>,
  { nodeName, dataDir }: Pick<Config, 'nodeName' | 'dataDir'>,
): AttentionParts => {
  const isStalled = stallOf(log)
  // Not what keeps only batches away: one leaked key can do that, and would hide all silence.
  const refuses = (): boolean => !isReady(health.reasons())
  return {
    node: nodeName,
    excuses: excusedFile(dataDir),
    // Readings of other nodes that arrive late, or by another clock, would seem old.
    isRefusing: () => [isStalled(), refuses(), health.clocks.get('late')].includes(true),
    nodeLines: () => health.nodeLines(),
  }
}

export const partsOfAttention = (
  health: WatchedHealth,
  log: EventLog,
  config: Config,
): Pick<CoreParts, 'attention' | 'webhooks'> => ({
  attention: attentionOf(health, log, config),
  webhooks: webhooksOf(config, { sendsWaiting: true }),
})

/** Writes a log line when a problem begins and ends, because answers to devices do not name it. */
export const watchHealth = (reasons: () => readonly Reason[], lines: LogLines, schedule: Schedule): (() => void) => {
  let known = new Map<ReasonKind, Reason>()
  const look = (): void => {
    const now = new Map(reasons().map((reason) => [reason.kind, reason]))
    for (const reason of now.values()) if (!known.has(reason.kind)) tellBegin(reason, lines)
    for (const reason of known.values()) if (!now.has(reason.kind)) tellEnd(reason, lines)
    known = now
    forget = schedule.after(heartbeatMs, look)
  }
  let forget = schedule.after(heartbeatMs, look)
  return () => forget()
}

const tellBegin = ({ kind, refuses, what, meanwhile, remedy, why }: Reason, lines: LogLines): void => {
  const facts = { reason: kind, why, meanwhile, remedy }
  if (refuses === 'nothing') lines.warn(what, facts)
  else lines.error(`${what} Not ready.`, facts)
}

const tellEnd = ({ kind, what }: Reason, lines: LogLines): void => lines.info(`It is over: ${what}`, { reason: kind })

const reason = (kind: ReasonKind, why: string): Reason => ({ kind, why, ...words[kind] })

const words: Readonly<Record<ReasonKind, Omit<Reason, 'kind' | 'why'>>> = {
  log_away: {
    refuses: 'readings',
    what: 'The event log cannot be written.',
    meanwhile: 'Readings are refused with 503, and changes may fail.',
    remedy: 'Repair the disk or the store. If the cause says so, restart the service.',
  },
  full: {
    refuses: 'readings',
    what: 'The disk is almost full.',
    meanwhile: 'Readings are refused with 503 STORAGE_FULL. Signing in, revoking keys and settings still work.',
    remedy: 'Make room on the disk, or keep readings for fewer days. Then readings continue automatically.',
  },
  unreadable: {
    refuses: 'readings',
    what: 'The event log cannot be read.',
    meanwhile: 'Readings are refused with 503 if their key is not in memory. Some pages may fail.',
    remedy: 'Check the disk. Readings continue automatically when the log can be read again.',
  },
  damaged: {
    // A load balancer would take the whole node away for the damage of one key.
    refuses: 'nothing',
    what: 'The event log is damaged.',
    meanwhile: 'Requests that need the damaged events are refused with 503. All others are served.',
    remedy: 'Check the disk, and restore a backup into an empty data folder. A restart may fail until then.',
  },
  unwritable: {
    refuses: 'readings',
    what: 'Writes to the event log fail.',
    meanwhile: 'Readings and changes are refused with 503.',
    remedy: 'Check the disk or the store, and whether another program locks it. Then readings continue automatically.',
  },
  overloaded: {
    refuses: 'readings',
    what: 'Readings arrive faster than the event log can store them.',
    meanwhile: 'Some readings are refused with 503 OVERLOADED. Changes still work.',
    remedy: 'Look for a device that sends too much, or for a slow disk. Then readings continue automatically.',
  },
  bodies: {
    refuses: 'readings',
    what: 'Unfinished request bodies use all the memory reserved for them.',
    meanwhile:
      'Bodies over 1 KiB are refused with 503 OVERLOADED. Smaller readings are still stored, and changes still work.',
    remedy: 'If the keys named in the cause are leaked, suspend or revoke them. Then readings continue automatically.',
  },
  batches: {
    // A few leaked keys can fill the memory for batches. Single readings must still come.
    refuses: 'nothing',
    what: 'Unfinished request bodies use all the memory reserved for batches.',
    meanwhile: 'Batches over 16 KiB are refused with 503 OVERLOADED. Single readings are still stored.',
    remedy: 'If the keys named in the cause are leaked, suspend or revoke them. Then batches continue automatically.',
  },
  space_unknown: {
    refuses: 'nothing',
    what: 'The free space on the disk is unknown.',
    meanwhile: 'Nothing is refused, but DISK_RESERVE cannot keep space free.',
    remedy: 'Check the disk of DATA_DIR.',
  },
  unwitnessed: {
    refuses: 'nothing',
    what: 'The file log.witness cannot be written.',
    meanwhile: 'Nothing is refused. But a start may not notice if the log has lost its last events.',
    remedy: 'Check the disk, and that the service owns the file. Each commit tries again, without a restart.',
  },
  wal_held: {
    refuses: 'nothing',
    what: 'Another program keeps the write-ahead log from being copied.',
    meanwhile: 'Nothing is refused. But log.db-wal grows until the disk is full, and reads become slower.',
    remedy: 'End programs that have log.db open, such as sqlite3 or a backup. The next writes then copy it.',
  },
  survived_fsync: {
    refuses: 'nothing',
    what: 'A write to the disk failed once, and then succeeded.',
    meanwhile: 'Nothing is refused, and nothing was lost.',
    remedy: 'Check the disk, and back up the event log. This warning disappears after an hour without another failure.',
  },
  index_folding: {
    refuses: 'readings with an idempotency key',
    what: 'The index of idempotency keys is being rebuilt from the event log.',
    meanwhile: 'Readings with an Idempotency-Key are refused with 503. Others are stored.',
    remedy: 'Wait until the index is rebuilt. You need to do nothing.',
  },
  index_unusable: {
    refuses: 'readings with an idempotency key',
    what: 'The index of idempotency keys cannot be used.',
    meanwhile: 'Readings with an Idempotency-Key are refused with 503. Others are stored.',
    remedy: 'Check the disk of DATA_DIR. The index is rebuilt automatically.',
  },
  index_unwritable: {
    refuses: 'nothing',
    what: 'The index of idempotency keys cannot be written.',
    meanwhile:
      'Nothing is refused yet. Readings with an Idempotency-Key will be refused when too many of them wait in memory.',
    remedy: 'Make room on the disk of DATA_DIR, and check that no other program locks idempotency.db.',
  },
  descriptors: {
    refuses: 'nothing',
    what: 'The process has almost no file descriptors left.',
    meanwhile: 'Idle connections are closed, and new ones may have to wait.',
    remedy: 'Allow the process more open files (ulimit -n, LimitNOFILE=), or let a proxy bound connections.',
  },
  certificate_ends: {
    refuses: 'nothing',
    what: 'The certificate of this service ends soon.',
    meanwhile: 'Nothing is refused yet. After its end, devices and browsers will refuse to connect.',
    remedy: 'Renew the files at TLS_CERT and TLS_KEY. The service reads them again by itself.',
  },
  certificate_ended: {
    refuses: 'nothing',
    what: 'The certificate of this service has ended.',
    meanwhile: 'Devices and browsers that check certificates refuse to connect.',
    remedy: 'Renew the files at TLS_CERT and TLS_KEY. The service reads them again by itself.',
  },
}

export const reasonKinds: readonly string[] = Object.keys(words)

import type { Schedule } from './actors/schedule.ts'
import type { Reason, ReasonKind } from './health.ts'
import { heartbeatMs } from './limits.ts'
import type { LogLines } from './log-lines.ts'

/**
 * Writes one line when a reason to refuse readings begins, and one when it ends: the answers to devices don't say why.
 * Looks once each heartbeat; the returned function ends that.
 */
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

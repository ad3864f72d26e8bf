import type { Schedule } from './actors/schedule.ts'
import { heartbeatMs } from './limits.ts'
import type { EventLog } from './log/event-log.ts'
import type { LogLines } from './log-lines.ts'

/**
 * Tells whoever is on call when the service begins to be not ready, and why, and when it is ready again: the answers to
 * devices say neither. Looks once each heartbeat; the answer ends that.
 */
export const watchHealth = (log: Pick<EventLog, 'health'>, lines: LogLines, schedule: Schedule): (() => void) => {
  let wasReady = true
  const look = (): void => {
    const health = log.health()
    if (wasReady && !health.ok) lines.error('not ready, and may take no readings', { why: health.why })
    if (!wasReady && health.ok) lines.info('ready again')
    wasReady = health.ok
    forget = schedule.after(heartbeatMs, look)
  }
  let forget = schedule.after(heartbeatMs, look)
  return () => forget()
}

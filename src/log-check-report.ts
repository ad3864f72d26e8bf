import type { LogCheckView } from '../views/types.ts'
import type { Clock } from './clock.ts'
import { BackgroundCheck, type EndedCheck } from './log/verify/background-check.ts'
import { damageCountsText, damageText } from './log/verify/damage-kinds.ts'
import type { LogLines } from './log-lines.ts'
import type { Schedule } from './schedule.ts'

export type DailyCheck = {
  /** The first damage that a check has found since the start. */
  damage(): string | null
  view(): LogCheckView
  stop(): Promise<void>
}

export type DailyCheckParts = {
  readonly logPath: string
  /** A person has accepted a changed schema of the file. */
  readonly acceptsSchema?: boolean
  readonly clock: Clock
  readonly lines: LogLines
  readonly later?: Schedule['after']
}

export const startDailyCheck = ({ clock, lines, ...parts }: DailyCheckParts): DailyCheck => {
  let damage: string | null = null
  const onEnd = (ended: EndedCheck): void => {
    damage ??= damageOf(ended)
    tell(ended, lines)
  }
  const check = new BackgroundCheck({ ...parts, now: clock.now, onEnd })
  return { damage: () => damage, view: () => viewOf(check.last), stop: () => check.stop() }
}

const damageOf = (ended: EndedCheck): string | null => {
  if (ended.kind === 'failed' || ended.result.first === null) return null
  return damageText(ended.result.first)
}

const tell = (ended: EndedCheck, lines: LogLines): void => {
  if (ended.kind === 'failed') {
    lines.warn('the log could not be checked: the next check is in a day', { why: ended.why })
    return
  }
  const { rows, events, first, counts } = ended.result
  const facts = { rows, events, tookMs: ended.tookMs }
  if (first === null) lines.info('the log was checked: it is sound', facts)
  else
    lines.error('the log was checked: it is damaged', {
      ...facts,
      first: damageText(first),
      found: damageCountsText(counts),
    })
}

const viewOf = (ended: EndedCheck | null): LogCheckView => {
  if (ended === null) return { kind: 'waiting' }
  const { at } = ended
  if (ended.kind === 'failed') return { kind: 'failed', at, why: ended.why }
  const { events, first, counts } = ended.result
  if (first === null) return { kind: 'sound', at, events }
  return { kind: 'damaged', at, first: damageText(first), found: damageCountsText(counts) }
}

import { type ExitCode, exitCodes } from '../exit-codes.ts'
import type { Progress } from '../show/output.ts'
import { progressRedrawMs } from '../show/output.ts'
import { newTally, runDevices, type Tally } from './simulated-devices.ts'

export type SimulateOptions = {
  readonly url: string
  readonly key: string
  readonly cellar: string
  readonly devices: number
  readonly ratePerSecond: number
  readonly batch: number
  /** `null`: until `interrupted`. */
  readonly durationMs: number | null
  readonly interrupted: AbortSignal
  readonly progress: Progress
  random(): number
  now(): number
}

export type Simulated = {
  readonly accepted: number
  readonly refused: Readonly<Record<string, number>>
  readonly unanswered: number
  readonly seconds: number
}

export const simulate = async (
  options: SimulateOptions,
): Promise<{ readonly exitCode: ExitCode; readonly message: string | null; readonly result: Simulated }> => {
  const { durationMs, interrupted, progress, now } = options
  const tally = newTally()
  const startedAt = now()
  const seconds = (): number => Math.round((now() - startedAt) / 100) / 10
  const stop = durationMs === null ? interrupted : AbortSignal.any([interrupted, AbortSignal.timeout(durationMs)])
  const redraw = setInterval(() => progress.show(tallyText(tally, seconds())), progressRedrawMs)
  try {
    await runDevices({ ...options, stop }, tally)
  } finally {
    clearInterval(redraw)
  }
  progress.end(tallyText(tally, seconds()))
  const result = {
    accepted: tally.accepted,
    refused: Object.fromEntries(tally.refused),
    unanswered: tally.unanswered,
    seconds: seconds(),
  }
  return { ...endOf(tally, options.url), result }
}

const endOf = (tally: Tally, url: string): { readonly exitCode: ExitCode; readonly message: string | null } => {
  if (tally.accepted === 0 && tally.refused.size === 0 && tally.unanswered > 0) {
    return { exitCode: exitCodes.unreachable, message: `Cannot reach ${url}: ${tally.lastFault}` }
  }
  if (tally.refused.size > 0 || tally.unanswered > 0) {
    return {
      exitCode: exitCodes.refused,
      message: `Some readings were not accepted. The last error: ${tally.lastFault}`,
    }
  }
  return { exitCode: exitCodes.done, message: null }
}

const tallyText = (tally: Tally, seconds: number): string => {
  const rate = seconds > 0 ? Math.round(tally.accepted / seconds) : 0
  const refused = [...tally.refused].map(([code, count]) => `, ${count} ${code}`).join('')
  const unanswered = tally.unanswered === 0 ? '' : `, ${tally.unanswered} unanswered`
  return `${seconds.toFixed(1)} s: ${tally.accepted} accepted (${rate}/s)${refused}${unanswered}`
}

import type { CommandRefusal } from '../../domain/refusal.ts'
import { commandProblemOf } from '../../http/command-problem.ts'
import { type End, exitCodes } from '../exit-codes.ts'

export const done: End = { exitCode: exitCodes.done, message: null }

export const mayLackKeys: End = {
  exitCode: exitCodes.unreachable,
  message: 'The readings of today are not all counted, so keys can be missing. Try again soon, while the service runs.',
}

export const refusedEnd = (refusal: CommandRefusal, prefix = ''): End => {
  const { status, text: words } = commandProblemOf(refusal)
  const message = prefix + words
  // After some refusals with status 503, the change can be stored, so a script must check.
  return { exitCode: status === 503 ? exitCodes.unreachable : exitCodes.refused, message }
}

export const cutOffEnd = (why: string, rows: number): End => ({
  exitCode: exitCodes.unreachable,
  message: `The export was cut off after ${rows.toLocaleString('en')} rows: ${why}. To go on, repeat the command with --resume`,
})

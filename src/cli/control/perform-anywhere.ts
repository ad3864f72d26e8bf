import type { Core } from '../../actors/core-interface.ts'
import { heldRetryMs, heldWaitMsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { CommandFailed, type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { askService } from './control-client.ts'
import { type Operation, perform } from './operations.ts'

export type Place = {
  readonly dataDir: string
  /**
   * `held`: another process has the log open. @throws CommandFailed if the folder cannot be used, or if there is no log and
   * `mayCreate` is false.
   */
  openLog(options: { readonly mayCreate: boolean }): Promise<EventLog | 'held'>
  questionsOf(log: EventLog): Core['questions']
  openCore(log: EventLog, questions: Core['questions']): Promise<Core>
  linkUrl(secret: string): string
  wait(ms: number): Promise<void>
}

/**
 * If no service answers, opens the log in this process. A process that has it open is another command, or a service that is
 * still starting. So this tries again for a limited time.
 */
export const performAnywhere = async (operation: Operation, place: Place): Promise<AsyncGenerator<Line, End>> => {
  for (let waitedMs = 0; waitedMs <= heldWaitMsMax; waitedMs += heldRetryMs) {
    const answer = await askService(place.dataDir, operation)
    if (answer !== null) return answer
    const log = await place.openLog({ mayCreate: operation.op === 'create_cellar' })
    if (log !== 'held') return performOn(log, operation, place)
    await place.wait(heldRetryMs)
  }
  throw new CommandFailed(
    `Cannot reach the process that holds the data folder "${place.dataDir}": it does not answer on its socket`,
    exitCodes.unreachable,
  )
}

async function* performOn(log: EventLog, operation: Operation, place: Place): AsyncGenerator<Line, End> {
  const opened: Core[] = []
  const questions = place.questionsOf(log)
  const core = async (): Promise<Core> => {
    const fresh = await place.openCore(log, questions)
    opened.push(fresh)
    return fresh
  }
  try {
    return yield* perform(operation, { questions, core, linkUrl: place.linkUrl, isAlone: log.lags !== true })
  } finally {
    for (const each of opened) await each.drain()
    await questions.close()
    await log.close()
  }
}

import type { Core } from '../../actors/core.ts'
import { heldRetryMs, heldWaitMsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { CommandFailed, type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { askService } from './control-client.ts'
import { type Operation, perform } from './operations.ts'

export type Place = {
  readonly dataDir: string
  /**
   * The log in the data folder, ours alone until it is closed; `held` while another process has it.
   * @throws CommandFailed if the folder is not fit for use.
   */
  openLog(): Promise<EventLog | 'held'>
  /** Whether there is a log in the data folder. */
  hasLog(): boolean
  openCore(log: EventLog): Promise<Core>
  linkUrl(secret: string): string
  wait(ms: number): Promise<void>
}

/**
 * Has it done by the running service, else on the log itself. A folder that is held though no service answers belongs to
 * another command, which is soon done, or to a service that is about to listen: both are waited for.
 */
export const performAnywhere = async (operation: Operation, place: Place): Promise<AsyncGenerator<Line, End>> => {
  for (let waitedMs = 0; waitedMs <= heldWaitMsMax; waitedMs += heldRetryMs) {
    const answer = await askService(place.dataDir, operation)
    if (answer !== null) return answer
    if (!place.hasLog() && !beginsLog(operation)) throw noLogIn(place.dataDir)
    const log = await place.openLog()
    if (log !== 'held') return performOn(log, operation, place)
    await place.wait(heldRetryMs)
  }
  throw new CommandFailed(
    `Cannot reach the process that holds the data folder "${place.dataDir}": it does not answer on its socket`,
    exitCodes.unreachable,
  )
}

/** The others only look, or change what must be there already; a link to a log that no service is on would open nothing. */
const beginsLog = ({ op }: Operation): boolean => op === 'create_cellar'

/** Answered from an empty log, who has named the wrong folder would take a key for one that does not exist. */
const noLogIn = (dataDir: string): CommandFailed =>
  new CommandFailed(
    `There is no log in the data folder "${dataDir}". DATA_DIR names another one; a first start, or "cellarbook cellar create ID", begins a log`,
    exitCodes.configuration,
  )

async function* performOn(log: EventLog, operation: Operation, place: Place): AsyncGenerator<Line, End> {
  const opened: Core[] = []
  const core = async (): Promise<Core> => {
    const fresh = await place.openCore(log)
    opened.push(fresh)
    return fresh
  }
  try {
    return yield* perform(operation, { log, core, linkUrl: place.linkUrl })
  } finally {
    for (const each of opened) await each.drain()
    await log.close()
  }
}

/** Opens a data folder as the service does: the log, the derived store and the app. */
import type { EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openLog } from '../../../src/open-log.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type Service, startService } from '../../support/test-service.ts'
import type { ManualClock } from '../../support/time/manual-clock.ts'

export type OpenedNode = {
  readonly service: Service
  readonly log: EventLog
  /** What the start has warned of. */
  readonly warnings: readonly string[]
  readonly bugs: readonly unknown[]
  close(): Promise<void>
}

export type NodeParts = { readonly dataDir: string; readonly clock: ManualClock; readonly seed: number }

/** @throws the errors that `asCommandFailed` knows */
export const openNode = async ({ dataDir, clock, seed }: NodeParts): Promise<OpenedNode> => {
  const warnings: string[] = []
  const bugs: unknown[] = []
  const warn = (text: string): void => {
    warnings.push(text)
  }
  const bug = (cause: unknown): void => {
    bugs.push(cause)
  }
  await using opening = new AsyncDisposableStack()
  const naming = { clock, entropy: seededEntropy(seed) }
  const config = { dataDir, eventStore: null, diskReserveBytes: 0, allowSharedDataDir: false }
  const log = await openLog(config, { ...naming, onFolderWarning: warn })
  opening.defer(() => log.close())
  const logId = await ensureLogCreated(log, clock, naming.entropy)
  const derived = derivedHere(log, { clock, logId, folder: { path: dataDir, remove: () => {} } })
  const onBugs = { onBug: bug, onBroken: bug, onWholeRead: warn }
  const service = await startService({ log, derived, clock, seed, onBugs })
  opening.defer(() => service.stop())
  const opened = opening.move()
  const told = () =>
    derived.told.flatMap((one) => ('model' in one && one.why !== null ? [`${one.model}.db: ${one.why}`] : []))
  const bugsTold = () => derived.told.flatMap((one) => (one.kind === 'bug' || one.kind === 'crashed' ? [one.why] : []))
  return {
    service,
    log,
    get warnings() {
      return [...warnings, ...told()]
    },
    get bugs() {
      return [...bugs, ...bugsTold()]
    },
    close: () => opened.disposeAsync(),
  }
}

/** Gives the commands what they need of this process. Like `main.ts` and the modules of threads, it acts when it is imported. */

import { setTimeout as wait } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { version } from '../package.json' with { type: 'json' }
import { paths } from '../views/paths.ts'
import { openCore } from './actors/open-core.ts'
import { questionsOfLog } from './asked/questions-of-log.ts'
import type { ProgramDeps } from './cli/commands/runner.ts'
import { type Place, performAnywhere } from './cli/control/perform-anywhere.ts'
import { exitCodes } from './cli/exit-codes.ts'
import { runProgram } from './cli/program.ts'
import { createOutput } from './cli/show/output.ts'
import { untilStopped } from './cli/until-stopped.ts'
import { systemClock } from './clock.ts'
import { baseUrlOf, type Config } from './config.ts'
import { messageOf, thrownError } from './domain/error-message.ts'
import { systemEntropy } from './entropy.ts'
import { visibleLines, visibleText } from './hidden-characters.ts'
import { drainNoticeMs } from './limits.ts'
import { readCertificate } from './listen/read-certificate.ts'
import { checkBackup, restoreBackup } from './log/backup/restore-backup.ts'
import { copyLog } from './log/copy-log.ts'
import { checkDataFolder, DataFolderHeld } from './log/data-folder.ts'
import { checkStoreFiles } from './log/open-source.ts'
import { yieldProcessor } from './log/verify/yield-processor.ts'
import { createLogLines } from './log-lines.ts'
import {
  asCommandFailed,
  assertEmbedded,
  backUpLog,
  beginningOf,
  type LogPlace,
  openLog,
  openLogPlace,
  verifyLog,
} from './open-log.ts'
import { type RunningService, startService } from './service.ts'
import { webhooksOf } from './webhooks/webhooks-of-service.ts'

const output = createOutput(process.stdout)

/** Bun would print control characters unescaped, and a terminal would obey them. */
const tellBug = (thrown: unknown): void => {
  const { message, stack = '' } = thrownError(thrown)
  const frames = stack.slice(stack.indexOf('\n    at '))
  process.stderr.write(`cellarbook: a bug ended the command: ${visibleText(message)}${visibleLines(frames)}\n`)
}

/** `serve` replaces it, to write a log line too. */
let endAfterBug = async (thrown: unknown): Promise<never> => {
  tellBug(thrown)
  process.exit(exitCodes.refused)
}

/**
 * Closes nothing: closing deletes or writes files by their path, and another process may own these by now. `serve` replaces
 * it.
 */
let endAfterLoss = async (why: string): Promise<never> => {
  process.stderr.write(`cellarbook: ${visibleText(why)}\n`)
  await Promise.race([output.flush(), wait(drainNoticeMs)])
  process.exit(exitCodes.configuration)
}
/** Without this promise, the command could end first, with another exit code. */
let ending: Promise<never> | null = null
const onLost = (why: string): void => {
  ending = endAfterLoss(why)
}
process.on('uncaughtException', (thrown) => endAfterBug(thrown))
process.on('unhandledRejection', (thrown) => endAfterBug(thrown))

const serve: ProgramDeps['serve'] = async (config, options) => {
  const lines = createLogLines(process.stdout, config.logLevel)
  // A bug outside of requests can leave wrong state in memory, with which the node could accept wrong readings. The next
  // start computes it from the log again.
  endAfterBug = async (thrown) => {
    lines.error('a bug outside of requests ended the service', { error: thrownError(thrown) })
    process.stderr.write(`cellarbook: a bug ended the service: ${visibleText(messageOf(thrown))}\n`)
    await output.flush()
    process.exit(exitCodes.refused)
  }

  const tellLoss = endAfterLoss
  endAfterLoss = async (why) => {
    lines.error('the files of the log were changed while the service used them: it ends', { why })
    return tellLoss(why)
  }

  const terminal = [process.stderr, process.stdout].find(({ isTTY }) => isTTY)
  let service: RunningService | null = null
  const stopped = untilStopped({
    isTerminalGone: () => terminal !== undefined && !isatty(terminal.fd),
    onReadAgain: () => {
      if (config.tls === null)
        lines.info('SIGHUP changes nothing: the service has no certificate. To use other settings, restart it')
      else if (service === null) lines.info('the service starts: it reads its certificate again after that')
      else service.readAgain()
    },
  })
  const parts = { clock: systemClock, entropy: systemEntropy, lines, screen: process.stderr, onLost }
  service = await Promise.race([startService(config, options, parts), stopped.then(() => null)])
  // Told to stop during the start, so there are no open requests.
  if (service === null) return exitCodes.done
  lines.info('draining', { because: await stopped })
  await service.drain()
  lines.info('stopped')
  return exitCodes.done
}

const checkFiles: ProgramDeps['checkFiles'] = (config) =>
  failingAsCommand(async () => {
    await readCertificate(config)
    tellFolderWarnings(config)
    if (config.eventStore !== null) await checkStoreFiles(config.eventStore)
  })

const perform: ProgramDeps['perform'] = async (config, operation) => {
  tellFolderWarnings(config)
  return performAnywhere(operation, placeOf(config))
}

/** Before using the socket in the data folder: another user who can write there can have created a false one. */
const tellFolderWarnings = ({ dataDir, allowSharedDataDir: allowShared }: Config): void => {
  try {
    const warnings = checkDataFolder(dataDir, { allowShared })
    for (const warning of warnings) tellWarning(warning)
  } catch (error) {
    throw asCommandFailed(error)
  }
}

const tellWarning = (warning: string): void => {
  process.stderr.write(`cellarbook: warning: ${visibleText(warning)}\n`)
}

const placeOf = (config: Config): Place => ({
  dataDir: config.dataDir,
  openLog: async ({ mayCreate }) => {
    try {
      return await openLog(config, { clock: systemClock, entropy: systemEntropy, onLost, mayCreate })
    } catch (error) {
      if (error instanceof DataFolderHeld) return 'held'
      throw asCommandFailed(error)
    }
  },
  questionsOf: questionsOfLog,
  openCore: (log, questions) =>
    openCore({
      log,
      questions,
      clock: systemClock,
      entropy: systemEntropy,
      onBug: tellBug,
      ...beginningOf(config, log),
      webhooks: webhooksOf(config, { sendsWaiting: false }),
      onWholeRead: (why) => tellWarning(`the command reads the whole log: ${why}`),
    }),
  linkUrl: (secret) => baseUrlOf(config) + paths.link(secret),
  wait: (ms) => wait(ms),
})

const copyBetween: ProgramDeps['copyLog'] = async (config, { from, to, acceptChangedSchema, onProgress }) => {
  const accepted: string[] = []
  const accepting = acceptChangedSchema
    ? { acceptSchema: (differences: readonly string[]) => accepted.push(...differences) }
    : {}
  const parts = { clock: systemClock, entropy: systemEntropy, wait: (ms: number) => wait(ms), onProgress }
  try {
    await using logs = new AsyncDisposableStack()
    const opened = async (place: LogPlace) => {
      const log = await openLogPlace({ ...place, onLost }, config)
      logs.defer(() => log.close())
      return log
    }
    const source = await opened({ place: from, role: 'from', ...accepting })
    return await copyLog({ from: source, to: await opened({ place: to, role: 'to' }), accepted, ...parts })
  } catch (error) {
    throw asCommandFailed(error)
  }
}

const verify: ProgramDeps['verifyLog'] = async (config, onProgress) => {
  try {
    return await verifyLog(config, { onProgress, onWarning: (warning) => tellWarning(warning) })
  } catch (error) {
    throw asCommandFailed(error)
  }
}

/** A script that keeps the output of a command is not asked. */
const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY
const failingAsCommand = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => Promise.reject(asCommandFailed(error)))

const backup: ProgramDeps['backup'] = (config, wanted) =>
  failingAsCommand(async () => {
    tellFolderWarnings(config)
    // The service beside it goes first.
    yieldProcessor()
    return backUpLog(config, { ...wanted, version, now: systemClock.now, onWarning: tellWarning })
  })

const restore: Pick<ProgramDeps, 'checkBackup' | 'restore'> = {
  checkBackup: (config, from, onProgress) =>
    failingAsCommand(async () => {
      assertEmbedded(config, 'restore')
      return checkBackup(from, { dataDir: config.dataDir, onProgress })
    }),
  restore: ({ dataDir, allowSharedDataDir: allowShared }, found) =>
    failingAsCommand(() => restoreBackup(found, { dataDir, allowShared, clock: systemClock, entropy: systemEntropy })),
}

const exitCode = await runProgram(process.argv.slice(2), {
  version,
  environment: process.env,
  output,
  screen: process.stderr,
  now: systemClock.now,
  ...(isAtTerminal ? { ask: (question: string) => confirm(question) } : {}),
  serve,
  checkFiles,
  perform,
  copyLog: copyBetween,
  verifyLog: verify,
  backup,
  ...restore,
}).catch(endAfterBug)
await ending
process.exit(exitCode)

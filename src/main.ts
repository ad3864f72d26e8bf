/** The only file that does something when it is imported: it runs the command line of this process. */
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { version } from '../package.json' with { type: 'json' }
import { paths } from '../views/paths.ts'
import { openCore } from './actors/open-core.ts'
import { checkpointFile } from './checkpoints/checkpoint-file.ts'
import { exitCodes } from './cli/exit-codes.ts'
import { createOutput } from './cli/output.ts'
import { type Place, performAnywhere } from './cli/perform-anywhere.ts'
import { runProgram } from './cli/program.ts'
import type { ProgramDeps } from './cli/runner.ts'
import { untilStopped } from './cli/until-stopped.ts'
import { systemClock } from './clock.ts'
import { baseUrlOf, type Config } from './config.ts'
import { systemEntropy } from './entropy.ts'
import { copyLog } from './log/copy-log.ts'
import { DataFolderHeld, logPathIn } from './log/data-folder.ts'
import { createLogLines } from './log-lines.ts'
import { inOneSentence, openLog, openLogPlace } from './open-log.ts'
import { errorOf, startService } from './service.ts'

const output = createOutput(process.stdout)

const serve: ProgramDeps['serve'] = async (config, options) => {
  const lines = createLogLines(process.stdout, config.logLevel)
  // A bug inside a request is answered and survived. One that nobody was waiting for leaves behind who knows what, and a
  // log that is judged by it could accept what it must not: the process ends, and the next one folds the log anew.
  // What was acknowledged is on disk.
  const crash = async (thrown: unknown): Promise<never> => {
    lines.error('the service ends: a bug outside of any request', { error: errorOf(thrown) })
    process.stderr.write(`cellarbook: a bug ended the service: ${errorOf(thrown).message}\n`)
    await output.flush()
    process.exit(exitCodes.refused)
  }
  process.on('uncaughtException', crash).on('unhandledRejection', crash)

  const stopped = untilStopped()
  const parts = { clock: systemClock, entropy: systemEntropy, lines, screen: process.stderr }
  const service = await Promise.race([startService(config, options, parts), stopped.then(() => null)])
  // Stopped while it was still folding the log: nothing has been taken in, so there is nothing to drain.
  if (service === null) return exitCodes.done
  lines.info('draining', { because: await stopped })
  await service.drain()
  lines.info('stopped')
  return exitCodes.done
}

const perform: ProgramDeps['perform'] = (config, operation) => performAnywhere(operation, placeOf(config))

const placeOf = (config: Config): Place => ({
  dataDir: config.dataDir,
  hasLog: () => config.eventStore !== null || existsSync(logPathIn(config.dataDir)),
  openLog: async () => {
    try {
      return await openLog(config, systemClock, systemEntropy)
    } catch (error) {
      if (error instanceof DataFolderHeld) return 'held'
      throw inOneSentence(error)
    }
  },
  openCore: (log) =>
    openCore({
      log,
      clock: systemClock,
      entropy: systemEntropy,
      checkpoints: { store: checkpointFile(config.dataDir) },
    }),
  linkUrl: (secret) => baseUrlOf(config) + paths.link(secret),
  wait: (ms) => wait(ms),
})

const copyBetween: ProgramDeps['copyLog'] = async (config, { from, to, onProgress }) => {
  const parts = { clock: systemClock, entropy: systemEntropy, wait: (ms: number) => wait(ms), onProgress }
  try {
    await using logs = new AsyncDisposableStack()
    const opened = async (place: string, role: 'from' | 'to') => {
      const log = await openLogPlace({ place, role }, config)
      logs.defer(() => log.close())
      return log
    }
    return await copyLog({ from: await opened(from, 'from'), to: await opened(to, 'to'), ...parts })
  } catch (error) {
    throw inOneSentence(error)
  }
}

const exitCode = await runProgram(process.argv.slice(2), {
  version,
  environment: process.env,
  output,
  screen: process.stderr,
  now: systemClock.now,
  serve,
  perform,
  copyLog: copyBetween,
})
process.exit(exitCode)

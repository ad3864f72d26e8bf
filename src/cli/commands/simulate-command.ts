import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { baseUrlOf } from '../../config.ts'
import { messageOf } from '../../domain/error-message.ts'
import { visibleJson } from '../../hidden-characters.ts'
import { batchReadingsMax } from '../../limits.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/output.ts'
import { simulate } from '../simulate/simulate.ts'
import { countOption, durationOption, type JsonOption, jsonFlag, numberOption } from './options.ts'
import type { Runner } from './runner.ts'

const simulatedDevicesMax = 10_000
const simulatedRateMax = 100_000

type SimulateOptions = JsonOption & {
  readonly cellar: string
  readonly url?: string
  readonly devices: number
  readonly rate: number
  readonly batch: number
  readonly duration?: number
  readonly keyFile?: string
}

export const addSimulateCommand = (program: Command, runner: Runner): void => {
  program
    .command('simulate')
    .description(
      'Post readings from simulated devices. The API key comes from CELLARBOOK_KEY or a file, never from an argument',
    )
    .requiredOption('--cellar <id>', 'the cellar of the key')
    .option(
      '--devices <count>',
      `number of devices, 1 to ${simulatedDevicesMax}`,
      countOption({ max: simulatedDevicesMax }),
      5,
    )
    .option(
      '--rate <readings>',
      'readings per second of all devices together',
      numberOption({ max: simulatedRateMax }),
      5,
    )
    .option(
      '--batch <readings>',
      `readings in each request, 1 to ${batchReadingsMax}`,
      countOption({ max: batchReadingsMax }),
      1,
    )
    .option('--duration <time>', 'how long: 45s, 30m, 12h or 30d (default: until Ctrl-C)', durationOption)
    .option('--url <address>', 'address of the service (default: from PUBLIC_URL, HOST and PORT)')
    .addOption(
      new Option('--key-file <path>', 'a file that contains the API key (default: the variable CELLARBOOK_KEY)'),
    )
    .option(...jsonFlag)
    .action((options: SimulateOptions) => runSimulation(runner, options))
}

const runSimulation = async (runner: Runner, options: SimulateOptions): Promise<void> => {
  const { deps } = runner
  const key = keyOf(options, deps.environment['CELLARBOOK_KEY'])
  const url = options.url === undefined ? baseUrlOf(runner.config()) : originOf(options.url)
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const { result, ...end } = await simulate({
      url,
      key,
      cellar: options.cellar,
      devices: options.devices,
      ratePerSecond: options.rate,
      batch: options.batch,
      durationMs: options.duration ?? null,
      interrupted: interrupted.signal,
      progress: createProgress(deps.screen, deps.now),
      random: Math.random,
      now: deps.now,
    })
    if (options.json === true) await deps.output.write(`${visibleJson(result)}\n`)
    runner.finish(end)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

/** The key never comes from an argument, because other users of the machine can see arguments. */
const keyOf = ({ keyFile }: SimulateOptions, fromEnvironment: string | undefined): string => {
  if (keyFile === undefined) {
    if (fromEnvironment) return fromEnvironment
    throw new CommandFailed(
      'Cannot simulate devices: there is no API key. Set CELLARBOOK_KEY or --key-file',
      exitCodes.usage,
    )
  }
  try {
    return readFileSync(keyFile, 'utf8').trim()
  } catch (cause) {
    throw new CommandFailed(
      `Cannot read the API key from ${JSON.stringify(keyFile)}: ${messageOf(cause)}`,
      exitCodes.usage,
      { cause },
    )
  }
}

const originOf = (text: string): string => {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/$/, '')
  throw new CommandFailed('--url must be an address like http://127.0.0.1:3000', exitCodes.usage)
}

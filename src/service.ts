/** The running service: log, actors, app and sockets, and the order in which they start and end. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { version } from '../package.json' with { type: 'json' }
import { shellWord } from '../views/cellars/snippets.ts'
import { paths } from '../views/paths.ts'
import type { Core } from './actors/core.ts'
import { openCore } from './actors/open-core.ts'
import type { IndexTrouble } from './actors/repeats/repeat-memory.ts'
import { checkpointFile } from './actors/saved-state/checkpoint-file.ts'
import type { CheckpointParts } from './actors/saved-state/checkpoints.ts'
import { systemSchedule } from './actors/schedule.ts'
import type { TimesTold } from './actors/time/clock-watch.ts'
import { createApp } from './app.ts'
import type { ServeOptions } from './cli/commands/runner.ts'
import { startControlServer } from './cli/control/control-server.ts'
import { CommandFailed, exitCodes } from './cli/exit-codes.ts'
import type { Screen } from './cli/show/progress.ts'
import { visibleText } from './cli/show/visible-text.ts'
import { startDemo } from './cli/simulate/demo.ts'
import type { MachineClock } from './clock.ts'
import { baseUrlOf, type Config, dataDirDefault, localUrlOf } from './config.ts'
import { assertNever } from './domain/refusal.ts'
import type { Entropy } from './entropy.ts'
import { isReady, reasonsOf } from './health.ts'
import { watchHealth } from './health-watch.ts'
import { Traces } from './http/dashboard/door/refusal-traces.ts'
import { LivePages } from './http/dashboard/live/live-pages.ts'
import { boundErrorLines } from './http/error-lines.ts'
import { RefusalLines } from './http/ingest/refusal-lines.ts'
import type { BodyTrouble } from './http/refused-bodies.ts'
import { type App, letGoOfConnections, serve } from './http/serve.ts'
import { drainMsMax, drainNoticeMs } from './limits.ts'
import { listenFault } from './listen-fault.ts'
import { checkDataFolder } from './log/data-folder.ts'
import type { LogLines } from './log-lines.ts'
import { inOneSentence, openIdempotencyIndex, openLog } from './open-log.ts'
import { judgeOnThread } from './password-judge/judge-on-thread.ts'

export type ServiceParts = {
  readonly clock: MachineClock
  readonly entropy: Entropy
  readonly lines: LogLines
  /** stderr. */
  readonly screen: Screen
}

export type RunningService = {
  /** Stops taking requests, answers those under way, and closes the log. */
  drain(): Promise<void>
}

/** @throws CommandFailed in one sentence if the folder, the log, the certificate or the address can't be used. */
export const startService = async (
  config: Config,
  options: ServeOptions,
  parts: ServiceParts,
): Promise<RunningService> => {
  try {
    return await start(config, options, parts)
  } catch (error) {
    throw inOneSentence(error)
  }
}

/** What has been started is ended in the opposite order, by a drain as by a start that fails half-way. */
const start = async (
  config: Config,
  { demo, acceptChangedSchema }: ServeOptions,
  { clock, entropy, lines, screen }: ServiceParts,
): Promise<RunningService> => {
  await using started = new AsyncDisposableStack()
  const tls = readTls(config)
  const acceptSchema = acceptChangedSchema ? tellChangedSchema(lines) : undefined
  const log = await openLog(config, { clock, entropy, acceptSchema })
  started.defer(() => log.close())
  const { dataDir, allowSharedDataDir: allowShared } = config
  for (const warning of checkDataFolder(dataDir, { allowShared })) lines.warn(warning)
  let indexTrouble: () => IndexTrouble | null = () => null
  let bodyTroubles: () => readonly BodyTrouble[] = () => []
  const reasons = () => reasonsOf({ log, indexTrouble: () => indexTrouble(), bodyTroubles: () => bodyTroubles() })
  started.defer(watchHealth(reasons, lines, systemSchedule))

  const idempotency = await openIdempotencyIndex(config.dataDir, log, { clock, entropy })
  started.defer(() => idempotency.close())

  const onBug = (bug: unknown): void => lines.error('bug', { error: errorOf(bug) })
  const onTimes = (told: TimesTold): void => tellTimes(told, lines)
  const checkpoints = checkpointsOf(config, lines)
  const { sessionIdleMs } = config
  const passwordJudge = judgeOnThread({
    schedule: systemSchedule,
    onFault: (why) => lines.warn('a new password was compared with names only, not with the dictionary', { why }),
  })
  const toldParts = { onBug, onTimes, checkpoints, sessionIdleMs, passwordJudge }
  const core = await openCore({ log, clock, entropy, idempotency, ...toldParts })
  started.defer(() => core.drain())
  indexTrouble = core.indexTrouble

  const readiness = { isDraining: false }
  const requestLines = boundErrorLines(lines, systemSchedule)
  const liveTiming = { schedule: systemSchedule, passedMs: () => clock.passedMs() }
  const live = new LivePages(core, requestLines, liveTiming)
  const mayTakeReadings = (): boolean => !readiness.isDraining && isReady(reasons())
  const refusalLines = new RefusalLines(requestLines, systemSchedule)
  started.defer(() => refusalLines.close())
  const traces = new Traces(requestLines, systemSchedule, core.operators.signInRefused)
  started.defer(() => traces.close())
  const parts = { core, lines: requestLines, reasons, web: config, live, refusalLines, traces }
  const app = createApp({ ...parts, isReady: mayTakeReadings })
  bodyTroubles = () => app.bodies.troubles()
  const server = listen(app, config, tls)
  const port = server.port ?? config.port
  started.defer(() => server.stop(true))

  const linkUrl = (secret: string): string => baseUrlOf(config, port) + paths.link(secret)
  const context = { log, core: async () => core, linkUrl }
  const control = startControlServer({ dataDir: config.dataDir, context, onBug })
  // Together, so that a long answer on one side does not put off the other.
  started.defer(() => Promise.all([drainServer(server, app), control.stop()]).then(() => {}))
  started.defer(() => live.close())

  if (demo) {
    const devices = await startDemo({ core, url: localUrlOf(config, port) })
    started.defer(() => devices.stop())
  }
  started.defer(() => {
    readiness.isDraining = true
  })
  lines.info('listening', { version, host: config.host, port, dataDir: config.dataDir, demo })
  await welcome({ core, screen, dataDir: config.dataDir, baseUrl: baseUrlOf(config, port), linkUrl })
  const running = started.move()
  return { drain: () => running.disposeAsync() }
}

const checkpointsOf = ({ dataDir }: Config, lines: LogLines): CheckpointParts => ({
  store: checkpointFile(dataDir),
  onThrownAway: (why) => lines.warn('the checkpoint is thrown away, and the log is read from its beginning', { why }),
  onFailed: (cause) => lines.warn('a checkpoint could not be written', { error: errorOf(cause) }),
})

const tellChangedSchema =
  (lines: LogLines) =>
  (differences: readonly string[]): void =>
    lines.warn("somebody changed the schema of the log's file, and the start option accepts that", {
      differences: differences.join(', '),
    })

const tellTimes = (told: TimesTold, lines: LogLines): void => {
  switch (told.kind) {
    case 'ahead':
      lines.warn('an event is ahead of the clock: this clock is slow, or that of the node that wrote it is fast', {
        byMs: told.byMs,
      })
      return
    case 'late':
      lines.warn('events come late: their subscription lags, or the clock of the node that wrote them is slow', {
        byMs: told.byMs,
      })
      return
    case 'doubted':
      lines.warn(
        'the clock is more than a day ahead of the newest event, or of what it said before: no readings are purged until it is back, or has stood by that for a day',
        { byMs: told.byMs },
      )
      return
    case 'leapt':
      lines.warn('the clock has leapt ahead: it is not believed until it has stood by that for five seconds', {
        byMs: told.byMs,
      })
      return
    case 'ahead_no_more':
      lines.info('events are no longer ahead of the clock')
      return
    case 'late_no_more':
      lines.info('events come in time again')
      return
    case 'leapt_no_more':
      lines.info('the clock is believed again')
      return
    case 'doubted_no_more':
      lines.info('readings are purged by the clock again')
      return
    default:
      assertNever(told)
  }
}

type CertificateAndKey = { readonly cert: string; readonly key: string }

/** Judged before the log is read, which may take a while, by the library that will serve with them. */
const readTls = ({ tls }: Config): CertificateAndKey | null => {
  if (tls === null) return null
  const pair = readPair(tls)
  try {
    createSecureContext(pair)
    return pair
  } catch (cause) {
    throw unfit(`TLS_CERT and TLS_KEY are not a certificate and its key: ${certificateFault(errorOf(cause))}`, cause)
  }
}

const readPair = ({ certPath, keyPath }: NonNullable<Config['tls']>): CertificateAndKey => {
  try {
    return { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') }
  } catch (cause) {
    throw unfit(`Cannot read TLS_CERT or TLS_KEY: ${errorOf(cause).message}`, cause)
  }
}

/** Of what the library says: `error:0900006e:PEM routines:OPENSSL_internal:NO_START_LINE`. */
const certificateFault = ({ message }: Error): string => {
  if (/KEY_(VALUES|TYPE)_MISMATCH/.test(message)) return 'the key is that of another certificate'
  if (/BAD_DECRYPT|PASSWORD/.test(message)) return 'the key has a passphrase, and must have none'
  return 'one of the files, or both, are not whole PEM'
}

const listen = (app: App, config: Config, tls: ReturnType<typeof readTls>): Bun.Server<unknown> => {
  const { host: hostname, port } = config
  try {
    return serve(app, { hostname, port, ...(tls === null ? {} : { tls }) })
  } catch (cause) {
    throw unfit(`Cannot listen on ${hostname} port ${port}: ${listenFault(errorOf(cause), hostname)}`, cause)
  }
}

const unfit = (message: string, cause: unknown): CommandFailed =>
  new CommandFailed(message, exitCodes.configuration, { cause })

/**
 * For a moment the service still takes requests, and tells each client to let go of its connection: one that is cut
 * between two requests looks to its device like a failure. Then it stops listening, and what is under way is answered.
 */
const drainServer = async (server: Bun.Server<unknown>, app: App): Promise<void> => {
  letGoOfConnections(server, app)
  await wait(drainNoticeMs)
  await Promise.race([server.stop(), wait(drainMsMax, undefined, { ref: false })])
  await server.stop(true)
}

type Welcome = {
  readonly core: Core
  readonly screen: Screen
  readonly dataDir: string
  readonly baseUrl: string
  linkUrl(secret: string): string
}

/** The link makes the person who opens it an admin. So it goes to a terminal only: stderr may be kept in a file. */
const welcome = async ({ core, screen, dataDir, baseUrl, linkUrl }: Welcome): Promise<void> => {
  screen.write(`Cellarbook listens on ${visibleText(baseUrl)}\n`)
  if (core.projections.operators.list().length > 0) return
  if (screen.isTTY !== true) {
    screen.write(
      `Nobody can sign in yet. To make the link for the first admin, run: ${visibleText(folderFor(dataDir))}bun run cellarbook operator link\n`,
    )
    return
  }
  const asker = { by: { kind: 'system' }, requestId: core.entropy.uuid() } as const
  const link = await core.operators.issueLink({ email: null, role: 'admin' }, asker)
  if (link.ok)
    screen.write(`Open this link once to become its first admin:\n\n  ${visibleText(linkUrl(link.value.secret))}\n\n`)
}

/** By it a command in another shell reaches this service, and no log beside it. */
const folderFor = (dataDir: string): string => {
  const path = resolve(dataDir)
  return path === resolve(dataDirDefault) ? '' : `DATA_DIR=${shellWord(path)} `
}

export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

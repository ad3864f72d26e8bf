/** The parts end in the opposite order. */

import { resolve } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { shellWord } from '../views/cellars/snippets.ts'
import { paths } from '../views/paths.ts'
import { systemAsker } from './actors/asked-by.ts'
import type { Core } from './actors/core-interface.ts'
import type { Derived } from './actors/node.ts'
import { type OpenCore, openCore } from './actors/open-core.ts'
import type { IndexTrouble } from './actors/repeats/repeat-memory.ts'
import type { LostChanges } from './actors/start/lost-changes.ts'
import type { TimesTold } from './actors/time/clock-watch.ts'
import { createApp } from './app.ts'
import type { ServeOptions } from './cli/commands/runner.ts'
import { isServed } from './cli/control/control-client.ts'
import { startControlServer } from './cli/control/control-server.ts'
import type { Screen } from './cli/show/output.ts'
import { startDemo } from './cli/simulate/demo.ts'
import type { MachineClock } from './clock.ts'
import { baseUrlOf, type Config, localUrlOf } from './config.ts'
import { beginningModel } from './derived/beginning/beginning-model.ts'
import type { DerivedTold } from './derived/derived-store.ts'
import { modelKindsFor } from './derived/model-kinds.ts'
import { startQuickChecks } from './derived/quick-checks.ts'
import { repeatsModel } from './derived/repeats/repeats-model.ts'
import { thrownError } from './domain/error-message.ts'
import type { Entropy } from './entropy.ts'
import type { FactSources } from './facts/declare-fact.ts'
import { factPrinter } from './facts/print-facts.ts'
import { type FactParts, factsOfService, type HealthFacts, noHealthFacts, noteTimes } from './facts-of-service.ts'
import { isReady, partsOfAttention, type Reason, reasonsOf, watchHealth } from './health.ts'
import { visibleText } from './hidden-characters.ts'
import type { BodyTrouble } from './http/body-memory-trouble.ts'
import { Traces } from './http/dashboard/door/refusal-traces.ts'
import { LivePush } from './http/dashboard/live/live-push.ts'
import { watchDescriptors } from './http/descriptor-watch.ts'
import { RefusalLines } from './http/ingest/refusal-lines.ts'
import { boundErrorLines } from './http/request-lines.ts'
import type { App } from './http/serve.ts'
import { heldWaitMsMax } from './limits.ts'
import type { CertificateRenewal, CertificateTrouble } from './listen/certificate-renewal.ts'
import { listen, listenForMetrics, renewCertificate } from './listen/listen.ts'
import { type Certificate, readCertificate } from './listen/read-certificate.ts'
import { readLastBackup } from './log/backup/last-backup.ts'
import { logPathIn } from './log/data-folder.ts'
import type { EventLog } from './log/event-log.ts'
import { logBeganAt } from './log/log-identity.ts'
import type { MissingEnd } from './log/tail/missing-end.ts'
import { type DailyCheck, startDailyCheck } from './log-check-report.ts'
import type { LogLines } from './log-lines.ts'
import { asCommandFailed, beginningOf, openDerived, openLog, openWhenFree } from './open-log.ts'
import { judgeOnThread } from './password-judge/judge-on-thread.ts'
import { systemSchedule } from './schedule.ts'
import { variables } from './variables.ts'

/** The line about lost changes names at most this many keys, and this many cellars. */
const lostNamesMax = 1_000

export type ServiceParts = {
  readonly clock: MachineClock
  readonly entropy: Entropy
  readonly lines: LogLines
  readonly screen: Screen
  /** The files were deleted, replaced or truncated. Must end the process and close nothing. */
  readonly onLost: (why: string) => void
}

export type RunningService = {
  drain(): Promise<void>
  /** Reads changed files of the certificate now. */
  readAgain(): void
}

/** @throws CommandFailed */
export const startService = async (
  config: Config,
  options: ServeOptions,
  parts: ServiceParts,
): Promise<RunningService> => {
  try {
    return await start(config, options, parts)
  } catch (error) {
    throw asCommandFailed(error)
  }
}

/** `started` ends in the opposite order, also if the start fails half-way. */
const start = async (config: Config, options: ServeOptions, parts: ServiceParts): Promise<RunningService> => {
  await using started = new AsyncDisposableStack()
  const starting: Starting = { ...parts, config, started }
  const { lines } = parts
  // First: reading the log can take minutes. A wrong certificate is reported before, and Prometheus sees a start.
  const certificate = await readCertificate(config)
  let facts: FactSources | null = null
  startMetrics(starting, () => facts)

  const { demo } = options
  const log = await startLog(starting, options)
  const health = startHealth(starting, log)
  const logBeganMs = (await logBeganAt(log)) ?? parts.clock.now()
  const derived = await startDerived(starting, log)
  const core = await startCore(starting, log, { health, derived })
  const check = startCheck(starting, health, options)
  let renewal: CertificateRenewal | null = null
  const app = startApp(starting, {
    core,
    derived,
    health,
    check: () => check?.view() ?? null,
    servedCertificate: () => renewal,
    lastBackup: () => readLastBackup(config.dataDir),
    logBeganMs,
  })
  facts = app.facts
  const sockets = startSockets(starting, { core, app, certificate, health })
  const { port, linkUrl } = sockets
  renewal = sockets.renewal
  if (demo) {
    const devices = await startDemo({ core, url: localUrlOf(config, port) })
    started.defer(() => devices.stop())
  }
  // The last `defer` runs first, so /readyz answers 503 before any part ends.
  started.defer(async () => {
    health.isDraining = true
    await check?.stop()
  })

  const { host, dataDir, program } = config
  lines.info('listening', { version, host, port, dataDir, demo })
  await welcome({ core, screen: parts.screen, dataDir, program, baseUrl: baseUrlOf(config, port), linkUrl })
  const running = started.move()
  return {
    drain: () => running.disposeAsync(),
    readAgain: () => void renewal?.lookNow(),
  }
}

type Starting = ServiceParts & { readonly config: Config; readonly started: AsyncDisposableStack }

const startLog = async (
  { config, clock, entropy, lines, onLost, started }: Starting,
  { acceptChangedSchema, acceptMissingEvents }: ServeOptions,
): Promise<EventLog> => {
  const acceptSchema = acceptChangedSchema ? tellChangedSchema(lines) : undefined
  const acceptMissing = acceptMissingEvents ? tellMissing(lines) : undefined
  const onFolderWarning = (warning: string): void => lines.warn(warning)
  const open = () => openLog(config, { clock, entropy, acceptSchema, acceptMissing, onFolderWarning, onLost })
  const log = await openWhenFree(open, {
    isServed: () => isServed(config.dataDir),
    onWait: (why) => lines.warn('the data folder is in use: the start waits', { why, waitMsMax: heldWaitMsMax }),
  })
  started.defer(() => log.close())
  return log
}

/** They report no trouble until the parts that they ask have started. */
type Health = HealthFacts & {
  indexTrouble: () => IndexTrouble | null
  bodyTroubles: () => readonly BodyTrouble[]
  damage: () => string | null
  descriptors: () => string | null
  certificate: () => CertificateTrouble | null
  isDraining: boolean
  readonly isReady: () => boolean
  readonly reasons: () => readonly Reason[]
}

const startHealth = ({ lines, started }: Starting, log: EventLog): Health => {
  const health: Health = {
    indexTrouble: () => null,
    bodyTroubles: () => [],
    damage: () => null,
    descriptors: () => null,
    certificate: () => null,
    ...noHealthFacts(),
    isDraining: false,
    isReady: () => !health.isDraining && isReady(health.reasons()),
    reasons: () => reasonsOf({ ...health, log }),
  }
  started.defer(watchHealth(health.reasons, lines, systemSchedule))
  return health
}

const startCore = async (
  { config, clock, entropy, lines, started }: Starting,
  log: EventLog,
  { health, derived }: { readonly health: Health; readonly derived: Derived },
): Promise<OpenCore> => {
  const core = await openCore({
    log,
    clock,
    entropy,
    derived,
    ...beginningOf(config, log),
    sessionIdleMs: config.sessionIdleMs,
    passwordJudge: judgeOnThread({
      schedule: systemSchedule,
      onFault: (why) =>
        lines.warn('cannot compare a new password with the dictionary: compared it with names only', { why }),
    }),
    onBug: tellBug(lines),
    onTimes: (told) => {
      noteTimes(health.clocks, told)
      tellTimes(told, lines)
    },
    onWholeRead: (why) => lines.warn('the start reads the whole log', { why }),
    onLostChanges: tellLostChanges(lines),
    ...partsOfAttention(health, log, config),
  })
  started.defer(() => core.drain())
  health.indexTrouble = core.indexTrouble
  return core
}

const startDerived = async (starting: Starting, log: EventLog) => {
  const { config, clock, entropy, lines, started } = starting
  const onTold = (told: DerivedTold): void => tellDerived(told, lines)
  const onQuestionFault = (why: string): void => lines.error('questions of pages have failed', { why })
  const parts = { clock, entropy, schedule: systemSchedule, onTold, onQuestionFault }
  const derived = await openDerived(config, log, parts)
  started.defer(() => derived.questions.close())
  started.defer(async () => derived.repeats.close())
  const { dataDir, eventStore } = config
  const models = modelKindsFor({ isShared: eventStore !== null }).map(({ name }) => name)
  const stopChecks = startQuickChecks({ store: derived.store, schedule: systemSchedule, dataDir, models })
  started.defer(async () => stopChecks())
  return { ...derived, models }
}

/** EventStoreDB keeps its own checksums. */
const startCheck = (
  { config, clock, lines, started }: Starting,
  health: Health,
  { acceptChangedSchema: acceptsSchema }: ServeOptions,
): DailyCheck | null => {
  if (config.eventStore !== null) return null
  const check = startDailyCheck({ logPath: logPathIn(config.dataDir), acceptsSchema, clock, lines })
  started.defer(() => check.stop())
  health.damage = check.damage
  return check
}

type ServedApp = App & { readonly live: LivePush; readonly facts: FactSources }

type AppParts = Pick<FactParts, 'core' | 'derived' | 'check' | 'servedCertificate' | 'lastBackup' | 'logBeganMs'> & {
  readonly health: Health
}

const startApp = ({ config, clock, lines, started }: Starting, { health, ...parts }: AppParts): ServedApp => {
  const { core } = parts
  const requestLines = boundErrorLines(lines, systemSchedule)
  const refusalLines = new RefusalLines(requestLines, systemSchedule)
  started.defer(() => refusalLines.close())
  const traces = new Traces(requestLines, systemSchedule, core.operators.signInRefused)
  started.defer(() => traces.close())
  const live = new LivePush(core, requestLines, { schedule: systemSchedule, passedMs: () => clock.passedMs() })
  const web = { ...config, program: config.publicProgram }
  const shown = { web, settings: config.settings, ...health, facts: () => facts }
  const app = createApp({ core, lines: requestLines, live, refusalLines, traces, ...shown })
  const facts = factsOfService({ ...parts, ...health, ...app, live, traces }, clock, systemSchedule)
  health.nodeLines = facts.nodeLines
  started.defer(async () => facts.watch.stop())
  health.bodyTroubles = () => app.bodies.troubles()
  return { ...app, live, facts }
}

const startMetrics = ({ config, lines, started }: Starting, facts: () => FactSources | null): void => {
  const server = listenForMetrics(factPrinter(facts, tellBug(lines)), config)
  if (server === null) return
  started.defer(() => server.stop(true))
  lines.info('serving metrics', { host: server.hostname ?? '', port: server.port ?? 0 })
}

type Served = {
  readonly core: Core
  readonly app: ServedApp
  readonly certificate: Certificate | null
  readonly health: Health
}

const startSockets = (starting: Starting, { core, app, certificate, health }: Served) => {
  const { config, lines, started } = starting
  const listener = listen(app, config, certificate)
  started.defer(() => listener.stop())
  const descriptors = watchDescriptors(listener, systemSchedule)
  started.defer(() => descriptors.stop())
  health.descriptors = descriptors.trouble
  const renewal = certificate === null ? null : renewCertificate(listener, certificate, starting)
  health.certificate = () => renewal?.trouble() ?? null
  const { port } = listener
  const linkUrl = (secret: string): string => baseUrlOf(config, port) + paths.link(secret)
  const context = { questions: core.questions, core: async () => core, linkUrl }
  const onLeft = (why: string): void => lines.warn('cannot remove the command socket: the next start does', { why })
  const control = startControlServer({ dataDir: config.dataDir, context, onBug: tellBug(lines), onLeft })
  // At the same time, so that a long answer on one does not delay the other.
  started.defer(() => Promise.all([listener.drain(), control.stop()]).then(() => {}))
  // The server would wait for live pages and exports. The last `defer` runs first.
  started.defer(() => {
    app.live.close()
    return app.downloads.close()
  })
  started.defer(async () => renewal?.stop())
  return { port, linkUrl, renewal }
}

const tellBug =
  (lines: LogLines) =>
  (bug: unknown): void =>
    lines.error('a bug was caught', { error: thrownError(bug) })

const tellChangedSchema =
  (lines: LogLines) =>
  (differences: readonly string[]): void =>
    lines.warn("the schema of the log's file was changed: it is used because of --accept-changed-schema", {
      differences: differences.join(', '),
    })

const tellMissing =
  (lines: LogLines) =>
  ({ lastPosition, knownPosition, findings }: MissingEnd): void =>
    lines.warn('the end of the log is missing: the log is used because of --accept-missing-events', {
      lastPosition,
      knownPosition,
      findings: findings.join('; '),
      remedy: 'Revoke keys and remove operators again, if that was among the missing events',
    })

const tellLostChanges =
  (lines: LogLines) =>
  ({ keyIds, cellars, operators }: LostChanges): void =>
    lines.warn('the log has lost changes: the keys are suspended. Check the cellars and operators yourself', {
      keys: keyIds.slice(0, lostNamesMax).join(', '),
      cellars: cellars.slice(0, lostNamesMax).join(', '),
      operators,
      areMore: Math.max(keyIds.length, cellars.length) > lostNamesMax,
    })

const tellDerived = (told: DerivedTold, lines: LogLines): void => {
  if (told.kind === 'bug') lines.error('a bug was caught', { error: told.why })
  else if (told.kind === 'crashed') lines.error('the thread that follows the log has failed: it starts again', told)
  else if (told.kind === 'replaced' && told.model === repeatsModel.name)
    lines.warn('the index of idempotency keys is built again from the log', { why: told.why })
  else if (told.kind === 'replaced') lines.warn(`${told.model}.db is built again from the log`, { why: told.why })
  // Told as a reason (`health.ts`).
  else if (told.model === repeatsModel.name) return
  else if (told.model === beginningModel.name && told.why !== null)
    lines.warn('beginning.db cannot be used: until it can, a start reads more of the log', { why: told.why })
  else if (told.why === null) lines.info(`${told.model}.db is used again`)
  else lines.warn(`${told.model}.db cannot be used: until it can, pages show nothing newer`, { why: told.why })
}

const tellTimes = (told: TimesTold, lines: LogLines): void => {
  const [level, text] = timesLines[told.kind]
  lines[level](text, 'byMs' in told ? { byMs: told.byMs } : {})
}

const timesLines: Readonly<Record<TimesTold['kind'], readonly [level: 'info' | 'warn', text: string]>> = {
  ahead: ['warn', 'an event is ahead of the clock: the clock of this node is slow, or that of its writer is fast'],
  late: ['warn', 'events arrive late: their subscription is slow, or the clock of their writer is slow'],
  doubted: [
    'warn',
    'the clock is over a day ahead of the newest event or of its earlier time: no readings are purged for a day, or until it is set back',
  ],
  leapt: ['warn', 'the clock jumped ahead: it is trusted after it has kept that time for five seconds'],
  ahead_no_more: ['info', 'events are no longer ahead of the clock'],
  late_no_more: ['info', 'events arrive in time again'],
  leapt_no_more: ['info', 'the clock is trusted again'],
  doubted_no_more: ['info', 'readings are purged by the clock again'],
}

type Welcome = {
  readonly core: Core
  readonly screen: Screen
  readonly dataDir: string
  readonly program: string
  readonly baseUrl: string
  linkUrl(secret: string): string
}

/** Only on a terminal: anyone who has the link can become an admin, and a file would keep it. */
const welcome = async ({ core, screen, dataDir, program, baseUrl, linkUrl }: Welcome): Promise<void> => {
  screen.write(`Cellarbook listens on ${visibleText(baseUrl)}\n`)
  if (core.projections.operators.list().length > 0) return
  if (screen.isTTY !== true) {
    screen.write(
      `Nobody can sign in yet. To create the link for the first admin, run: ${visibleText(folderFor(dataDir))}${program} operator link\n`,
    )
    return
  }
  const link = await core.operators.issueLink({ email: null, role: 'admin' }, systemAsker(core))
  if (link.ok)
    screen.write(`Open this link once to become the first admin:\n\n  ${visibleText(linkUrl(link.value.secret))}\n\n`)
}

/** Before the printed command, so that it finds this service from another shell. */
const folderFor = (dataDir: string): string => {
  const path = resolve(dataDir)
  return path === resolve(variables.dataDir.default) ? '' : `DATA_DIR=${shellWord(path)} `
}

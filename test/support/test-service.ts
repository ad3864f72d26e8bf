import type { AttentionParts } from '../../src/actors/attention/attention-watch.ts'
import type { Asker, Core, NewKey } from '../../src/actors/core-interface.ts'
import type { CoreParts } from '../../src/actors/node.ts'
import { openCore } from '../../src/actors/open-core.ts'
import type { PasswordHasher, PasswordJudge } from '../../src/actors/operator/passwords.ts'
import type { WebhookParts } from '../../src/actors/webhooks/webhook-parts.ts'
import { createApp } from '../../src/app.ts'
import type { questionKinds } from '../../src/asked/question-kinds.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { modelKinds } from '../../src/derived/model-kinds.ts'
import type { Questions } from '../../src/derived/questions/question.ts'
import { factsOfService, noClockTroubles, type ServiceFacts } from '../../src/facts-of-service.ts'
import { isReady, type Reason, reasonsOf } from '../../src/health.ts'
import type { WebConfig } from '../../src/http/dashboard/door/origin.ts'
import { Traces } from '../../src/http/dashboard/door/refusal-traces.ts'
import { LivePush } from '../../src/http/dashboard/live/live-push.ts'
import { type IngestWork, noWork } from '../../src/http/ingest/api-call.ts'
import { RefusalLines } from '../../src/http/ingest/refusal-lines.ts'
import type { RequestLines } from '../../src/http/request-lines.ts'
import { boundErrorLines } from '../../src/http/request-lines.ts'
import { type App, serve } from '../../src/http/serve.ts'
import type { UnfinishedBodies } from '../../src/http/unfinished-bodies.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import type { RepeatsIndex } from '../../src/log/repeats-index.ts'
import type { DailyCheck } from '../../src/log-check-report.ts'
import { type Schedule, systemSchedule } from '../../src/schedule.ts'
import type { SettingView } from '../../views/health/health-types.ts'
import type { Certificate } from './certificate.ts'
import { type DerivedHere, derivedHere } from './derived/derived-here.ts'
import { openFreshLog } from './logs/engine.ts'
import { seededEntropy } from './seeded-entropy.ts'
import { type ManualClock, manualClock } from './time/manual-clock.ts'
import { until } from './time/until.ts'

export const testCellar = 'wine-berlin'
export const testAsker: Asker = { by: { kind: 'cli' }, requestId: 'test' }

export const validReading = {
  cellar: testCellar,
  rack: 'rack-17',
  keg: 'temperature',
  value: 21.5,
  timestamp: '2026-03-01T12:00:00Z',
}

export type ServiceOptions = {
  /** Default: an empty log, which `stop` closes. A test must close a log that it gives. */
  readonly log?: EventLog
  readonly clock?: ManualClock
  readonly seed?: number
  /** Default: that of the derived store. Without one, idempotency keys stay in memory. */
  readonly idempotency?: RepeatsIndex
  /** True gives the node a derived store, which ends with the service. Default: none. */
  readonly isDerived?: boolean
  /** A derived store with a folder that the test removes. */
  readonly derived?: DerivedHere
  /** Makes the node look for what needs attention, as `sweep` does. Default: it does not. */
  readonly attention?: Partial<AttentionParts>
  /** Default: the node can neither make webhooks nor send to them. */
  readonly webhooks?: WebhookParts
  /** What pages ask. Default: the derived store. Without one, the log alone. */
  readonly questions?: Questions<typeof questionKinds>
  /** Default: as in `CoreParts`. */
  readonly onBugs?: Pick<CoreParts, 'onBug' | 'onBroken' | 'onLostChanges' | 'onWholeRead'>
  /** Lets a test replace calls of the core, for states that are hard to reach otherwise. */
  readonly wrapCore?: (core: Core) => Core
  /** Default: no proxy, and plain HTTP only from this machine. */
  readonly web?: Partial<WebConfig>
  /** Default: system timers. */
  readonly schedule?: Schedule
  /** Default: the hasher of production, which takes half a second. */
  readonly passwordHasher?: PasswordHasher
  /** Default: only compares the password with names, which is fast. */
  readonly passwordJudge?: PasswordJudge
  /** Default: system timers. */
  readonly liveSchedule?: Schedule
  /** Default: system timers. */
  readonly lineSchedule?: Schedule
  /** Default: system timers. */
  readonly bodySchedule?: Schedule
  /** Measures how long rendering takes. Default: the manual clock, which stands still meanwhile. */
  readonly livePassedMs?: () => number
  /** Default: the log is not checked. */
  readonly logCheck?: DailyCheck
  /** Default: none. */
  readonly settings?: readonly SettingView[]
  /** Default: system timers. */
  readonly exportSchedule?: Schedule
  /** Default: a free port. */
  readonly port?: number
  /** Default: plain http. */
  readonly tls?: Certificate
}

export type LoggedLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly what: string
  readonly facts: object
}

/** The real app on a real socket. The test controls its time and its random numbers. */
export type Service = {
  readonly url: string
  readonly core: Core
  readonly clock: ManualClock
  readonly log: EventLog
  readonly lines: readonly LoggedLine[]
  readonly traces: Traces
  readonly live: LivePush
  readonly work: Readonly<IngestWork>
  readonly bodies: UnfinishedBodies
  readonly app: App
  readonly server: Bun.Server<unknown>
  reasons(): readonly Reason[]
  readonly facts: ServiceFacts
  /** Creates the cellar if it is missing. */
  createKey(options?: Partial<NewKey>): Promise<{ readonly key: string; readonly keyId: string }>
  /** Posts to a path below `/api/v1/ingest`, for instance `/check`. */
  postTo(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    key: string | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>
  /** Posts one reading. A string or bytes are sent unchanged. */
  post(body: unknown, key: string | null, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Posts a batch as `{"readings":[…]}`. A string or bytes are sent unchanged. */
  postBatch(
    readings: readonly unknown[] | string | Uint8Array<ArrayBuffer>,
    key: string | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>
  /** Does the node's periodic work now, such as purges. */
  sweep(): Promise<void>
  /** Waits until the projections have folded so many readings of the key, because this can happen after the answers. */
  untilFolded(keyId: string, accepted: number): Promise<void>
  stop(): Promise<void>
}

export const startService = async (options: ServiceOptions = {}): Promise<Service> => {
  const clock = options.clock ?? manualClock()
  const log = options.log ?? (await openFreshLog())
  const schedule = options.schedule === undefined ? {} : { schedule: options.schedule }
  const hasher = options.passwordHasher === undefined ? {} : { passwordHasher: options.passwordHasher }
  const judge = options.passwordJudge === undefined ? {} : { passwordJudge: options.passwordJudge }
  const entropy = seededEntropy(options.seed)
  const derived =
    options.derived ??
    (options.isDerived === true ? derivedHere(log, { clock, passedMs: options.livePassedMs ?? clock.passedMs }) : null)
  const passedMs = options.livePassedMs ?? clock.passedMs
  const given = {
    ...(derived !== null && { derived, readBeginning: derived.readBeginning }),
    questions: options.questions ?? derived?.questions ?? questionsOfLog(log, { passedMs }),
    ...(options.idempotency !== undefined && { idempotency: options.idempotency }),
    ...(options.attention !== undefined && {
      attention: {
        node: 'node-1',
        isRefusing: () => !log.health().ok || log.refusesReadings === true,
        nodeLines: () => null,
        ...options.attention,
      },
    }),
    ...(options.webhooks !== undefined && { webhooks: options.webhooks }),
    ...schedule,
    ...hasher,
    ...judge,
    ...options.onBugs,
  }
  const core = await openCore({ log, clock, entropy, ...given })
  const caughtUp = async (): Promise<void> => {
    if (derived === null) return
    const wanted = core.projections.position ?? -1
    const reached = () => derived.store.progress('readings')
    const isAway = () => reached().trouble !== null
    while (!isAway() && ((reached().position ?? -1) < wanted || reached().isBehind)) {
      await until(() => !reached().isBehind || isAway())
      await derived.store.upTo('readings')
    }
  }
  await caughtUp()
  const lines: LoggedLine[] = []
  const sink: RequestLines = {
    debug: (what, facts) => lines.push({ level: 'debug', what, facts }),
    info: (what, facts) => lines.push({ level: 'info', what, facts }),
    warn: (what, facts) => lines.push({ level: 'warn', what, facts }),
    error: (what, facts) => lines.push({ level: 'error', what, facts }),
  }
  const lineSchedule = options.lineSchedule ?? systemSchedule
  const requestLines = boundErrorLines(sink, lineSchedule)
  const served = options.wrapCore?.(core) ?? core
  const timing = { schedule: options.liveSchedule ?? systemSchedule, passedMs }
  const live = new LivePush(served, requestLines, timing)
  const work = noWork()
  const refusalLines = new RefusalLines(requestLines, lineSchedule)
  const traces = new Traces(requestLines, lineSchedule, served.operators.signInRefused)
  const damage = () => options.logCheck?.damage() ?? null
  const reasons = () =>
    reasonsOf({ log, indexTrouble: core.indexTrouble, bodyTroubles: () => app.bodies.troubles(), damage })
  const app = createApp({
    core: served,
    lines: requestLines,
    isReady: () => isReady(reasons()),
    reasons,
    facts: () => facts,
    settings: options.settings ?? [],
    web: {
      publicUrl: null,
      trustedProxies: [],
      allowInsecureHttp: false,
      program: 'bun run cellarbook',
      ...options.web,
    },
    live,
    work,
    refusalLines,
    traces,
    exportTiming: {
      ...(options.exportSchedule !== undefined && { schedule: options.exportSchedule }),
    },
    ...(options.bodySchedule !== undefined && { bodySchedule: options.bodySchedule }),
  })
  const parts = {
    ...app,
    core,
    live,
    traces,
    reasons,
    isReady: () => isReady(reasons()),
    check: () => options.logCheck?.view() ?? null,
    servedCertificate: () => null,
    lastBackup: async () => null,
    logBeganMs: clock.now(),
    clocks: noClockTroubles(),
    derived: derived === null ? null : { ...derived, models: modelKinds.map(({ name }) => name) },
  }
  const facts = factsOfService(parts, clock, lineSchedule)
  const tls = options.tls === undefined ? {} : { tls: options.tls }
  const server = serve(app, { hostname: '127.0.0.1', port: options.port ?? 0, ...tls })
  const url = server.url.origin
  return {
    url,
    core,
    clock,
    log,
    lines,
    traces,
    live,
    work,
    bodies: app.bodies,
    app,
    server,
    reasons,
    facts,
    createKey: (key) => createKey(core, key),
    postTo: (path, body, key, headers) => fetch(`${url}/api/v1/ingest${path}`, requestOf(body, key, headers)),
    post: (body, key, headers) =>
      fetch(`${url}/api/v1/ingest`, requestOf(isRaw(body) ? body : JSON.stringify(body), key, headers)),
    postBatch: (readings, key, headers) =>
      fetch(
        `${url}/api/v1/ingest/batch`,
        requestOf(isRaw(readings) ? readings : JSON.stringify({ readings }), key, headers),
      ),
    sweep: () => core.sweep(),
    untilFolded: async (keyId, accepted) => {
      await until(() => (core.projections.readings.usage(keyId)?.accepted ?? 0) >= accepted)
      await caughtUp()
    },
    stop: async () => {
      live.close()
      await app.downloads.close()
      await server.stop(true)
      facts.watch.stop()
      refusalLines.close()
      traces.close()
      await core.drain()
      if (options.derived === undefined) derived?.remove()
      else derived?.close()
      if (options.log === undefined) await log.close()
    },
  }
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array

const requestOf = (
  body: string | Uint8Array<ArrayBuffer>,
  key: string | null,
  headers: Readonly<Record<string, string>> = {},
): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...(key === null ? {} : { 'X-API-Key': key }), ...headers },
  body,
})

const createKey = async (core: Core, options: Partial<NewKey> = {}) => {
  const cellar = options.cellar ?? testCellar
  if (core.projections.cellars.get(cellar) === null) await core.cellars.create({ cellar, title: '' }, testAsker)
  const input = { cellar, label: '', note: '', limit: null, expiresAt: null, ...options }
  const created = await core.keys.create(input, testAsker)
  if (!created.ok) throw new Error(`Cannot create a key for a test: ${created.refusal.kind}`)
  return { key: created.value.key, keyId: created.value.state.keyId }
}

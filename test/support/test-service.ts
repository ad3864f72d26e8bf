import type { Asker, Core, NewKey } from '../../src/actors/core.ts'
import { openCore } from '../../src/actors/open-core.ts'
import type { PasswordHasher, PasswordJudge } from '../../src/actors/operator/passwords.ts'
import { type Schedule, systemSchedule } from '../../src/actors/schedule.ts'
import { createApp } from '../../src/app.ts'
import { isReady, type Reason, reasonsOf } from '../../src/health.ts'
import type { WebConfig } from '../../src/http/dashboard/door/origin.ts'
import { Traces } from '../../src/http/dashboard/door/refusal-traces.ts'
import { LivePages } from '../../src/http/dashboard/live/live-pages.ts'
import { boundErrorLines } from '../../src/http/error-lines.ts'
import { type IngestWork, noWork } from '../../src/http/ingest/api-call.ts'
import { RefusalLines } from '../../src/http/ingest/refusal-lines.ts'
import type { RequestLines } from '../../src/http/request-lines.ts'
import { type App, serve } from '../../src/http/serve.ts'
import type { UnfinishedBodies } from '../../src/http/unfinished-bodies.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import type { RepeatsIndex } from '../../src/log/repeats-index.ts'
import type { Certificate } from './certificate.ts'
import { openFreshLog } from './logs/engine.ts'
import { createMemoryRepeatsIndex } from './logs/memory-repeats-index.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { seededEntropy } from './seeded-entropy.ts'
import { until } from './until.ts'

export const testCellar = 'wine-berlin'
export const testAsker: Asker = { by: { kind: 'cli' }, requestId: 'test' }

/** A reading that breaks no rule. */
export const validReading = {
  cellar: testCellar,
  rack: 'rack-17',
  keg: 'temperature',
  value: 21.5,
  timestamp: '2026-03-01T12:00:00Z',
}

export type ServiceOptions = {
  /** Default: an empty one. Whoever gives one closes it. */
  readonly log?: EventLog
  readonly clock?: ManualClock
  readonly seed?: number
  /** Default: an empty one in memory. Whoever gives one closes it. */
  readonly idempotency?: RepeatsIndex
  /** Puts something between the routes and the actors: for what can't be brought about otherwise. */
  readonly wrapCore?: (core: Core) => Core
  /** How browsers reach it. Default: straight, and by loopback only. */
  readonly web?: Partial<WebConfig>
  /** When actors do what is deferred. Default: by the process's own timers. */
  readonly schedule?: Schedule
  /** How passwords are hashed. Default: as in production. */
  readonly passwordHasher?: PasswordHasher
  /** How new passwords are judged. Default: they are compared with names only, which takes no time. */
  readonly passwordJudge?: PasswordJudge
  /** When live pages are pushed. Default: by the process's own timers. */
  readonly liveSchedule?: Schedule
  /** When sums of refusals and of errors are written. Default: by the process's own timers. */
  readonly lineSchedule?: Schedule
  /** When unfinished bodies are looked at. Default: by the process's own timers. */
  readonly bodySchedule?: Schedule
  /** By which the rendering of live pages is measured. Default: the manual clock, so that rendering takes no time. */
  readonly livePassedMs?: () => number
  /** Default: whichever is free. */
  readonly port?: number
  /** Default: plain http. */
  readonly tls?: Certificate
}

export type LoggedLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly what: string
  readonly facts: object
}

/** The real app on a real socket, on an empty log unless another is given, with time and chance in the test's hand. */
export type Service = {
  readonly url: string
  readonly core: Core
  readonly clock: ManualClock
  readonly log: EventLog
  readonly lines: readonly LoggedLine[]
  readonly traces: Traces
  readonly live: LivePages
  /** What the requests of devices have made it do. */
  readonly work: Readonly<IngestWork>
  readonly bodies: UnfinishedBodies
  readonly app: App
  readonly server: Bun.Server<unknown>
  /** Why it refuses readings, or soon may. */
  reasons(): readonly Reason[]
  /** Makes the cellar too, if it is not there. */
  createKey(options?: Partial<NewKey>): Promise<{ readonly key: string; readonly keyId: string }>
  /** Posts a reading; a string goes out as it is. `headers` add to and override the usual ones. */
  post(body: unknown, key: string | null, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Posts `{"readings":[…]}`; a string goes out as it is. */
  postBatch(
    readings: readonly unknown[] | string | Uint8Array<ArrayBuffer>,
    key: string | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>
  /** Resolves once pages can show so many readings of that key: the log may tell of one a moment after its answer. */
  untilFolded(keyId: string, accepted: number): Promise<void>
  stop(): Promise<void>
}

export const startService = async (options: ServiceOptions = {}): Promise<Service> => {
  const clock = options.clock ?? manualClock()
  const log = options.log ?? (await openFreshLog())
  const idempotency = options.idempotency ?? createMemoryRepeatsIndex()
  const schedule = options.schedule === undefined ? {} : { schedule: options.schedule }
  const hasher = options.passwordHasher === undefined ? {} : { passwordHasher: options.passwordHasher }
  const judge = options.passwordJudge === undefined ? {} : { passwordJudge: options.passwordJudge }
  const entropy = seededEntropy(options.seed)
  const core = await openCore({ log, clock, entropy, idempotency, ...schedule, ...hasher, ...judge })
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
  const timing = { schedule: options.liveSchedule ?? systemSchedule, passedMs: options.livePassedMs ?? clock.passedMs }
  const live = new LivePages(served, requestLines, timing)
  const work = noWork()
  const refusalLines = new RefusalLines(requestLines, lineSchedule)
  const traces = new Traces(requestLines, lineSchedule, served.operators.signInRefused)
  const reasons = () => reasonsOf({ log, indexTrouble: core.indexTrouble, bodyTroubles: () => app.bodies.troubles() })
  const app = createApp({
    core: served,
    lines: requestLines,
    isReady: () => isReady(reasons()),
    reasons,
    web: { publicUrl: null, trustedProxies: [], allowInsecureHttp: false, ...options.web },
    live,
    work,
    refusalLines,
    traces,
    ...(options.bodySchedule !== undefined && { bodySchedule: options.bodySchedule }),
  })
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
    createKey: (key) => createKey(core, key),
    post: (body, key, headers) =>
      fetch(`${url}/api/v1/ingest`, requestOf(isRaw(body) ? body : JSON.stringify(body), key, headers)),
    postBatch: (readings, key, headers) =>
      fetch(
        `${url}/api/v1/ingest/batch`,
        requestOf(isRaw(readings) ? readings : JSON.stringify({ readings }), key, headers),
      ),
    untilFolded: (keyId, accepted) => until(() => (core.projections.readings.usage(keyId)?.accepted ?? 0) >= accepted),
    stop: async () => {
      live.close()
      await server.stop(true)
      refusalLines.close()
      traces.close()
      await core.drain()
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

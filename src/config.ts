/** Reports all wrong values together. Files and host names are checked later, by the code that uses them. */
import { isIP } from 'node:net'
import { durationTyped, parseDurationMs } from './domain/amounts.ts'
import { type EventStoreSettings, parseEventStore } from './eventstore-url.ts'
import { sessionIdleMsDefault, sessionMsMax } from './limits.ts'

export const sessionIdleMsMin = 60_000
/**
 * Default of `DISK_RESERVE`. Readings are refused if the free disk space and the log's empty pages together are less than this.
 */
export const diskReserveBytesDefault = 256 * 1024 * 1024
const diskReserveBytesMin = 64 * 1024 * 1024

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export type Config = {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly dataDir: string
  readonly diskReserveBytes: number
  readonly sessionIdleMs: number
  /** `null`: the embedded log. */
  readonly eventStore: EventStoreSettings | null
  /** For browsers, without a slash at the end. `null`: the address on which the service listens. */
  readonly publicUrl: string | null
  /** `X-Forwarded-For` from any other address is ignored, because any client can invent it. */
  readonly trustedProxies: readonly string[]
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null
  readonly logLevel: LogLevel
  readonly allowInsecureHttp: boolean
  readonly allowSharedDataDir: boolean
  /** How to call this program, in the form in which it was started. */
  readonly program: string
}

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] }

export type Environment = { readonly [name: string]: string | undefined }

type Fault = { readonly fault: string }
type Parsed<T> = { readonly value: T } | Fault

/** A fault shows the value only if it cannot contain a password. An empty variable counts as not set. */
export const parseConfig = (environment: Environment): ParsedConfig => {
  const faults: string[] = []
  const take = <T>(parsed: Parsed<T>, otherwise: T): T => {
    if ('value' in parsed) return parsed.value
    faults.push(parsed.fault)
    return otherwise
  }
  const text = (name: string): string | null => environment[name] || null

  const config: Config = {
    host: take(parseHost(text('HOST') ?? '127.0.0.1'), ''),
    port: take(parsePort(text('PORT') ?? '3000'), 0),
    dataDir: take(parseDataDir(text('DATA_DIR') ?? dataDirDefault), ''),
    diskReserveBytes: take(parseDiskReserve(text('DISK_RESERVE')), diskReserveBytesDefault),
    eventStore: take(parseEventStoreSettings(text('EVENTSTORE_URL'), text('EVENTSTORE_PREFIX')), null),
    sessionIdleMs: take(parseSessionIdle(text('SESSION_IDLE')), sessionIdleMsDefault),
    publicUrl: take(parsePublicUrl(text('PUBLIC_URL')), null),
    trustedProxies: take(parseTrustedProxies(text('TRUSTED_PROXIES')), []),
    tls: take(parseTls(text('TLS_CERT'), text('TLS_KEY')), null),
    logLevel: take(parseLogLevel(text('LOG_LEVEL') ?? 'info'), 'info'),
    allowInsecureHttp: take(parseSwitch('ALLOW_INSECURE_HTTP', text('ALLOW_INSECURE_HTTP')), false),
    allowSharedDataDir: take(parseSwitch('ALLOW_SHARED_DATA_DIR', text('ALLOW_SHARED_DATA_DIR')), false),
    program: programOf(text('npm_config_user_agent')),
  }
  return faults.length === 0 ? { ok: true, config } : { ok: false, faults }
}

/** npx, npm and `bun run` set `npm_config_user_agent`. Somebody who has only npx cannot run a command that begins with `bun`. */
const programOf = (runBy: string | null): string => {
  if (runBy === null) return 'bun src/main.ts'
  return runBy.startsWith('bun/') ? 'bun run cellarbook' : `npx --yes bun@${Bun.version} run cellarbook`
}

const wrong = (name: string, value: string, rule: string): Fault => ({
  fault: `${name} is ${JSON.stringify(value)}: ${rule}`,
})

const parsePort = (value: string): Parsed<number> => {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (port <= 65_535) return { value: port }
  return wrong('PORT', value, 'it must be a whole number from 0 (any free port) to 65535')
}

const parseHost = (value: string): Parsed<string> => {
  if (isIP(value) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(value)) return { value }
  return wrong('HOST', value, 'it must be an IP address or a host name, without scheme or port')
}

export const dataDirDefault = './data'

const parseDataDir = (value: string): Parsed<string> => {
  if (value.trim() !== '' && !value.includes('\0')) return { value }
  return wrong('DATA_DIR', value, 'it must be the path of a folder')
}

const bytesPerUnit = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

const parseDiskReserve = (value: string | null): Parsed<number> => {
  if (value === null) return { value: diskReserveBytesDefault }
  const [, digits, unit = ''] = /^(\d{1,15})(KiB|MiB|GiB|TiB)?$/.exec(value) ?? []
  const scale = Object.entries(bytesPerUnit).find(([name]) => name === unit)?.[1] ?? Number.NaN
  const bytes = Number(digits) * scale
  if (bytes >= diskReserveBytesMin && Number.isSafeInteger(bytes)) return { value: bytes }
  const least = `${diskReserveBytesMin / bytesPerUnit.MiB}MiB`
  return wrong('DISK_RESERVE', value, `it must be a size of at least ${least}, like 256MiB, 1GiB or 268435456 (bytes)`)
}

const parseSessionIdle = (value: string | null): Parsed<number> => {
  if (value === null) return { value: sessionIdleMsDefault }
  const parsed = parseDurationMs(value, 'SESSION_IDLE')
  if (parsed.ok && parsed.value >= sessionIdleMsMin && parsed.value <= sessionMsMax) return { value: parsed.value }
  const bounds = `${durationTyped(sessionIdleMsMin)} to ${durationTyped(sessionMsMax)}`
  return wrong('SESSION_IDLE', value, `it must be a duration from ${bounds}, like 30m or 2h`)
}

const parseEventStoreSettings = (url: string | null, prefix: string | null): Parsed<EventStoreSettings | null> => {
  if (url !== null) return parseEventStore(url, prefix ?? '')
  if (prefix === null) return { value: null }
  return { fault: 'EVENTSTORE_PREFIX is set, but EVENTSTORE_URL is not: the embedded log has no prefix' }
}

const parsePublicUrl = (value: string | null): Parsed<string | null> => {
  if (value === null) return { value: null }
  const url = URL.parse(value)
  const isOrigin =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.pathname === '/' &&
    !value.includes('?') &&
    !value.includes('#') &&
    !value.includes('@')
  if (isOrigin) return { value: url.origin }
  // The text before the "@" can be a password.
  const shown = value.includes('@') ? '(not shown)' : value
  return wrong(
    'PUBLIC_URL',
    shown,
    'it must be an address like https://cellar.example, without path, query or user name',
  )
}

const parseTrustedProxies = (value: string | null): Parsed<readonly string[]> => {
  if (value === null) return { value: [] }
  const addresses = value.split(',').map((address) => address.trim())
  if (addresses.every((address) => isIP(address) !== 0)) return { value: addresses }
  return wrong('TRUSTED_PROXIES', value, 'it must be IP addresses separated by commas, like 10.0.0.2,10.0.0.3')
}

const parseTls = (certPath: string | null, keyPath: string | null): Parsed<Config['tls']> => {
  if (certPath !== null && keyPath !== null) return { value: { certPath, keyPath } }
  if (certPath !== null) return { fault: 'TLS_KEY is not set, but TLS_CERT is: https needs both' }
  if (keyPath !== null) return { fault: 'TLS_CERT is not set, but TLS_KEY is: https needs both' }
  return { value: null }
}

const parseLogLevel = (value: string): Parsed<LogLevel> => {
  const level = logLevels.find((known) => known === value)
  return level === undefined ? wrong('LOG_LEVEL', value, `it must be one of ${logLevels.join(', ')}`) : { value: level }
}

const parseSwitch = (name: string, value: string | null): Parsed<boolean> => {
  if (value === null || value === '0') return { value: false }
  return value === '1' ? { value: true } : wrong(name, value, 'it must be 1 or 0')
}

/** `PUBLIC_URL`, or else the local address. */
export const baseUrlOf = (config: Config, port: number = config.port): string => {
  if (config.publicUrl !== null) return config.publicUrl
  return localUrlOf(config, port)
}

/** Browsers cannot open 0.0.0.0 and ::, so these become localhost. */
export const localUrlOf = (config: Config, port: number): string => {
  const scheme = config.tls === null ? 'http' : 'https'
  const isWildcard = config.host === '0.0.0.0' || config.host === '::'
  const host = isWildcard ? 'localhost' : isIP(config.host) === 6 ? `[${config.host}]` : config.host
  return `${scheme}://${host}:${port}`
}

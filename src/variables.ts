/** The environment variables. `src/config.ts`, the README's table, `--help` and `cellarbook config` are made from this table. */
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { durationTyped, parseDurationMs } from './domain/amounts.ts'
import { parseEventStorePrefix, parseEventStoreUrl } from './eventstore-url.ts'
import { sessionIdleMsDefault, sessionMsMax } from './limits.ts'

export type Variable<T> = {
  readonly name: string
  /** Parsed like any other value. '' means that the variable is not set. */
  readonly default: string
  /** For the README, so a name or a value is between backticks. */
  readonly meaning: string
  /** Never shown. `NAME_FILE` can name a file with the secret, and the meaning says so. */
  readonly isSecret?: true
  /** The variable that must be set, too. */
  readonly needs?: { readonly name: string; readonly because: string }
  parse(text: string): Parsed<T>
}

export type Parsed<T> = { readonly value: T } | { readonly rule: string }

export const sessionIdleMsMin = 60_000
export const diskReserveBytesDefault = 256 * 1024 * 1024
const diskReserveBytesMin = 64 * 1024 * 1024

export const webhookMasterBytes = 32

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const parseHost = (text: string): Parsed<string> =>
  isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)
    ? { value: text }
    : { rule: 'it must be an IP address or a host name, without scheme or port' }

const parsePort = (text: string): Parsed<number> => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? { value: port } : { rule: 'it must be a whole number from 0 (any free port) to 65535' }
}

const parseDataDir = (text: string): Parsed<string> =>
  text.trim() !== '' && !text.includes('\0') ? { value: text } : { rule: 'it must be the path of a folder' }

const bytesPerUnit: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
}
const mebibytes = (bytes: number): string => `${bytes / 1024 ** 2}MiB`

const parseDiskReserve = (text: string): Parsed<number> => {
  const [, digits, unit = ''] = /^(\d{1,15})(KiB|MiB|GiB|TiB)?$/.exec(text) ?? []
  const bytes = Number(digits) * (bytesPerUnit[unit] ?? Number.NaN)
  if (bytes >= diskReserveBytesMin && Number.isSafeInteger(bytes)) return { value: bytes }
  const least = mebibytes(diskReserveBytesMin)
  return { rule: `it must be a size of at least ${least}, like 256MiB, 1GiB or 268435456 (bytes)` }
}

const parseSessionIdle = (text: string): Parsed<number> => {
  const parsed = parseDurationMs(text, 'SESSION_IDLE')
  if (parsed.ok && parsed.value >= sessionIdleMsMin && parsed.value <= sessionMsMax) return { value: parsed.value }
  const bounds = `${durationTyped(sessionIdleMsMin)} to ${durationTyped(sessionMsMax)}`
  return { rule: `it must be a duration from ${bounds}, like 30m or 2h` }
}

const parsePublicUrl = (text: string): Parsed<string | null> => {
  if (text === '') return { value: null }
  const url = URL.parse(text)
  const isOrigin =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.pathname === '/' &&
    !/[?#@]/.test(text)
  if (isOrigin) return { value: url.origin }
  return { rule: 'it must be an address like https://cellar.example, without path, query or user name' }
}

const parseTrustedProxies = (text: string): Parsed<readonly string[]> => {
  const addresses = text === '' ? [] : text.split(',').map((address) => address.trim())
  if (addresses.every((address) => isIP(address) !== 0)) return { value: addresses }
  return { rule: 'it must be IP addresses separated by commas, like 10.0.0.2,10.0.0.3' }
}

const parseLogLevel = (text: string): Parsed<LogLevel> => {
  const level = logLevels.find((known) => known === text)
  return level === undefined ? { rule: `it must be one of ${logLevels.join(', ')}` } : { value: level }
}

const parseSwitch = (text: string): Parsed<boolean> =>
  ['', '0', '1'].includes(text) ? { value: text === '1' } : { rule: 'it must be 1 or 0' }

const nodeNameCharsMax = 64

const parseNodeName = (text: string): Parsed<string> => {
  if (text === '') return { value: hostname() }
  if (text.length <= nodeNameCharsMax && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return { value: text }
  return { rule: `it must be at most ${nodeNameCharsMax} letters, digits, ".", "_" and "-", like node-1` }
}

/** Other programs make such a text, too: `openssl rand -base64 32`. The rule does not show the text. */
export const parseWebhookMaster = (text: string): Parsed<Uint8Array> => {
  const trimmed = text.trim()
  const bytes = Buffer.from(trimmed, 'base64')
  const isWhole = bytes.toString('base64') === trimmed && bytes.length >= webhookMasterBytes
  return isWhole ? { value: bytes } : { rule: `it must be ${webhookMasterBytes} random bytes or more, in base64` }
}

const parsePrivateAddresses = (text: string): Parsed<'refuse' | 'allow'> =>
  text === 'refuse' || text === 'allow' ? { value: text } : { rule: 'it must be refuse or allow' }

/** Whether the file can be read is found out later, by the code that uses it. */
const parsePath = (text: string): Parsed<string | null> => ({ value: text || null })

/** In the order of the README. */
export const variables = {
  host: {
    name: 'HOST',
    default: '127.0.0.1',
    meaning: 'the address where it listens',
    parse: parseHost,
  },
  port: {
    name: 'PORT',
    default: '3000',
    meaning: 'the port where it listens; `0`: any free port',
    parse: parsePort,
  },
  dataDir: {
    name: 'DATA_DIR',
    default: './data',
    meaning: 'the folder of the log; one process at a time',
    parse: parseDataDir,
  },
  diskReserve: {
    name: 'DISK_RESERVE',
    default: mebibytes(diskReserveBytesDefault),
    meaning: `with less free disk space the embedded log takes no readings; at least \`${mebibytes(diskReserveBytesMin)}\``,
    parse: parseDiskReserve,
  },
  eventStoreUrl: {
    name: 'EVENTSTORE_URL',
    default: '',
    meaning:
      '`esdb://…`, or `EVENTSTORE_URL_FILE`, a file with it: the log is on EventStoreDB, for several nodes, and not in `DATA_DIR`',
    isSecret: true,
    parse: (text: string) => (text === '' ? { value: null } : parseEventStoreUrl(text)),
  },
  eventStorePrefix: {
    name: 'EVENTSTORE_PREFIX',
    default: '',
    meaning: 'before the name of every stream there, so that a cluster can be shared',
    needs: { name: 'EVENTSTORE_URL', because: 'the embedded log has no prefix' },
    parse: parseEventStorePrefix,
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    default: '',
    meaning:
      'the address that browsers and devices use, if they reach it elsewhere: in links, snippets and origin checks',
    parse: parsePublicUrl,
  },
  tlsCert: {
    name: 'TLS_CERT',
    default: '',
    meaning: 'PEM file of the certificate: https without a proxy; read again when it changes',
    needs: { name: 'TLS_KEY', because: 'https needs both' },
    parse: parsePath,
  },
  tlsKey: {
    name: 'TLS_KEY',
    default: '',
    meaning: 'PEM file of its key',
    needs: { name: 'TLS_CERT', because: 'https needs both' },
    parse: parsePath,
  },
  metricsPort: {
    name: 'METRICS_PORT',
    default: '',
    meaning: 'the port of `/metrics`, for Prometheus; not set: no metrics; `0`: any free port',
    parse: (text: string): Parsed<number | null> => (text === '' ? { value: null } : parsePort(text)),
  },
  metricsHost: {
    name: 'METRICS_HOST',
    default: '127.0.0.1',
    meaning: 'the address of that port',
    needs: { name: 'METRICS_PORT', because: 'without it, no metrics are served' },
    parse: parseHost,
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    default: '',
    meaning: 'IP addresses whose forwarded headers are believed',
    parse: parseTrustedProxies,
  },
  allowInsecureHttp: {
    name: 'ALLOW_INSECURE_HTTP',
    default: '',
    meaning: '`1`: sign-in over plain http from elsewhere, with a standing warning',
    parse: parseSwitch,
  },
  sessionIdle: {
    name: 'SESSION_IDLE',
    default: durationTyped(sessionIdleMsDefault),
    meaning: `a session ends after this time without use (an open live page is use); from \`${durationTyped(sessionIdleMsMin)}\` to \`${durationTyped(sessionMsMax)}\``,
    parse: parseSessionIdle,
  },
  webhookMaster: {
    name: 'WEBHOOK_MASTER',
    default: '',
    meaning:
      '32 random bytes in base64, or `WEBHOOK_MASTER_FILE`, a file with them: for the secrets of webhooks; needed with `EVENTSTORE_URL`, the same on all nodes',
    isSecret: true,
    parse: (text: string): Parsed<Uint8Array | null> => (text === '' ? { value: null } : parseWebhookMaster(text)),
  },
  webhookPrivateAddresses: {
    name: 'WEBHOOK_PRIVATE_ADDRESSES',
    default: 'refuse',
    meaning: '`allow`: webhooks may reach private addresses, for example in your own network',
    parse: parsePrivateAddresses,
  },
  allowSharedDataDir: {
    name: 'ALLOW_SHARED_DATA_DIR',
    default: '',
    meaning: '`1`: use a data folder that other users can write, with a warning at each start and command',
    parse: parseSwitch,
  },
  nodeName: {
    name: 'NODE_NAME',
    default: '',
    meaning: 'names this node in what needs attention, and each node has another; not set: the name of the host',
    parse: parseNodeName,
  },
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace` to `silent`; log lines are JSON on stdout, without secrets',
    parse: parseLogLevel,
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>

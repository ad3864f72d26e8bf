/** Reports all wrong values together. Other files and host names are checked later, by the code that uses them. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename } from 'node:path'
import { messageOf } from './domain/error-message.ts'
import type { EventStoreSettings } from './eventstore-url.ts'
import { type LogLevel, type Variable, variables } from './variables.ts'

export type Config = {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly dataDir: string
  /** Names this node in what needs attention. */
  readonly nodeName: string
  /** Readings are refused if the free disk space and the log's empty pages together are less than this. */
  readonly diskReserveBytes: number
  /** `null`: the embedded log. */
  readonly eventStore: EventStoreSettings | null
  /** For browsers, without a slash at the end. `null`: the address on which the service listens. */
  readonly publicUrl: string | null
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null
  /** `null`: no metrics are served. */
  readonly metrics: { readonly host: string; readonly port: number } | null
  /** `X-Forwarded-For` from any other address is ignored, because any client can invent it. */
  readonly trustedProxies: readonly string[]
  readonly allowInsecureHttp: boolean
  readonly sessionIdleMs: number
  readonly webhooks: {
    /** `null`: the file in the data folder. */
    readonly master: Uint8Array | null
    readonly privateAddresses: 'refuse' | 'allow'
  }
  readonly allowSharedDataDir: boolean
  readonly logLevel: LogLevel
  /** How to call this program, in the form in which it was started. */
  readonly program: string
  /** For pages, which strangers can see: without the path of the executable, which can have the name of a user. */
  readonly publicProgram: string
  /** Of each variable, for people. */
  readonly settings: readonly Setting[]
}

export type Setting = {
  readonly name: string
  /** Without secrets. `null`: not set, and there is no default. */
  readonly value: string | null
  readonly default: string | null
  /** `environment`, `default`, or `file` with its path. */
  readonly source: string
  /** Markdown. */
  readonly meaning: string
  readonly fault: string | null
}

export type ParsedConfig = { readonly settings: readonly Setting[] } & (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] }
)

export type Environment = { readonly [name: string]: string | undefined }

/** An empty variable counts as not set. */
export const parseConfig = (environment: Environment): ParsedConfig => {
  const settings: Setting[] = []
  const take = <T>(variable: Variable<T>, faultOf: (value: T) => string | null = () => null): T => {
    const { value, setting } = settingOf(variable, environment)
    settings.push({ ...setting, fault: setting.fault ?? faultOf(value) })
    return value
  }

  const [host, port, dataDir] = [take(variables.host), take(variables.port), take(variables.dataDir)]
  const diskReserveBytes = take(variables.diskReserve)
  const [store, prefix] = [take(variables.eventStoreUrl), take(variables.eventStorePrefix)]
  const publicUrl = take(variables.publicUrl)
  const [certPath, keyPath] = [take(variables.tlsCert), take(variables.tlsKey)]
  const metricsPort = take(variables.metricsPort, (value) =>
    value === port && port !== 0 ? `METRICS_PORT is ${port}, as PORT: devices must not reach the metrics` : null,
  )
  const metricsHost = take(variables.metricsHost)
  const config: Config = {
    host,
    port,
    dataDir,
    diskReserveBytes,
    eventStore: store === null ? null : { ...store, prefix },
    publicUrl,
    tls: certPath === null || keyPath === null ? null : { certPath, keyPath },
    metrics: metricsPort === null ? null : { host: metricsHost, port: metricsPort },
    trustedProxies: take(variables.trustedProxies),
    allowInsecureHttp: take(variables.allowInsecureHttp),
    sessionIdleMs: take(variables.sessionIdle),
    webhooks: { master: take(variables.webhookMaster), privateAddresses: take(variables.webhookPrivateAddresses) },
    allowSharedDataDir: take(variables.allowSharedDataDir),
    nodeName: take(variables.nodeName),
    logLevel: take(variables.logLevel),
    program: programOf(environment),
    publicProgram: programOf(environment, basename(process.argv0)),
    settings,
  }
  const faults = settings.flatMap(({ fault }) => fault ?? [])
  return faults.length === 0 ? { ok: true, config, settings } : { ok: false, faults, settings }
}

/**
 * Names that begin like ours, but mean nothing to Cellarbook. Kubernetes sets `EVENTSTORE_SERVICE_HOST` and `EVENTSTORE_PORT_…`
 * for a service called `eventstore`.
 */
export const unknownNames = (environment: Environment): readonly string[] => {
  const known = Object.values<Variable<unknown>>(variables).flatMap(({ name, isSecret }) =>
    isSecret === true ? [name, fileOf(name)] : [name],
  )
  return Object.keys(environment).filter(
    (name) => /^(EVENTSTORE|METRICS|TLS|WEBHOOK)_(?!SERVICE_|PORT(_|$))/.test(name) && !known.includes(name),
  )
}

/**
 * How a person can call this program: an executable as it was called here. npx, npm and `bun run` set `npm_config_user_agent`.
 * Somebody who has only npx cannot run a command that begins with `bun`.
 */
export const programOf = (environment: Environment, executable = process.argv0): string => {
  const runBy = environment['npm_config_user_agent']
  const word = /^[\w./-]+$/.test(executable) ? executable : `'${executable.replaceAll("'", "'\\''")}'`
  if (Bun.isStandaloneExecutable) return word
  if (!runBy) return `${word} src/main.ts`
  return runBy.startsWith('bun/') ? 'bun run cellarbook' : `npx --yes bun@${Bun.version} run cellarbook`
}

/**
 * Messages name commands as `cellarbook key create`, because the same message can be shown by another process. A path or
 * another text that a person gave can have that word, too.
 */
export const asCalled = (message: string, program: string): string =>
  message.replace(/(?<![\w/.-])cellarbook (?=(?:cellar|key|log|operator) [a-z]|serve --)/g, () => `${program} `)

/** The value is that of the default if the variable is wrong. */
const settingOf = <T>(variable: Variable<T>, environment: Environment): { value: T; setting: Setting } => {
  const { name, meaning, isSecret = false } = variable
  const given = givenOf(variable, environment)
  const parsed = variable.parse(given.text || variable.default)
  const isWrong = 'rule' in parsed
  // The text before the "@" of an address can be a password.
  const isHidden = given.text !== '' && (isSecret || (isWrong && given.text.includes('@')))
  const shown = isHidden ? 'not shown' : given.text || variable.default || null
  const beginning = isHidden ? `${name} (not shown)` : `${name} is ${JSON.stringify(shown)}`
  const rule = isWrong ? `${beginning}: ${parsed.rule}` : null
  const fault = given.fault ?? rule ?? faultOfNeeds(variable, given, environment)
  const setting = { name, value: shown, default: variable.default || null, source: given.source, meaning, fault }
  return { value: isWrong ? defaultOf(variable) : parsed.value, setting }
}

const defaultOf = <T>({ name, default: text, parse }: Variable<T>): T => {
  const parsed = parse(text)
  if ('value' in parsed) return parsed.value
  throw new Error(`the default of ${name} is wrong: ${parsed.rule}`)
}

const faultOfNeeds = ({ name, needs }: Variable<unknown>, { text }: Given, environment: Environment): string | null => {
  if (needs === undefined || text === '') return null
  const needed = Object.values(variables).find((variable) => variable.name === needs.name)
  if (needed !== undefined && givenOf(needed, environment).source !== 'default') return null
  return `${name} is set, but ${needs.name} is not: ${needs.because}`
}

type Given = { readonly text: string; readonly source: Setting['source']; readonly fault: string | null }

const givenOf = ({ name, isSecret }: Variable<unknown>, environment: Environment): Given => {
  const text = environment[name] ?? ''
  const path = isSecret === true ? (environment[fileOf(name)] ?? '') : ''
  if (path === '') return { text, source: text === '' ? 'default' : 'environment', fault: null }
  if (text !== '')
    return { text, source: 'environment', fault: `${name} and ${fileOf(name)} are both set: use one of them` }
  try {
    return { text: readSecret(path), source: `file ${path}`, fault: null }
  } catch (error) {
    // Somebody can have put the secret itself there.
    const fault = path.includes('@')
      ? '(not shown): it must be the path of a file'
      : `is ${JSON.stringify(path)}: ${messageOf(error)}`
    return { text, source: 'file', fault: `${fileOf(name)} ${fault}` }
  }
}

/** Names a file that contains the value of the variable, which must be a secret. */
const fileOf = (name: string): string => `${name}_FILE`

const secretBytesMax = 64 * 1024

/** Without the line break at the end, which most editors and `echo` write. A pipe could keep the start waiting. */
const readSecret = (path: string): string => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a regular file')
    const bytes = Buffer.alloc(secretBytesMax + 1)
    const length = readSync(file, bytes)
    if (length > secretBytesMax) throw new Error(`it has more than ${secretBytesMax} bytes`)
    const text = bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
    if (text === '') throw new Error('it is empty')
    return text
  } finally {
    closeSync(file)
  }
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

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { CommandFailed, exitCodes } from './cli/exit-codes.ts'
import type { Config } from './config.ts'
import { messageOf, thrownError } from './domain/error-message.ts'
import { type Metrics, serveMetrics } from './http/ops/metrics-socket.ts'
import { type App, serve } from './http/serve.ts'

export type CertificateAndKey = { readonly cert: string; readonly key: string }

/** `null`: no TLS. @throws CommandFailed */
export const readCertificate = ({ tls }: Config): CertificateAndKey | null => {
  if (tls === null) return null
  const pair = readPair(tls)
  try {
    createSecureContext(pair)
    return pair
  } catch (cause) {
    throw unfit(`Cannot use TLS_CERT and TLS_KEY: ${certificateFault(thrownError(cause))}`, cause)
  }
}

/** In ms since 1970. `null`: no TLS. */
export const certificateEndsMs = (pair: CertificateAndKey | null): number | null =>
  pair === null ? null : new X509Certificate(pair.cert).validToDate.getTime()

const readPair = ({ certPath, keyPath }: NonNullable<Config['tls']>): CertificateAndKey => {
  try {
    return { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') }
  } catch (cause) {
    throw unfit(`Cannot read TLS_CERT or TLS_KEY: ${messageOf(cause)}`, cause)
  }
}

/** The TLS library's message is only a code: `error:0900006e:PEM routines:OPENSSL_internal:NO_START_LINE`. */
const certificateFault = ({ message }: Error): string => {
  if (/KEY_(VALUES|TYPE)_MISMATCH/.test(message)) return 'the key belongs to another certificate'
  if (/BAD_DECRYPT|PASSWORD/.test(message)) return 'the key has a passphrase. Use a key without one'
  return 'a file is not complete PEM'
}

/** `null`: METRICS_PORT is not set. @throws CommandFailed if the host or port cannot be used */
export const listenForMetrics = (metrics: Metrics, { metrics: at }: Config): Bun.Server<unknown> | null => {
  if (at === null) return null
  try {
    return serveMetrics(metrics, { hostname: at.host, port: at.port })
  } catch (cause) {
    const why = listenFault(thrownError(cause), at.host, 'METRICS_')
    throw unfit(`Cannot listen on ${at.host} port ${at.port}: ${why}`, cause)
  }
}

/** @throws CommandFailed if the host or port cannot be used */
export const listen = (app: App, config: Config, tls: CertificateAndKey | null): Bun.Server<unknown> => {
  const { host: hostname, port } = config
  try {
    return serve(app, { hostname, port, ...(tls === null ? {} : { tls }) })
  } catch (cause) {
    throw unfit(`Cannot listen on ${hostname} port ${port}: ${listenFault(thrownError(cause), hostname)}`, cause)
  }
}

/**
 * For an unknown host name, Bun's error code depends on the machine: EINVAL, ENOTCONN, ENOENT, EAGAIN. So any code that is
 * not about the port or the process means that.
 */
export const listenFault = (error: Error, host: string, prefix: '' | 'METRICS_' = ''): string => {
  const code = codeOf(error)
  if (code === 'EADDRINUSE' || error.message.includes('in use'))
    return `the port is in use. Set ${prefix}PORT to another one, or stop the other program`
  if (code === 'EACCES') return `this user may not use the port. Set ${prefix}PORT to 1024 or more`
  const isAddress = isIP(host) !== 0
  if (isAddress && addressCodes.has(code))
    return `${prefix}HOST ${JSON.stringify(host)} is not an address of this machine`
  if (isAddress || processCodes.has(code)) return error.message
  return `${prefix}HOST ${JSON.stringify(host)} is not a name of this machine`
}

/**
 * EINVAL: a link-local IPv6 address without its interface, `fe80::1` and not `fe80::1%eth0`. EAFNOSUPPORT: IPv6 is switched
 * off.
 */
const addressCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EINVAL', 'EAFNOSUPPORT'])
const processCodes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : (/\bE[A-Z_]{3,}\b/.exec(error.message)?.[0] ?? '')

const unfit = (message: string, cause: unknown): CommandFailed =>
  new CommandFailed(message, exitCodes.configuration, { cause })

import { isIP } from 'node:net'
import { CommandFailed, exitCodes } from '../cli/exit-codes.ts'
import type { MachineClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { thrownError } from '../domain/error-message.ts'
import { type Metrics, serveMetrics } from '../http/ops/metrics-socket.ts'
import type { App } from '../http/serve.ts'
import type { LogLines } from '../log-lines.ts'
import { systemSchedule } from '../schedule.ts'
import { CertificateRenewal } from './certificate-renewal.ts'
import { Listener } from './listener.ts'
import { type Certificate, readCertificate } from './read-certificate.ts'

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
export const listen = (app: App, { host: hostname, port }: Config, certificate: Certificate | null): Listener => {
  try {
    return new Listener(app, { hostname, port }, certificate, systemSchedule)
  } catch (cause) {
    throw unfit(`Cannot listen on ${hostname} port ${port}: ${listenFault(thrownError(cause), hostname)}`, cause)
  }
}

type RenewalParts = { readonly config: Config; readonly clock: MachineClock; readonly lines: LogLines }

export const renewCertificate = (
  listener: Listener,
  first: Certificate,
  { config, clock, lines }: RenewalParts,
): CertificateRenewal =>
  new CertificateRenewal(first, {
    read: async () => (await readCertificate(config)) ?? first,
    replace: (next) => listener.replaceCertificate(next),
    now: clock.now,
    schedule: systemSchedule,
    lines,
  })

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

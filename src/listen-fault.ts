import { isIP } from 'node:net'

/**
 * Why the service cannot listen there, in words. Bun tells reliably what is wrong with a port or with an IP address. For a
 * name that does not resolve it gives whatever error code the resolver left behind, which differs between machines: EINVAL,
 * ENOTCONN, ENOENT, EAGAIN. So only a name's errors about the port or the process are believed.
 */
export const listenFault = (error: Error, host: string): string => {
  const code = codeOf(error)
  if (code === 'EADDRINUSE' || error.message.includes('in use')) return 'the port is in use'
  if (code === 'EACCES') return 'this user may not use the port'
  const isAddress = isIP(host) !== 0
  if (isAddress && addressCodes.has(code)) return `HOST ${JSON.stringify(host)} is no address of this machine`
  if (isAddress || processCodes.has(code)) return error.message
  return `HOST ${JSON.stringify(host)} names no address of this machine`
}

/** EINVAL: a link-local IPv6 address without its interface. EAFNOSUPPORT: IPv6 is switched off. */
const addressCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EINVAL', 'EAFNOSUPPORT'])
const processCodes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : (/\bE[A-Z_]{3,}\b/.exec(error.message)?.[0] ?? '')

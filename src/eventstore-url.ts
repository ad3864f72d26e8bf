/** A rule never shows the text of `EVENTSTORE_URL`, which can contain a password. */
import { isIP } from 'node:net'

export type EventStoreEndpoint = { readonly host: string; readonly port: number }

export type EventStoreSettings = {
  readonly endpoints: readonly EventStoreEndpoint[]
  /** The node asks the endpoints which server is the leader. */
  readonly discovers: boolean
  /** `null`: no TLS. */
  readonly tls: {
    readonly caPath: string | null
    readonly certPath: string | null
    readonly keyPath: string | null
  } | null
  readonly credentials: { readonly username: string; readonly password: string } | null
  readonly prefix: string
}

type Parsed = { readonly value: Omit<EventStoreSettings, 'prefix'> } | { readonly rule: string }

const portDefault = 2113
const shape = /^(esdb(?:\+discover)?):\/\/(?:([^@/?]*)@)?([^@/?]+)\/?(?:\?(.*))?$/
const example = 'it must be like esdb://cellarbook:password@cluster.example:2113?tlsCaFile=/etc/cellarbook/ca.crt'

export const parseEventStoreUrl = (url: string): Parsed => {
  const match = shape.exec(url.trim())
  if (match === null) return { rule: example }
  const [, scheme = '', user, hosts = '', query = ''] = match
  const endpoints = hosts.split(',').map(endpointOf)
  const known = endpoints.filter((endpoint) => endpoint !== null)
  if (known.length < endpoints.length) return { rule: 'each host must be a name or an address, with a port or without' }
  const credentials = user === undefined ? null : credentialsOf(user)
  if (credentials === 'malformed') return { rule: 'before the "@" there must be name:password, percent-encoded' }
  const options = optionsOf(query)
  if ('rule' in options) return options

  const address = known.find(({ host }) => isIP(host) !== 0)
  if (options.tls !== null && address !== undefined) {
    return { rule: `the address ${address.host} cannot be used with TLS. Use the host name in the certificate` }
  }
  const discovers = scheme === 'esdb+discover' || known.length > 1
  return { value: { endpoints: known, discovers, tls: options.tls, credentials } }
}

const endpointOf = (text: string): EventStoreEndpoint | null => {
  const match = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text.trim())
  const port = match?.[2] === undefined ? portDefault : Number(match[2])
  if (match?.[1] === undefined || port < 1 || port > 65_535) return null
  return { host: match[1].replace(/^\[|\]$/g, ''), port }
}

const credentialsOf = (user: string): EventStoreSettings['credentials'] | 'malformed' => {
  const colon = user.indexOf(':')
  if (colon < 1) return 'malformed'
  try {
    return {
      username: decodeURIComponent(user.slice(0, colon)),
      password: decodeURIComponent(user.slice(colon + 1)),
    }
  } catch {
    return 'malformed'
  }
}

type Options = { readonly tls: EventStoreSettings['tls'] } | { readonly rule: string }

const optionsOf = (query: string): Options => {
  const given = new Map(Array.from(new URLSearchParams(query), ([name, value]) => [name.toLowerCase(), value]))
  const take = (name: string): string | null => {
    const value = given.get(name) ?? null
    given.delete(name)
    return value
  }
  const tls = take('tls') ?? 'true'
  const [caPath, certPath, keyPath] = [take('tlscafile'), take('usercertfile'), take('userkeyfile')]
  if (take('tlsverifycert') === 'false') {
    return { rule: 'tlsVerifyCert=false is not supported. Name the CA of the certificates with tlsCaFile' }
  }
  // A "?" in a password makes its end look like an option, so no name is shown.
  if (given.size > 0) {
    return {
      rule: 'only the options tls, tlsCaFile, userCertFile and userKeyFile are supported. In a password, "?" is %3F',
    }
  }
  if (tls !== 'true' && tls !== 'false') return { rule: 'tls must be true or false' }
  if ((certPath === null) !== (keyPath === null)) return { rule: 'userCertFile and userKeyFile are needed together' }
  return { tls: tls === 'true' ? { caPath, certPath, keyPath } : null }
}

/** Services that share one EventStoreDB have different prefixes. These rules keep each from the streams of another. */
export const parseEventStorePrefix = (prefix: string): { readonly value: string } | { readonly rule: string } => {
  if (!/^[A-Za-z0-9_.]{0,63}-?$/.test(prefix) || prefix === '-') {
    return { rule: 'it must be up to 63 letters, digits, "_" or ".", and may end with one "-"' }
  }
  return /^(?:cellar|key|readings|operator|cellarbook)-$/.test(prefix)
    ? { rule: 'names of Cellarbook streams begin like this. Use another prefix' }
    : { value: prefix }
}

/**
 * Asks the service in this container whether its process answers. Exits with 0 if it does. Reads the environment variables as the
 * service does, so it asks the address on which the service listens.
 *
 * It asks /livez and not /readyz: a restart helps a process that does not answer, and not a store that is away. A load balancer
 * asks /readyz.
 */
import { localUrlOf, parseConfig } from '../src/config.ts'

const parsed = parseConfig(process.env)
if (!parsed.ok) throw new Error(parsed.faults.join('\n'))
const { config } = parsed

/** A wildcard is no address that can be asked. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
const host = wildcards[config.host] ?? config.host

// Docker can give every container a proxy, which cannot reach this address.
for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '*'
// The certificate is for the service's public name. Nobody else can answer on this machine's own address.
const { ok } = await fetch(`${localUrlOf({ ...config, host }, config.port)}/livez`, {
  tls: { rejectUnauthorized: false },
})
process.exit(ok ? 0 : 1)

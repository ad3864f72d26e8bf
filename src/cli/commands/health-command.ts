import type { Command } from 'commander'
import { type Environment, localUrlOf, parseConfig } from '../../config.ts'
import { messageOf } from '../../domain/error-message.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Runner } from './runner.ts'

/** Less than Docker waits, so that Docker keeps the message. */
export const answerMsMax = 2_000
/** These addresses mean all of this machine. A client needs one of them. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export const addHealthCommand = (program: Command, runner: Runner): void => {
  program
    .command('health')
    .description('Ask /livez at HOST and PORT whether the service answers. Exit code 69 means that it does not')
    .action(async () => runner.finish(await askHealth(runner.deps.environment)))
}

/** Asks /livez and not /readyz: a restart helps a process that does not answer, and not a store that is away. */
export const askHealth = async ({ HOST, PORT, TLS_CERT, TLS_KEY }: Environment): Promise<End> => {
  // Other variables do not say whether the service answers, even if they are wrong by now.
  const parsed = parseConfig({ HOST, PORT, TLS_CERT, TLS_KEY })
  const { configuration, unreachable, done } = exitCodes
  if (!parsed.ok) return { exitCode: configuration, message: parsed.faults.join('. ') }
  const { config } = parsed
  if (config.port === 0)
    return { exitCode: configuration, message: 'PORT is 0, so nobody knows the port of the service' }
  const url = `${localUrlOf({ ...config, host: wildcards[config.host] ?? config.host }, config.port)}/livez`
  // Docker can give every container a proxy, which cannot reach this address.
  for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '*'
  // The certificate is for the service's public name. Nobody else can answer on this machine's own address.
  const tls = { rejectUnauthorized: false }
  const answer = await fetch(url, { tls, redirect: 'manual', signal: AbortSignal.timeout(answerMsMax) }).catch(
    (cause: unknown) => messageOf(cause),
  )
  const fault = typeof answer === 'string' ? answer : answer.ok ? null : `status ${answer.status}`
  if (fault === null) return { exitCode: done, message: null }
  return { exitCode: unreachable, message: `The service does not answer at ${url}: ${fault}` }
}

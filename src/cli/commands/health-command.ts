import type { Command } from 'commander'
import { type Config, localUrlOf } from '../../config.ts'
import { messageOf } from '../../domain/error-message.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import type { Runner } from './runner.ts'

const answerMsMax = 5_000
/** These addresses mean all of this machine. A client needs one of them. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export const addHealthCommand = (program: Command, runner: Runner): void => {
  program
    .command('health')
    .description('Ask /livez at HOST and PORT whether the service answers. Exit code 69 means that it does not')
    .action(async () => {
      await askHealth(runner.config())
      runner.finish({ exitCode: exitCodes.done, message: null })
    })
}

/**
 * Asks /livez and not /readyz: a restart helps a process that does not answer, and not a store that is away.
 * @throws CommandFailed
 */
const askHealth = async (config: Config): Promise<void> => {
  if (config.port === 0)
    throw new CommandFailed('PORT is 0, so nobody knows the port of the service', exitCodes.configuration)
  const url = `${localUrlOf({ ...config, host: wildcards[config.host] ?? config.host }, config.port)}/livez`
  // Docker can give every container a proxy, which cannot reach this address.
  for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '*'
  // The certificate is for the service's public name. Nobody else can answer on this machine's own address.
  const tls = { rejectUnauthorized: false }
  const answer = await fetch(url, { tls, redirect: 'manual', signal: AbortSignal.timeout(answerMsMax) }).catch(
    (cause: unknown) => messageOf(cause),
  )
  const fault = typeof answer === 'string' ? answer : answer.ok ? null : `status ${answer.status}`
  if (fault !== null) throw new CommandFailed(`The service does not answer at ${url}: ${fault}`, exitCodes.unreachable)
}

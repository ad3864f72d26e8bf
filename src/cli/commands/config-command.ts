import type { Command } from 'commander'
import { parseConfig, type Setting } from '../../config.ts'
import { visibleJson } from '../../hidden-characters.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatFields } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import type { Runner } from './runner.ts'

export const addConfigCommand = (program: Command, runner: Runner): void => {
  program
    .command('config')
    .description(
      'Show each environment variable of the service: its value, where the value comes from, its default and its meaning. ' +
        'Secrets are hidden. Exit code 78 means that something is wrong',
    )
    .option(...jsonFlag)
    .action((options: JsonOption) => showConfig(runner, options))
}

const showConfig = async ({ deps, config, finish }: Runner, { json = false }: JsonOption): Promise<void> => {
  const parsed = parseConfig(deps.environment)
  const text = json ? parsed.settings.map(visibleJson).join('\n') : formatFields(parsed.settings.flatMap(fieldsOf))
  await deps.output.write(`${text}\n`)
  await deps.checkFiles(config())
  finish({ exitCode: exitCodes.done, message: null })
}

const fieldsOf = ({ name, value, default: otherwise, source, meaning }: Setting) => {
  const shown = value ?? 'not set'
  const origin = source === 'default' || otherwise === null ? source : `${source}, default ${otherwise}`
  return [
    [name, value === null ? shown : `${shown} (${origin})`],
    ['', meaning.replaceAll('`', '')],
  ] as const
}

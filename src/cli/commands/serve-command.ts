import type { Command } from 'commander'
import { acceptSchemaFlag } from './options.ts'
import type { Runner } from './runner.ts'

type ServeWords = { readonly demo?: boolean; readonly acceptChangedSchema?: boolean }

export const addServeCommand = (program: Command, runner: Runner): void => {
  program
    .command('serve')
    .description('Run the service. SIGTERM or Ctrl-C drains it, which loses nothing; a second one ends it at once')
    .option('--demo', 'make a cellar and a key, and let simulated devices post')
    .option(...acceptSchemaFlag)
    .action(async ({ demo = false, acceptChangedSchema = false }: ServeWords) => {
      const exitCode = await runner.deps.serve(runner.config(), { demo, acceptChangedSchema })
      runner.finish({ exitCode, message: null })
    })
}

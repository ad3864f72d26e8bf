import type { Command } from 'commander'
import type { Runner } from './runner.ts'

export const addServeCommand = (program: Command, runner: Runner): void => {
  program
    .command('serve')
    .description('Run the service. SIGTERM or Ctrl-C drains it, which loses nothing; a second one ends it at once')
    .option('--demo', 'make a cellar and a key, and let simulated devices post')
    .action(async (options: { readonly demo?: boolean }) => {
      const exitCode = await runner.deps.serve(runner.config(), { demo: options.demo === true })
      runner.finish({ exitCode, message: null })
    })
}

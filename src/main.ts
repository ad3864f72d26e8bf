/** A container asks `health` every few seconds, so this command loads nothing else of the program. */
import { askHealth } from './cli/commands/health-command.ts'
import { visibleText } from './hidden-characters.ts'

if (process.argv.slice(2).join(' ') === 'health') {
  const { exitCode, message } = await askHealth(process.env)
  if (message !== null) process.stderr.write(`cellarbook: ${visibleText(message)}\n`)
  process.exit(exitCode)
}
await import('./run-commands.ts')

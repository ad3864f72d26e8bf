/** A container asks `health` every few seconds, so this command loads nothing else of the program. */
import { askHealth } from './cli/commands/health-command.ts'
import { visibleText } from './hidden-characters.ts'

if (process.argv.slice(2).join(' ') === 'health') {
  const { exitCode, message } = await askHealth(process.env)
  if (message !== null) process.stderr.write(`cellarbook: ${visibleText(message)}\n`)
  process.exit(exitCode)
}

/** As `bun start` sets them (docs/decisions/016-how-far-a-heap-may-grow.md). The runtime reads them only when it starts. */
const heapSettings = { BUN_JSC_forceRAMSize: '71303168', BUN_JSC_heapGrowthFunctionThresholdInMB: '1' }

const hasHeapSettings = Object.keys(heapSettings).some((name) => name in process.env)
// The executable replaces this process by itself with them.
if (Bun.isStandaloneExecutable && process.argv[2] === 'serve' && !hasHeapSettings)
  process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], { ...process.env, ...heapSettings })

await import('./run-commands.ts')

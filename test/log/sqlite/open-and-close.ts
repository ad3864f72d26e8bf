/** A process that opens and closes the log of a folder, and prints the result. */
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'

const [dataDir = ''] = process.argv.slice(2)
try {
  await openSqliteLog({ dataDir }).close()
  process.stdout.write('opened')
} catch (cause) {
  process.stdout.write(cause instanceof Error ? cause.name : String(cause))
}

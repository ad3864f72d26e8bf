/** A commit thread whose first COMMIT fails. */
import { Database } from 'bun:sqlite'
import '../../../src/log/sqlite/commit-thread.ts'

let failures = 1
const prepare = Database.prototype.prepare

Database.prototype.prepare = function (this: Database, sql: string) {
  const statement = prepare.call(this, sql)
  if (sql !== 'COMMIT') return statement
  const { run } = statement
  statement.run = () => {
    failures -= 1
    if (failures >= 0)
      throw Object.assign(new Error('disk I/O error'), { name: 'SQLiteError', code: 'SQLITE_IOERR_FSYNC' })
    return run.call(statement)
  }
  return statement
} as typeof prepare

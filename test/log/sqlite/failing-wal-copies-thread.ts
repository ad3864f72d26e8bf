/** A commit thread whose first two WAL copies fail. */
import { Database } from 'bun:sqlite'
import '../../../src/log/sqlite/commit-thread.ts'

let failures = 2
const prepare = Database.prototype.query

Database.prototype.query = function (this: Database, statement: string) {
  if (statement.includes('wal_checkpoint(PASSIVE)') && failures > 0) {
    failures -= 1
    throw Object.assign(new Error('disk I/O error'), { name: 'SQLiteError', code: 'SQLITE_IOERR_WRITE' })
  }
  return prepare.call(this, statement)
} as typeof prepare

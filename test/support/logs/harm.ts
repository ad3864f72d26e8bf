/** Changes the file of a closed embedded log as a bad disk or another program could, and leaves its schema as it was. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

export const harmLog = (dataDir: string, change: (database: Database) => void): void => {
  using database = new Database(join(dataDir, 'log.db'), { readwrite: true })
  const triggers = database
    .query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run('PRAGMA ignore_check_constraints = ON')
  try {
    change(database)
  } finally {
    for (const { sql } of triggers) database.run(sql)
    database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }
}

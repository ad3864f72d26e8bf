/** Changes the file of a closed embedded log as a bad disk or another program could, and leaves its schema as it was. */
import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'
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

/**
 * Lets `change` change the closed log, and then puts the index's page back, as if the disk had lost the write of this
 * page. The index must fit into one page.
 */
export const losingIndexWrite = async (
  dataDir: string,
  index: string,
  change: () => void | Promise<void>,
): Promise<void> => {
  const path = join(dataDir, 'log.db')
  const { pageBytes, at } = placeOfIndex(path, index)
  const page = readFileSync(path).subarray(at, at + pageBytes)
  await change()
  const changed = readFileSync(path)
  changed.set(page, at)
  writeFileSync(path, changed)
}

/** Fills the index's page with zeros. */
export const zeroIndex = (dataDir: string, index: string): void => {
  const path = join(dataDir, 'log.db')
  const { pageBytes, at } = placeOfIndex(path, index)
  writeFileSync(path, readFileSync(path).fill(0, at, at + pageBytes))
}

const placeOfIndex = (path: string, index: string): { readonly pageBytes: number; readonly at: number } => {
  using database = new Database(path, { readwrite: true })
  const select = 'SELECT rootpage, page_size AS pageBytes FROM sqlite_schema, pragma_page_size WHERE name = ?'
  const found = database.query<{ rootpage: number; pageBytes: number }, [string]>(select).get(index)
  if (found === null) throw new Error(`The log has no index ${index}`)
  return { pageBytes: found.pageBytes, at: (found.rootpage - 1) * found.pageBytes }
}

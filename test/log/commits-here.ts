import type { Database } from 'bun:sqlite'
import { type Commits, SqliteCommits } from '../../src/log/sqlite-commits.ts'
import { openForWriting } from '../../src/log/sqlite-file.ts'

/** The same commits as on the log's thread, on this one: a test does before each COMMIT what a disk would. */
export const commitsHere =
  (beforeCommit: (database: Database) => void) =>
  (path: string): Commits => {
    const database = openForWriting(path)
    const commits = new SqliteCommits(database, beforeCommit)
    return {
      get fault() {
        return commits.checkpointFault
      },
      commit: async (batch) => {
        const verdict = commits.commit(batch)
        commits.checkpointIfDue()
        return verdict
      },
      close: async () => database.close(true),
    }
  }

import type { Database } from 'bun:sqlite'
import { type PackedGroup, type SharedGroup, writeRows } from '../../../src/log/sqlite/packed-group.ts'
import { type Commits, type CommitVerdict, SqliteCommits } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openForWriting } from '../../../src/log/sqlite/sqlite-file.ts'

/** Commits without a thread. With `beforeCommit`, a test can make a commit fail as a disk does. */
export const commitsHere =
  (beforeCommit: (database: Database) => void) =>
  (path: string): Commits => {
    const database = openForWriting(path)
    const commits = new SqliteCommits(database, beforeCommit)
    const then = (verdict: CommitVerdict): Promise<CommitVerdict> => {
      commits.copyWalIfDue()
      return Promise.resolve(verdict)
    }
    return {
      get fault() {
        return commits.walCopyFault
      },
      get walHeldBack() {
        return commits.walHeldBack
      },
      witnessFault: null,
      commit: async (group) => then(commits.commit(inOwnMemory(group))),
      truncate: async (truncation) => then(commits.truncate(truncation)),
      trim: async (trimming) => then(commits.trim(trimming)),
      emptyWriteAheadLog: async () => commits.emptyWriteAheadLog(),
      close: async () => database.close(true),
    }
  }

const inOwnMemory = (group: PackedGroup): SharedGroup => writeRows(group, new SharedArrayBuffer(group.byteLength), 0)

const diskFault = (code: string, message: string): Error =>
  Object.assign(new Error(message), { name: 'SQLiteError', code })

/** Used as `beforeCommit`, this makes the commit fail in a way that may be tried again. */
export const failedFsync = (database: Database): void => {
  database.run('ROLLBACK')
  throw diskFault('SQLITE_IOERR_FSYNC', 'disk I/O error')
}

export const outOfSpace = (): never => {
  throw diskFault('SQLITE_FULL', 'database or disk is full')
}

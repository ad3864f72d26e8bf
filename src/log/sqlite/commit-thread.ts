/**
 * The thread that writes the log's file, so that the wait for its fsync and its checkpoints never stop the event loop. It
 * knows batches and nothing of events. The one module besides `main.ts` that does something when it is imported: that is
 * how a thread begins.
 */

import { checkpointRetryPauseMs } from '../../limits.ts'
import { type CommitVerdict, SqliteCommits } from './sqlite-commits.ts'
import { openForWriting } from './sqlite-file.ts'
import type { CommitThreadWork, FromCommitThread, ToCommitThread } from './threaded-commits.ts'

declare const self: Worker

let opened: { readonly database: ReturnType<typeof openForWriting>; readonly commits: SqliteCommits } | null = null

self.onmessage = ({ data }: MessageEvent<ToCommitThread>): void => {
  if (data.kind === 'open') {
    const database = openForWriting(data.path)
    opened = { database, commits: new SqliteCommits(database) }
    return
  }
  if (opened === null) throw new Error(`Cannot ${data.kind}: the commit thread has no file yet`)
  if (data.kind === 'close') {
    clearTimeout(retrying)
    opened.database.close(true)
    opened = null
    tell('closed')
    return
  }
  tell(verdictOn(data, opened.commits))
  opened.commits.copyWalIfDue()
  watchWalCopying(opened.commits)
}

let toldFault: string | null = null
let retrying: Timer | undefined

/**
 * Says when checkpoints begin to fail and when they no longer do, and has one that failed made again: as long as it is not,
 * the service calls itself not ready, and whoever sends to ready ones alone would bring nothing that makes the next one due.
 */
const watchWalCopying = (commits: SqliteCommits): void => {
  const fault = commits.walCopyFault
  if (fault !== toldFault) tell({ kind: 'wal_copied', fault })
  toldFault = fault
  if (fault === null) return
  retrying ??= setTimeout(() => {
    retrying = undefined
    commits.retryWalCopy()
    watchWalCopying(commits)
  }, checkpointRetryPauseMs)
}

const tell = (message: FromCommitThread | 'closed'): void => self.postMessage(message)

const verdictOn = (work: CommitThreadWork, commits: SqliteCommits): CommitVerdict => {
  switch (work.kind) {
    case 'commit':
      return commits.commit(work)
    case 'truncate':
      return commits.truncate(work.truncation)
    case 'trim':
      return commits.trim(work.trimming)
    case 'empty_wal':
      return commits.emptyWriteAheadLog()
  }
}

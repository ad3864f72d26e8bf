/** Only a thread may import this file, because the code below runs at import. */

import { WitnessWriter } from '../tail/witness-writer.ts'
import { type CommitVerdict, SqliteCommits } from './sqlite-commits.ts'
import { openForWriting } from './sqlite-file.ts'
import type { CommitThreadWork, FromCommitThread, ToCommitThread } from './threaded-commits.ts'

const checkpointRetryPauseMs = 1_000

declare const self: Worker

type Opened = {
  readonly database: ReturnType<typeof openForWriting>
  readonly commits: SqliteCommits
  readonly witness: WitnessWriter
  readonly memory: SharedArrayBuffer
}

let opened: Opened | null = null

self.onmessage = ({ data }: MessageEvent<ToCommitThread>): void => {
  if (data.kind === 'open') {
    const database = openForWriting(data.path)
    const witness = new WitnessWriter(data.path, database)
    opened = { database, commits: new SqliteCommits(database), witness, memory: data.memory }
    watchWitness(witness)
    return
  }
  if (opened === null) throw new Error(`Cannot ${data.kind}: the commit thread has no file yet`)
  if (data.kind === 'close') {
    clearTimeout(retrying)
    opened.witness.close()
    opened.database.close(true)
    opened = null
    tell('closed')
    return
  }
  const { commits, witness } = opened
  const verdict = verdictOf(data, opened)
  if (verdict.kind === 'written') witness.written(commits.lastCommitted, commits.lookAtWal())
  tell(verdict)
  watchWitness(witness)
  commits.copyWalIfDue()
  watchWalCopying(commits)
}

let toldWitnessFault: string | null = null

const watchWitness = ({ fault }: WitnessWriter): void => {
  if (fault !== toldWitnessFault) tell({ kind: 'witness_written', fault })
  toldWitnessFault = fault
}

let toldFault: string | null = null
let toldHeldBack: string | null = null
let retrying: Timer | undefined

/**
 * After a failure, perhaps no write starts the next copying, so a timer retries
 * (docs/decisions/008-commits-in-groups-on-a-thread.md).
 */
const watchWalCopying = (commits: SqliteCommits): void => {
  const { walCopyFault: fault, walHeldBack: heldBack } = commits
  if (fault !== toldFault || heldBack !== toldHeldBack) tell({ kind: 'wal_copied', fault, heldBack })
  toldFault = fault
  toldHeldBack = heldBack
  if (fault === null) return
  retrying ??= setTimeout(() => {
    retrying = undefined
    commits.retryWalCopy()
    watchWalCopying(commits)
  }, checkpointRetryPauseMs)
}

const tell = (message: FromCommitThread | 'closed'): void => self.postMessage(message)

const verdictOf = (work: CommitThreadWork, { commits, memory }: Opened): CommitVerdict => {
  switch (work.kind) {
    case 'commit':
      return commits.commit({ ...work, memory: work.ownMemory ?? memory })
    case 'truncate':
      return commits.truncate(work.truncation)
    case 'trim':
      return commits.trim(work.trimming)
    case 'empty_wal':
      return commits.emptyWriteAheadLog()
  }
}

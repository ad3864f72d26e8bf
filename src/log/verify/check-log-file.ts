/** In short transactions. Nothing is changed. */
import { SQLiteError } from 'bun:sqlite'
import { messageOf } from '../../domain/error-message.ts'
import type { Codec } from '../codec/codec.ts'
import { NotACellarbookLog } from '../data-folder.ts'
import { Outage } from '../event-log.ts'
import { CheckedFile, isDamage, type Step } from './checked-file.ts'
import { type CheckResult, Findings } from './damage-kinds.ts'
import { checkIndex } from './index-check.ts'
import { RowsCheck } from './rows-check.ts'
import { StreamFacts } from './stream-facts.ts'
import { checkEmptyStreams, checkMarks, checkNames, checkStreams } from './streams-check.ts'

/** SQLite names at most this many. */
const checkedPageFaultsMax = 100

export type CheckOptions = {
  readonly path: string
  /** `null`: nothing is decoded. A row that matches its checksum is as it was written. */
  readonly codec: Codec | null
  /** In one long transaction of SQLite. */
  readonly checksPages: boolean
  /** A person has accepted a changed schema (`--accept-changed-schema`). Default: false. */
  readonly acceptsSchema?: boolean
}

/** @throws UnsupportedLogFormat, DataFolderUnwritable, LogFileBusy, or Outage if the file cannot be read */
export function* checkLogFile(options: CheckOptions): Generator<Step, CheckResult> {
  const findings = new Findings()
  const streams = new StreamFacts()
  let seen: RowsCheck['seen'] = { rows: 0, events: 0 }
  try {
    using file = new CheckedFile(options.path)
    if (options.acceptsSchema !== true) {
      for (const difference of file.schemaDifferences()) findings.add('schema', {}, difference)
    }
    yield* guarded(findings, checkStreams({ file, findings, streams }))
    yield* guarded(findings, checkNames({ file, findings }))
    const rows = new RowsCheck({ file, findings, streams, codec: options.codec })
    const areAllRowsRead = yield* guarded(findings, rows.steps())
    seen = rows.seen
    const { checkedTo } = rows
    if (areAllRowsRead) {
      yield* guarded(findings, checkEmptyStreams({ file, findings, streams }))
      rows.compareGaps()
    }
    yield* guarded(findings, checkMarks({ file, findings }))
    if (areAllRowsRead && rows.canReadIndex) {
      yield* guarded(findings, checkIndex({ file, findings, streams, checkedTo, events: seen.events }))
    }
    if (options.checksPages) yield* guarded(findings, checkPages(file, findings))
  } catch (cause) {
    noteOrThrow(cause, options.path, findings)
  }
  return { ...seen, streams: streams.known, first: findings.first, counts: findings.counts }
}

/** False: SQLite found damage. The next check goes on with what can be read. */
function* guarded(findings: Findings, steps: Generator<Step>): Generator<Step, boolean> {
  try {
    yield* steps
    return true
  } catch (cause) {
    if (!isDamage(cause)) throw cause
    findings.add('file', {}, cause.message)
    return false
  }
}

/** Finds pages that are used twice or never, and a damaged free list. `checkIndex` has compared indexes with tables. */
function* checkPages({ database }: CheckedFile, findings: Findings): Generator<Step> {
  yield { phase: 'pages', bytes: 0, events: 0, share: 0 }
  for (const [line] of database.query(`PRAGMA quick_check(${checkedPageFaultsMax})`).values()) {
    if (line !== 'ok') findings.add('file', {}, String(line))
  }
}

const noteOrThrow = (cause: unknown, path: string, findings: Findings): void => {
  const origin = cause instanceof Outage ? cause.cause : cause
  if (isDamage(origin) || cause instanceof NotACellarbookLog) findings.add('file', {}, messageOf(origin))
  else if (!(cause instanceof SQLiteError)) throw cause
  // A missing table is told already.
  else if (cause.code !== 'SQLITE_ERROR' || findings.counts.schema === undefined) {
    throw new Outage(`Cannot check "${path}": ${cause.message}`, 'not_written', 'unavailable', { cause })
  }
}

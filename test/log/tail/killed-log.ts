/** Logs as a killed process leaves them, to damage their files and to open them again. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog, type SqliteLogOptions } from '../../../src/log/sqlite/sqlite-log.ts'
import { keySuspensions, reading } from '../../support/logs/sample-events.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { commitsHere } from '../sqlite/commits-here.ts'

const names = ['log.db', 'log.db-wal', 'log.witness'] as const
type Name = (typeof names)[number]
export type Files = Readonly<Partial<Record<Name, Buffer>>>

/** The files after one commit, and all events that the log then has. */
export type Moment = { readonly files: Files; readonly events: readonly string[] }

export const filesIn = (dataDir: string): Files =>
  Object.fromEntries(
    names.filter((name) => existsSync(join(dataDir, name))).map((name) => [name, readFileSync(join(dataDir, name))]),
  )

let folders = 0
export const folderWith = (parent: string, files: Files): string => {
  const dataDir = join(parent, `trial-${folders++}`)
  mkdirSync(dataDir, { mode: 0o700 })
  for (const name of names) {
    const bytes = files[name]
    if (bytes !== undefined) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 })
  }
  return dataDir
}

export const eventsOf = async (log: EventLog): Promise<readonly string[]> =>
  (await log.readAll({ limit: readPageEventsMax })).map(
    ({ position, stream, revision, id }) => `${position} ${stream} ${revision} ${id}`,
  )

/** Opens the log, makes `commits` more commits, and returns the files after each commit. The first moment has none of them. */
export const momentsOf = async (dataDir: string, commits: number): Promise<readonly Moment[]> => {
  const log = openSqliteLog({ dataDir })
  await ensureLogCreated(log, manualClock(), seededEntropy())
  const moments: Moment[] = []
  const keep = async (): Promise<void> => {
    moments.push({ files: filesIn(dataDir), events: await eventsOf(log) })
  }
  await keep()
  for (let commit = 0; commit < commits; commit += 1) {
    await commitTo(log, commit)
    await keep()
  }
  await log.close()
  return moments
}

/** Commits are of one page, of several pages, and of no event: a truncation only hides events. */
const commitTo = async (log: EventLog, commit: number): Promise<void> => {
  const stream = commit % 3 === 0 ? 'readings-one' : `key-${commit % 4}`
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  if (commit % 10 === 9) {
    await log.truncate('readings-one', 1 + Math.floor(commit / 10))
    return
  }
  const events = stream === 'readings-one' ? [reading(stream), reading(stream)] : keySuspensions(1 + (commit % 5) * 4)
  await log.append(stream, last?.revision ?? 'none', events)
}

export type Opened = {
  /** Why the log was not opened, or could not be read. `null` if neither happened. */
  readonly refusal: unknown
  readonly warnings: readonly string[]
  readonly events: readonly string[]
}

/** Opens the log as a service does, reads it and closes it. */
export const openAndRead = async (dataDir: string, options: Partial<SqliteLogOptions> = {}): Promise<Opened> => {
  const warnings: string[] = []
  const onFolderWarning = (warning: string): void => {
    warnings.push(warning)
  }
  let log: EventLog | null = null
  try {
    log = openSqliteLog({ dataDir, onFolderWarning, commits: commitsHere(() => {}), ...options })
    return { refusal: null, warnings, events: await eventsOf(log) }
  } catch (refusal) {
    return { refusal, warnings, events: [] }
  } finally {
    await log?.close()
  }
}

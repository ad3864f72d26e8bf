import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { FoldedTo } from '../../../src/domain/log-reference.ts'
import { derivedId } from '../../../src/domain/uuid.ts'
import { openAskFile } from '../../../src/log/ask-index/ask-file.ts'
import type { AskChange, FoldedPlace } from '../../../src/log/ask-index.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
/** A midnight. */
export const todayMs = 20_000 * dayMs
export const todayMinute = todayMs / 60_000
export const todayHour = todayMs / hourMs

export const foldedAt = (position: number): FoldedTo => ({
  position,
  stream: 'key-one',
  revision: 1,
  id: `event ${position}`,
})

export const changeTo = (position: number, foldedFrom: number | null, more: Partial<AskChange> = {}): AskChange => ({
  foldedFrom,
  foldedTo: foldedAt(position),
  places: [],
  minutes: [],
  minuteCounts: [],
  hourCounts: [],
  seen: [],
  forgotten: [],
  nowMs: todayMs,
  ...more,
})

export const placeOf = (position: number, more: Partial<FoldedPlace> = {}): FoldedPlace => ({
  position,
  stream: 'key-one',
  revision: position,
  recordedAt: todayMs + position,
  kind: 'keys',
  type: 'KeySuspended',
  actor: 'cli',
  key: 'one',
  cellar: 'c',
  id: derivedId(String(position), 'event'),
  requestId: derivedId(String(position), 'request'),
  ...more,
})

/** One row in each table. */
export const oneOfEach = (position: number): AskChange =>
  changeTo(position, null, {
    places: [placeOf(position)],
    minutes: [{ minute: todayMinute, position }],
    minuteCounts: [
      { cellar: 'c', minute: todayMinute, code: 'accepted', count: 3 },
      { cellar: null, minute: todayMinute, code: 'accepted', count: 3 },
    ],
    hourCounts: [{ cellar: 'c', key: 'one', hour: todayHour, code: 'unknown_key', count: 3 }],
    seen: [{ key: 'one', rack: 'r', minute: todayMinute }],
  })

export const openedIn = (dataDir: string, logId = 'a log') => {
  const told: string[] = []
  return { index: openAskFile({ dataDir, logId, onReplaced: (why) => told.push(why) }), told }
}

/** Reads or changes the file as another program does. */
export const withFile = <T>(dataDir: string, use: (database: Database) => T): T => {
  const database = new Database(join(dataDir, 'ask.db'))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/** The rows of a query, each as one text. */
export const rowsIn = (dataDir: string, sql: string): readonly string[] =>
  withFile(dataDir, (database) =>
    database
      .query(sql)
      .values()
      .map((row) => row.join(' ')),
  ).toSorted()

export const faultOf = (done: Promise<void>): Promise<unknown> => done.catch((fault: unknown) => fault)

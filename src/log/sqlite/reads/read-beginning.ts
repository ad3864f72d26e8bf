/**
 * Reads what a start folds: all events but readings and records, and the end of each stream of readings. Two rules find a
 * lost row or entry of an index. The streams have as many revisions as the log has positions. The events of a stream
 * without readings are consecutive, and reach its end. Only the daily check finds a lost entry of an older seal or fence.
 */
import type { Database } from 'bun:sqlite'
import type { RecordedEvent } from '../../../domain/events.ts'
import type { ReadingsEnd } from '../../../domain/reading/readings-end.ts'
import { isRecordStream, readingsCategory, recordCategories } from '../../../domain/stream-names.ts'
import type { Codec } from '../../codec/codec.ts'
import { type Beginning, BeginningUnusable, DamagedLog } from '../../event-log.ts'
import { canUseTexts } from '../schema.ts'
import { damagedIndex } from './index-checks.ts'
import type { KnownStreams } from './known-streams.ts'
import { columns, type ReadStatements } from './read-statements.ts'
import type { Row } from './row-checksum.ts'
import { emptyStream } from './row-order.ts'

type Parts = {
  readonly database: Database
  readonly statements: ReadStatements
  readonly streams: KnownStreams
  readonly codec: Codec
}

/** Call it in one transaction. @throws BeginningUnusable, DamagedLog, UndecodableEvent, SQLiteError */
export const readBeginning = (parts: Parts, onEvent: (event: RecordedEvent) => void): Beginning => {
  const { database, statements, streams } = parts
  if (!canUseTexts(database)) throw new BeginningUnusable('the index texts is missing or was changed')
  const last = statements.lastRow.get()
  const position = last === null ? 0 : last.position + last.count - 1
  const reached = readTexts(parts, onEvent)
  const ends: ReadingsEnd[] = []
  let revisions = 0
  for (const { id } of database.query<{ id: number }, []>(streamIds).iterate()) {
    const { name, category, keptFrom } = streams.get(id)
    const row = statements.lastRowOfStream.get(id)
    if (row === null) throw emptyStream(name)
    streams.checked(row)
    const end = row.revision + row.count
    const isFolded = typeof row.body === 'string' && !isRecordStream(name)
    if (row.stream !== id || (isFolded && reached.get(id) !== end)) throw damagedIndex(name)
    revisions += end
    if (revisions > position) break
    if (category !== readingsCategory) continue
    ends.push({ stream: name, revision: end - 1, keptFrom, last: lastReading(parts, id, end) })
  }
  if (revisions === position) return { ends, position: last === null ? null : position }
  const why = `its streams do not have as many events as its positions, which reach ${position}`
  throw new DamagedLog({ stream: null, revision: null, position: null }, why)
}

/** The revision after the last row of each stream, by id. */
const readTexts = ({ database, streams, codec }: Parts, onEvent: (event: RecordedEvent) => void) => {
  const reached = new Map<number, number>()
  let before = 0
  for (const row of database.query<Row, []>(texts).iterate()) {
    const { name, category } = streams.checked(row)
    // A damaged page can lead back to an earlier entry: an endless loop.
    if (row.position <= before) throw damagedIndex(name)
    before = row.position
    if (isRecordStream(name)) continue
    const isNext = category === readingsCategory || row.revision === (reached.get(row.stream) ?? 0)
    if (!isNext) throw damagedIndex(name)
    reached.set(row.stream, row.revision + row.count)
    for (const event of codec.decode({ ...row, stream: name })) onEvent(event)
  }
  return reached
}

/** A purge leaves the last reading. */
const lastReading = ({ statements, streams, codec }: Parts, id: number, end: number): RecordedEvent | null => {
  const { name, keptFrom } = streams.get(id)
  let after = end
  for (const row of statements.streamBackwards.iterate(id, Number.MAX_SAFE_INTEGER, keptFrom)) {
    streams.checked(row)
    if (row.stream !== id || row.revision + row.count !== after) throw damagedIndex(name)
    after = row.revision
    if (typeof row.body === 'string') continue
    const [last = null] = codec.decode({ ...row, stream: name }, { first: row.count - 1, end: row.count })
    return last
  }
  if (after > keptFrom) throw damagedIndex(name)
  return null
}

const records = recordCategories.map((category) => `name GLOB '${category}-*'`).join(' OR ')
const texts = `
  SELECT ${columns} FROM events INDEXED BY texts
    WHERE typeof(body) = 'text' AND stream NOT IN (SELECT id FROM streams WHERE ${records}) ORDER BY position
`
// In the index of names, an entry can be lost.
const streamIds = 'SELECT id FROM streams NOT INDEXED ORDER BY id'

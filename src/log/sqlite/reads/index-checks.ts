import type { Database } from 'bun:sqlite'
import { DamagedLog } from '../../event-log.ts'

/**
 * A damaged entry of an index hides a row beside the place where a search ends. So the entries on both sides must match
 * their rows (docs/decisions/031-rows-carry-a-checksum.md).
 */
export class IndexChecks {
  readonly #statements: ReturnType<typeof prepare>
  readonly #keptFrom: (stream: number) => number

  constructor(database: Database, keptFrom: (stream: number) => number) {
    this.#statements = prepare(database)
    this.#keptFrom = keptFrom
  }

  /** `null`: the stream does not exist. @throws DamagedLog */
  idOf(stream: string): number | null {
    const { streamId, nameBefore, nameAfter } = this.#statements
    const found = streamId.get(stream)
    if (found !== null) return found.id
    for (const entry of [nameBefore.get(stream), nameAfter.get(stream)]) {
      if (entry !== null && entry.name !== entry.stored) throw damagedIndex(stream)
    }
    return null
  }

  /**
   * `end` is the revision after the last row. A damaged page can end a read too early. A search from the other side may
   * then find a later row, but none at `end`: a row at `end` was written after the read. Behind the stream, the index must
   * go on with the next one. @throws DamagedLog
   */
  assertEnd({ stream, id, end }: { readonly stream: string; readonly id: number; readonly end: number }): void {
    const { rowBefore, rowAfter, rowAt, nextStream } = this.#statements
    const last = rowBefore.get(id)
    const isLast = last !== null && isSound(last) && (last.end === end || rowAt.get(id, end) !== null)
    if (!isLast) throw damagedIndex(stream)
    const following = nextStream.get(id)?.id ?? null
    if (following === null) return
    const next = rowAfter.get(id)
    const isNext = next !== null && isSound(next) && next.stream === following
    if (!isNext || (next.revision > 0 && next.revision > this.#keptFrom(following))) throw damagedIndex(stream)
  }
}

export const damagedIndex = (stream: string): DamagedLog =>
  new DamagedLog({ stream, revision: null, position: null }, 'an index of the file does not match its table')

type NameEntry = { readonly name: string | null; readonly stored: string | null }
/** `stored`: the row has the stream and revision of the index's entry. `end`: the revision after the row. */
type RowEntry = {
  readonly stream: number
  readonly revision: number
  readonly end: number | null
  readonly stored: number | null
}

const isSound = ({ stored }: RowEntry): boolean => stored === 1

const prepare = (database: Database) => ({
  streamId: database.prepare<{ id: number }, [string]>('SELECT id FROM streams WHERE name = ?'),
  nameBefore: database.prepare<NameEntry, [string]>(`${nameEntry} WHERE name < ? ORDER BY name DESC LIMIT 1`),
  nameAfter: database.prepare<NameEntry, [string]>(`${nameEntry} WHERE name > ? ORDER BY name LIMIT 1`),
  rowBefore: database.prepare<RowEntry, [number]>(
    `${rowEntry} WHERE stream <= ? ORDER BY stream DESC, revision DESC LIMIT 1`,
  ),
  nextStream: database.prepare<{ id: number | null }, [number]>('SELECT min(id) AS id FROM streams WHERE id > ?'),
  rowAt: database.prepare<{ revision: number }, [number, number]>(
    'SELECT revision FROM events WHERE stream = ? AND revision = ?',
  ),
  rowAfter: database.prepare<RowEntry, [number]>(`${rowEntry} WHERE stream > ? ORDER BY stream, revision LIMIT 1`),
})

const nameEntry = `
  SELECT name, (SELECT found.name FROM streams AS found NOT INDEXED WHERE found.id = entry.id) AS stored
    FROM streams AS entry
`
const rowEntry = `
  SELECT stream, revision, revision + count AS end,
      (SELECT found.stream = entry.stream AND found.revision = entry.revision FROM events AS found NOT INDEXED
        WHERE found.position = entry.position) AS stored
    FROM events AS entry
`

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { keySuspensions, reading } from '../../support/logs/sample-events.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// The statements are tried on these rows. Stream 1 has positions 1-3 and 4 (revisions 0-2 and 3). Stream 2 has positions 5-6
// (revisions 0-1). Stream 3 has positions 7, 8-10 and 11 (revisions 0, 1-3 and 4). It is truncated before revision 3, so the
// row at position 7 is deleted.
const columns = '(position, stream, revision, count, recorded_at, body, checksum)'
const overwriting = [
  ['UPDATE a body', "UPDATE events SET body = 'x'"],
  ['UPDATE one event', 'UPDATE events SET revision = 9 WHERE position = 4'],
  ['UPDATE by rowid', "UPDATE events SET body = 'x' WHERE rowid = 4"],
  ['UPDATE OR REPLACE', 'UPDATE OR REPLACE events SET position = 1 WHERE position = 4'],
  ['UPDATE OR IGNORE', "UPDATE OR IGNORE events SET body = 'x' WHERE position = 4"],
  ['DELETE all', 'DELETE FROM events'],
  ['DELETE one event', 'DELETE FROM events WHERE position = 4'],
  ['DELETE by rowid', 'DELETE FROM events WHERE rowid = 4'],
  ['REPLACE by position', `REPLACE INTO events ${columns} VALUES (4, 1, 4, 1, 0, 'x', 7)`],
  [
    'REPLACE by rowid',
    "REPLACE INTO events (rowid, stream, revision, count, recorded_at, body, checksum) VALUES (4, 1, 4, 1, 0, 'x', 7)",
  ],
  ['REPLACE by stream and revision', `REPLACE INTO events ${columns} VALUES (12, 1, 3, 1, 0, 'x', 7)`],
  ['REPLACE with a position of its own choice', `REPLACE INTO events ${columns} VALUES (NULL, 1, 3, 1, 0, 'x', 7)`],
  ['INSERT OR REPLACE', `INSERT OR REPLACE INTO events ${columns} VALUES (4, 1, 3, 1, 0, 'x', 7)`],
  ['INSERT OR IGNORE', `INSERT OR IGNORE INTO events ${columns} VALUES (4, 1, 3, 1, 0, 'x', 7)`],
  [
    'an upsert by position',
    `INSERT INTO events ${columns} VALUES (4, 1, 4, 1, 0, 'x', 7) ON CONFLICT (position) DO UPDATE SET body = 'x'`,
  ],
  [
    'an upsert by stream and revision',
    `INSERT INTO events ${columns} VALUES (12, 1, 3, 1, 0, 'x', 7) ON CONFLICT (stream, revision) DO UPDATE SET body = 'x'`,
  ],
  ['INSERT before the last position', `INSERT INTO events ${columns} VALUES (-1, 1, 4, 1, 0, 'x', 7)`],
  ['INSERT into the positions of a run', `INSERT INTO events ${columns} VALUES (6, 1, 4, 1, 0, 'x', 7)`],
  ['INSERT into the revisions of a run', `INSERT INTO events ${columns} VALUES (12, 2, 1, 1, 0, 'x', 7)`],
  ['INSERT that leaves a gap in a stream', `INSERT INTO events ${columns} VALUES (12, 2, 3, 1, 0, 'x', 7)`],
  ['INSERT of a stream that is not there', `INSERT INTO events ${columns} VALUES (12, 9, 0, 1, 0, 'x', 7)`],
  ['INSERT of an empty run', `INSERT INTO events ${columns} VALUES (12, 2, 2, 0, 0, 'x', 7)`],
  ['INSERT without a checksum', `INSERT INTO events ${columns} VALUES (12, 2, 2, 1, 0, 'x', NULL)`],
  ['UPDATE a checksum', 'UPDATE events SET checksum = 7'],
  ['UPDATE a stream', "UPDATE streams SET name = 'key-x'"],
  ['UPDATE a stream by rowid', "UPDATE streams SET name = 'key-x' WHERE rowid = 1"],
  ['UPDATE OR REPLACE a stream', 'UPDATE OR REPLACE streams SET id = 1 WHERE id = 2'],
  ['DELETE the streams', 'DELETE FROM streams'],
  ['DELETE a stream by rowid', 'DELETE FROM streams WHERE rowid = 1'],
  ['REPLACE a stream by id', "REPLACE INTO streams (id, name) VALUES (1, 'key-x')"],
  ['REPLACE a stream by rowid', "REPLACE INTO streams (rowid, name) VALUES (1, 'key-x')"],
  ['REPLACE a stream by name', 'REPLACE INTO streams (id, name) SELECT 9, name FROM streams WHERE id = 1'],
  [
    'REPLACE a stream with an id of its own choice',
    'REPLACE INTO streams (name) SELECT name FROM streams WHERE id = 1',
  ],
  ['DELETE a run of which something is kept', 'DELETE FROM events WHERE stream = 3 AND revision = 1'],
  ['DELETE what is above the mark', 'DELETE FROM events WHERE stream = 3 AND revision = 4'],
  ['DELETE of the whole of a truncated stream', 'DELETE FROM events WHERE stream = 3'],
  ['a mark in the streams of keys', 'INSERT INTO truncations VALUES (1, 2, 7)'],
  ['a mark in a stream that is not there', 'INSERT INTO truncations VALUES (9, 1, 7)'],
  ['a mark that leaves nothing', 'INSERT INTO truncations VALUES (2, 2, 7)'],
  ['a mark at the beginning', 'INSERT INTO truncations VALUES (2, 0, 7)'],
  ['a second mark', 'INSERT INTO truncations VALUES (3, 4, 7)'],
  ['REPLACE a mark', 'REPLACE INTO truncations VALUES (3, 4, 7)'],
  ['an upsert of a mark', 'INSERT INTO truncations VALUES (3, 1, 7) ON CONFLICT (stream) DO UPDATE SET kept_from = 1'],
  ['a mark taken back', 'UPDATE truncations SET kept_from = 1'],
  ['a mark raised past the last event', 'UPDATE truncations SET kept_from = 5'],
  ['a mark given to another stream', 'UPDATE truncations SET stream = 2, kept_from = 4'],
  ['DELETE a mark', 'DELETE FROM truncations'],
  [
    'an upsert of a stream',
    "INSERT INTO streams (id, name) VALUES (1, 'key-x') ON CONFLICT (id) DO UPDATE SET name = 'key-x'",
  ],
] as const

describe('a plain connection to the log', () => {
  const folder = temporaryFolder()
  let log: EventLog
  let plain: Database
  beforeAll(async () => {
    log = openSqliteLog({ dataDir: folder.path })
    await log.append('key-one', 'none', keySuspensions(3))
    await log.append('key-one', 2, keySuspensions(1))
    await log.append('readings-two', 'none', readings('readings-two', 2))
    await log.append('readings-three', 'none', readings('readings-three', 1))
    await log.append('readings-three', 0, readings('readings-three', 3))
    await log.append('readings-three', 3, readings('readings-three', 1))
    await log.truncate('readings-three', 3)
    plain = new Database(join(folder.path, 'log.db'))
  })
  afterAll(async () => {
    plain.close()
    await log.close()
    folder.remove()
  })
  const readings = (stream: string, count: number) => Array.from({ length: count }, () => reading(stream))
  const contents = () =>
    ['streams', 'events', 'truncations'].map((table) => plain.query(`SELECT * FROM ${table}`).values())

  for (const recursiveTriggers of ['OFF', 'ON']) {
    for (const [title, statement] of overwriting) {
      test(`refuses ${title}, with recursive_triggers ${recursiveTriggers}`, () => {
        plain.run(`PRAGMA recursive_triggers = ${recursiveTriggers}`)
        const before = contents()
        expect(() => plain.run(statement)).toThrow(/append-only|(CHECK|NOT NULL) constraint/)
        expect(contents()).toEqual(before)
      })
    }
  }

  test('accepts a correct append, so these refusals prove something', () => {
    plain.run('BEGIN')
    plain.run("INSERT INTO streams (id, name) VALUES (4, 'key-four')")
    plain.run(`INSERT INTO events ${columns} VALUES (12, 2, 2, 1, 0, 'x', 7), (13, 4, 0, 2, 0, 'x', 7)`)
    expect(plain.query('SELECT count(*) FROM events').values()).toEqual([[7]])
    plain.run('ROLLBACK')
  })

  test('can raise kept_from, and delete only rows before it', () => {
    expect(plain.query('SELECT revision, count FROM events WHERE stream = 3').values()).toEqual([
      [1, 3],
      [4, 1],
    ])
    plain.run('BEGIN')
    plain.run('UPDATE truncations SET kept_from = 4')
    plain.run('INSERT INTO truncations VALUES (2, 1, 7)')
    plain.run('DELETE FROM events WHERE stream = 3 AND revision = 1')
    expect(() => plain.run('DELETE FROM events WHERE stream = 3')).toThrow(/append-only/)
    plain.run('ROLLBACK')
  })

  test('reads JSON events while the service holds the log', async () => {
    const [row] = plain.query<{ body: string }, []>('SELECT body FROM events WHERE position = 1').all()
    expect(JSON.parse(row?.body ?? '')).toMatchObject([
      { type: 'KeySuspended', schemaVersion: 1, data: { reason: '0' } },
      { data: { reason: '1' } },
      { data: { reason: '2' } },
    ])
  })
})

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ChangedSchema } from '../../../src/log/data-folder.ts'
import { Outage } from '../../../src/log/event-log.ts'
import { formatVersion, schema, schemaDifferencesMax, schemaNameCharsMax } from '../../../src/log/sqlite/schema.ts'
import { assertSettings } from '../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { keySuspended } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const change = (...statements: readonly string[]): void => {
  using database = new Database(join(folder.path, 'log.db'))
  for (const statement of statements) database.run(statement)
}

const differencesAfter = async (...statements: readonly string[]): Promise<readonly string[]> => {
  await openSqliteLog({ dataDir: folder.path }).close()
  change(...statements)
  return differencesNow()
}

const differencesNow = async (): Promise<readonly string[]> => {
  const told: string[] = []
  await openSqliteLog({ dataDir: folder.path, acceptSchema: (differences) => told.push(...differences) }).close()
  return told
}

const changes = [
  { title: 'a trigger dropped', change: 'DROP TRIGGER events_stay', says: 'trigger events_stay is missing' },
  {
    title: 'a trigger that allows what it must refuse',
    change:
      'DROP TRIGGER events_stay; CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT 1 WHERE OLD.position < 0; END',
    says: 'trigger events_stay is changed',
  },
  {
    title: 'a trigger added',
    change: 'CREATE TRIGGER extra AFTER INSERT ON events BEGIN SELECT 1; END',
    says: 'trigger extra was added',
  },
  {
    title: 'a trigger added that has the name of a table',
    change: 'CREATE TRIGGER events AFTER INSERT ON events BEGIN SELECT 1; END',
    says: 'trigger events was added',
  },
  { title: 'a table added', change: 'CREATE TABLE extra (a)', says: 'table extra was added' },
  { title: 'a view added', change: 'CREATE VIEW extra AS SELECT * FROM events', says: 'view extra was added' },
  { title: 'an index added', change: 'CREATE INDEX extra ON events (count)', says: 'index extra was added' },
  { title: 'a column added', change: 'ALTER TABLE events ADD COLUMN extra INT', says: 'table events is changed' },
] as const

test('statistics of ANALYZE are no change of the schema, and steer no query', async () => {
  const log = openSqliteLog({ dataDir: folder.path })
  await log.append('key-one', 'none', [keySuspended()])
  await log.close()
  change('ANALYZE')
  using database = new Database(join(folder.path, 'log.db'))
  const statistics = () => database.query('SELECT tbl FROM sqlite_stat1').values()
  expect(statistics()).toContainEqual(['events'])
  expect(await differencesNow()).toEqual([])
  expect(statistics()).toEqual([])
})

describe('a log whose schema was changed', () => {
  for (const { title, change: statement, says } of changes) {
    test(`is refused and named: ${title}`, async () => {
      await openSqliteLog({ dataDir: folder.path }).close()
      change(statement)
      expect(() => openSqliteLog({ dataDir: folder.path })).toThrow(ChangedSchema)
      expect(() => openSqliteLog({ dataDir: folder.path })).toThrow(says)
      expect(await differencesNow()).toContain(says)
    })
  }

  test('is refused with a sentence about Litestream if that made its tables', async () => {
    await openSqliteLog({ dataDir: folder.path }).close()
    change('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
    expect(() => openSqliteLog({ dataDir: folder.path })).toThrow(
      /_litestream_seq was added\. Litestream .* must not be used/,
    )
    change('CREATE TABLE extra (a)', 'DROP TABLE _litestream_seq')
    expect(() => openSqliteLog({ dataDir: folder.path })).not.toThrow(/Litestream/)
  })

  test('names every difference at once', async () => {
    const differences = await differencesAfter(
      'DROP TRIGGER events_stay',
      'DROP TRIGGER streams_stay',
      'CREATE TABLE x (a)',
    )
    expect(differences).toEqual([
      'trigger events_stay is missing',
      'trigger streams_stay is missing',
      'table x was added',
    ])
  })

  test('stores events when the schema was accepted', async () => {
    await differencesAfter('DROP TRIGGER events_stay')
    const log = openSqliteLog({ dataDir: folder.path, acceptSchema: () => {} })
    expect(await log.append('key-one', 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
    await log.close()
  })

  test('is an outage when it lacks a table', async () => {
    await differencesAfter()
    change('DROP TABLE truncations')
    expect(() => openSqliteLog({ dataDir: folder.path, acceptSchema: () => {} })).toThrow(Outage)
  })

  test(`names ${schemaDifferencesMax} differences, and counts the others`, async () => {
    const tables = (count: number) => Array.from({ length: count }, (_, index) => `CREATE TABLE t${index} (a)`)
    expect(await differencesAfter(...tables(schemaDifferencesMax))).toHaveLength(schemaDifferencesMax)
    change('CREATE TABLE one_more (a)')
    const differences = await differencesNow()
    expect(differences).toHaveLength(schemaDifferencesMax)
    expect(differences.at(-1)).toBe('2 more')
  })

  test('shows names without control characters, up to the limit', async () => {
    const [long, hostile] = ['x'.repeat(schemaNameCharsMax + 1), '\u001b[2J\u202e']
    const differences = await differencesAfter(`CREATE TABLE "${long}" (a)`, `CREATE TABLE "${hostile}" (a)`)
    expect(differences[1]).toBe(`table ${'x'.repeat(schemaNameCharsMax - 'table '.length)} was added`)
    expect(differences[0]).toBe('table ??2J? was added')
  })
})

test('the schema never changes without a new format number, because files depend on it', () => {
  const hash = new Bun.CryptoHasher('sha256').update(schema).digest('hex').slice(0, 16)
  expect([formatVersion, hash]).toEqual([7, '082ada28aabd2bf1'])
})

describe('assertSettings()', () => {
  const wrong = ['synchronous = NORMAL', 'ignore_check_constraints = ON', 'journal_mode = DELETE']
  test.each(wrong)('refuses %s', async (setting) => {
    await openSqliteLog({ dataDir: folder.path }).close()
    using database = new Database(join(folder.path, 'log.db'))
    database.run('PRAGMA synchronous = FULL')
    expect(() => assertSettings(database)).not.toThrow()
    database.run(`PRAGMA ${setting}`)
    expect(() => assertSettings(database)).toThrow(Outage)
  })
})

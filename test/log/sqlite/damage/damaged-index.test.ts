import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Codec, createCodec } from '../../../../src/log/codec/codec.ts'
import { DamagedLog, type EventLog } from '../../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { appendPlainRow } from '../../../support/logs/plain-rows.ts'
import { keySuspensions } from '../../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { commitsHere } from '../commits-here.ts'

const streams = ['key-one', 'key-two']
const rows = 400
let folder: TemporaryFolder
let file: string

const open = (codec = createCodec()): EventLog =>
  openSqliteLog({ dataDir: folder.path, commits: commitsHere(() => {}), codec })

beforeEach(async () => {
  folder = temporaryFolder()
  file = join(folder.path, 'log.db')
  const log = open()
  for (let revision = 0; revision < rows; revision += 1) {
    const expected = revision === 0 ? 'none' : revision - 1
    await Promise.all(streams.map((stream) => log.append(stream, expected, keySuspensions(1))))
  }
  await log.close()
})
afterEach(() => folder.remove())

const rootOfIndex = (): { readonly pages: Buffer; readonly head: DataView; readonly bytes: number } => {
  const database = new Database(file)
  const query = 'SELECT rootpage AS page, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = ?'
  const root = database.query<{ page: number; bytes: number }, [string]>(query).get('sqlite_autoindex_events_1')
  database.close()
  if (root === null) throw new Error('The file has no index')
  const pages = readFileSync(file)
  const { bytes } = root
  return { pages, head: new DataView(pages.buffer, pages.byteOffset + (root.page - 1) * bytes, bytes), bytes }
}

/** Makes an entry of the index's root page point to the page of the last entry. */
const movePointer = (entry: number): void => {
  const { pages, head } = rootOfIndex()
  expect(head.getUint16(3)).toBeGreaterThan(entry + 1)
  // The first four bytes of an entry, and bytes 8 to 11 of the page, are page numbers.
  head.setUint32(head.getUint16(12 + 2 * entry), head.getUint32(8))
  writeFileSync(file, pages)
}

test.each([0, 1, 2])('a wrong page at entry %i of the index is told by each read', async (entry) => {
  movePointer(entry)
  const log = open()
  let told = 0
  for (const stream of streams) {
    for (const direction of ['forwards', 'backwards'] as const) {
      const read = log.read(stream, { direction, limit: 1_000 })
      const found = await read.catch((cause: unknown) => (cause instanceof DamagedLog ? null : cause))
      if (found === null) told += 1
      else expect(found).toHaveLength(rows)
    }
  }
  expect(told).toBeGreaterThan(0)
  await log.close()
})

test('a malformed page fails only those appends of a group that need it', async () => {
  const { pages, head, bytes } = rootOfIndex()
  const lastPage = head.getUint32(8)
  writeFileSync(file, pages.fill(0xa5, (lastPage - 1) * bytes, lastPage * bytes))
  const log = open()
  const appends = streams.map((stream) => log.append(stream, rows - 1, keySuspensions(1)))
  const [one, two] = await Promise.allSettled(appends)
  expect(one).toMatchObject({ status: 'fulfilled', value: { outcome: 'written' } })
  expect(two).toMatchObject({ status: 'rejected', reason: { name: 'DamagedLog' } })
  await log.close()
})

test('a row that is appended during a read gives no alarm', async () => {
  using other = new Database(file)
  const codec = createCodec()
  const [row] = codec.encode('key-one', keySuspensions(1))
  const appending: Codec = {
    ...codec,
    decode: (stored, part) => {
      appendPlainRow(other, 'key-one', { count: 1, recordedAt: 1, body: row?.body ?? '' })
      return codec.decode(stored, part)
    },
  }
  const log = open(appending)
  expect(await log.read('key-one', { from: rows - 2, limit: 9 })).toHaveLength(2)
  expect(await log.read('key-one', { direction: 'backwards', limit: 1 })).toHaveLength(1)
  await log.close()
})

test('an index entry with the id of another stream is told', async () => {
  const log = open()
  for (const stream of ['key-three', 'key-four']) await log.append(stream, 'none', keySuspensions(1))
  await log.close()
  const pages = readFileSync(file)
  // An entry of the index of names is the name and then the id.
  const at = pages.indexOf(Buffer.from('key-three\u0003')) + 'key-three'.length
  expect(pages[at]).toBe(3)
  pages[at] = 4
  writeFileSync(file, pages)
  const harmed = open()
  const fault = await harmed.read('key-three', { limit: 1 }).catch((cause: unknown) => cause)
  expect(fault).toBeInstanceOf(DamagedLog)
  await harmed.close()
})

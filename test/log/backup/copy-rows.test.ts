import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CopyStep, copiedPositionsPerStep, copyRows } from '../../../src/log/backup/copy-rows.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { copyWal } from '../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { verifyCopy } from '../../../src/log/verify/run-verify.ts'
import { keySuspended, reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

const perRow = 1_024
const rows = (3 * copiedPositionsPerStep) / perRow

let folder: TemporaryFolder
let log: EventLog
let target: string
beforeEach(async () => {
  folder = temporaryFolder()
  target = join(folder.path, 'copy.db')
  writeFileSync(target, '')
  log = openSqliteLog({ dataDir: folder.path })
  for (let row = 0; row < rows; row += 1) await appendRow(row)
})
afterEach(async () => {
  await log.close()
  folder.remove()
})

const stream = 'readings-one'
const appendRow = (row: number) =>
  log.append(
    stream,
    row === 0 ? 'none' : row * perRow - 1,
    Array.from({ length: perRow }, () => reading(stream)),
  )

const begun = (): Generator<CopyStep, void> => {
  const steps = copyRows(join(folder.path, 'log.db'), target)
  expect(steps.next().done).toBe(false)
  return steps
}
const finish = (steps: Generator<CopyStep, void>): void => {
  while (!steps.next().done);
}

const tables = ['events', 'streams', 'truncations']
const contentOf = (path: string) => {
  using database = new Database(path, { readonly: true })
  return tables.map((table) => database.query(`SELECT * FROM ${table}`).values())
}
const expectEqual = async (): Promise<void> => {
  expect(Bun.deepEquals(contentOf(target), contentOf(join(folder.path, 'log.db')))).toBe(true)
  expect(await verifyCopy(target, () => {})).toMatchObject({ first: null })
}

describe('copyRows()', () => {
  test('takes what is appended during the copy, in old and new streams', async () => {
    const steps = begun()
    await appendRow(rows)
    await log.append('key-new', 'none', [keySuspended()])
    finish(steps)
    await expectEqual()
  })

  test('deletes rows that were purged after they were copied', async () => {
    await log.append('key-two', 'none', [keySuspended()])
    const steps = begun()
    await log.truncate(stream, 5 * perRow + 1)
    finish(steps)
    await expectEqual()
    expect(contentOf(target)[0]).toHaveLength(rows - 5 + 1)
  })

  test('is sound if a purge takes copied rows and rows that were not copied yet', async () => {
    const steps = begun()
    await log.truncate(stream, (rows - 1) * perRow)
    finish(steps)
    await expectEqual()
    expect(contentOf(target)[0]).toHaveLength(1)
  })

  test('leaves nothing of purged events in the file', async () => {
    await log.append('signins-node', 'none', [keySuspended('203.0.113.99')])
    await log.append('signins-node', 0, [keySuspended()])
    for (let row = rows; row < rows + 17; row += 1) await appendRow(row)
    const steps = copyRows(join(folder.path, 'log.db'), target)
    let position = 0
    while (position <= rows * perRow + 1) position = steps.next().value?.position ?? Number.NaN
    await log.truncate('signins-node', 1)
    finish(steps)
    await expectEqual()
    expect(readFileSync(target).includes('203.0.113.99')).toBe(false)
  })

  test('lets the service empty its write-ahead log between two steps', async () => {
    const steps = begun()
    await appendRow(rows)
    using writing = new Database(join(folder.path, 'log.db'))
    expect(copyWal(writing, 'TRUNCATE')).toMatchObject({ isBlocked: false, pages: 0 })
    steps.return()
  })

  test('jumps over positions that were purged', async () => {
    await log.append('key-two', 'none', [keySuspended()])
    await log.truncate(stream, (rows - 1) * perRow)
    const steps = copyRows(join(folder.path, 'log.db'), target)
    expect([...steps]).toEqual([])
    await expectEqual()
  })
})
